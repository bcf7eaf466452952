//! The processing settings of a call, and the limits of the extraction that follow from them.

use archive_drafts::{DraftMode, DraftOptions};
use archive_extract::ReadLimits;
use serde::{Deserialize, Serialize};

/// At most this many pages of a file go to OCR, at several seconds a page.
pub(crate) const OCR_PAGES_FAST: u32 = 10;
pub(crate) const OCR_PAGES_STANDARD: u32 = 50;
pub(crate) const OCR_PAGES_DEEP: u32 = 500;
/// The time limit of fast processing, in seconds.
const FAST_SECONDS: u32 = 300;
/// Fast processing analyses the first ten pages, and the last two, which have the signatures.
const FAST_FIRST: usize = 10;
const FAST_LAST: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExtractionMode {
    Fast,
    Standard,
    Deep,
}

impl ExtractionMode {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Standard => "standard",
            Self::Deep => "deep",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessingSettings {
    pub(crate) extraction_mode: ExtractionMode,
    #[serde(rename = "enableOCR", skip_serializing_if = "Option::is_none")]
    pub(crate) enable_ocr: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) categories: Vec<String>,
    #[serde(default = "yes")]
    pub(crate) extract_citations: bool,
    #[serde(default = "yes")]
    pub(crate) extract_entities: bool,
    #[serde(default = "yes")]
    pub(crate) extract_timeline: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) case_id: Option<String>,
}

fn yes() -> bool {
    true
}

impl ProcessingSettings {
    /// The standard mode with everything switched on.
    pub(crate) fn standard() -> Self {
        Self {
            extraction_mode: ExtractionMode::Standard,
            enable_ocr: None,
            categories: Vec::new(),
            extract_citations: true,
            extract_entities: true,
            extract_timeline: true,
            case_id: None,
        }
    }

    /// Whether pages without text go to OCR: as the caller chose, else in every mode but fast.
    pub(crate) fn uses_ocr(&self) -> bool {
        self.enable_ocr.unwrap_or(self.extraction_mode != ExtractionMode::Fast)
    }

    /// The limits of reading a file of this size. Its size was limited when it was uploaded, by a
    /// setting that may be above the reader's default.
    pub(crate) fn limits(&self, file_bytes: u64) -> ReadLimits {
        let usual = ReadLimits::default();
        let usual = ReadLimits { bytes: usual.bytes.max(file_bytes), ..usual };
        match self.extraction_mode {
            ExtractionMode::Fast => {
                ReadLimits { ocr_pages: OCR_PAGES_FAST, seconds: FAST_SECONDS, ..usual }
            }
            ExtractionMode::Standard => ReadLimits { ocr_pages: OCR_PAGES_STANDARD, ..usual },
            ExtractionMode::Deep => ReadLimits { ocr_pages: OCR_PAGES_DEEP, ..usual },
        }
    }

    pub(crate) fn draft_options(&self) -> DraftOptions {
        let mode = match self.extraction_mode {
            ExtractionMode::Fast => DraftMode::Fast,
            ExtractionMode::Standard => DraftMode::Standard,
            ExtractionMode::Deep => DraftMode::Deep,
        };
        DraftOptions {
            mode,
            citations: self.extract_citations,
            entities: self.extract_entities,
            timeline: self.extract_timeline,
        }
    }

    /// Whether page `at` of `of` pages is analysed.
    pub(crate) fn analyses_page(&self, at: usize, of: usize) -> bool {
        self.extraction_mode != ExtractionMode::Fast || at < FAST_FIRST || at + FAST_LAST >= of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(json: serde_json::Value) -> ProcessingSettings {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn fast_mode_analyses_both_ends_and_uses_ocr_only_when_asked() {
        let fast = settings(serde_json::json!({ "extractionMode": "fast" }));
        let analysed: Vec<usize> = (0..20).filter(|at| fast.analyses_page(*at, 20)).collect();
        assert_eq!(analysed, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 18, 19]);
        assert!((0..12).all(|at| fast.analyses_page(at, 12)));
        assert!(!fast.uses_ocr() && fast.extract_citations);
        let asked = settings(serde_json::json!({ "extractionMode": "fast", "enableOCR": true }));
        assert!(asked.uses_ocr());
        let deep = settings(serde_json::json!({ "extractionMode": "deep" }));
        assert!(deep.uses_ocr() && deep.analyses_page(500, 1000));
        assert!(deep.limits(1).ocr_pages > fast.limits(1).ocr_pages);
        assert_eq!([1, 200 << 20].map(|it| deep.limits(it).bytes), [100 << 20, 200 << 20]);
        let none = settings(serde_json::json!({ "extractionMode": "deep", "enableOCR": false }));
        assert!(!none.uses_ocr());
    }

    #[test]
    fn settings_are_the_same_after_a_job_payload() {
        let chosen = serde_json::json!({ "extractionMode": "standard", "enableOCR": true,
            "categories": ["a"], "extractCitations": false, "extractEntities": true,
            "extractTimeline": true, "caseId": "c" });
        let read = settings(chosen.clone());
        assert_eq!(serde_json::to_value(&read).unwrap(), chosen);
    }
}
