//! Reads a bounded part of the text of a file, with the positions of its characters.

use archive_documents::{FileRecord, FileStatus};
use fault::Fault;
use serde_json::{Value, json};

use crate::Archive;
use crate::wire::put;

/// Bytes of text in one answer: at most about 7,000 tokens.
pub(crate) const TEXT_BYTES_MAX: usize = 26_000;
/// Each page counts as this many bytes besides its text, so that empty pages are bounded too.
const PAGE_OVERHEAD_BYTES: usize = 100;

/// A position in the text of a file: a page, and a character of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PagePosition {
    pub(crate) page: u32,
    pub(crate) start: u64,
}

/// A part of a page's text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PagePart {
    pub(crate) page: u32,
    pub(crate) part: String,
    part_page: u32,
    ocr_confidence: Option<f64>,
    /// The first character, and the one after the last.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) text: String,
}

impl PagePart {
    pub(crate) fn json(&self) -> Value {
        let mut json = json!({ "page": self.page, "part": self.part, "partPage": self.part_page,
            "start": self.start, "end": self.end, "text": self.text });
        put(&mut json, "ocrConfidence", self.ocr_confidence);
        json
    }

    /// The part with a line that names it.
    pub(crate) fn text_with_heading(&self) -> String {
        let part = if self.part.is_empty() { String::new() } else { format!(" of {}", self.part) };
        let (page, start, end) = (self.page, self.start, self.end);
        format!("[page {page}{part}, characters {start} to {end}]\n{}\n", self.text)
    }
}

impl Archive {
    /// The text from a position up to the last page, at most [`TEXT_BYTES_MAX`] of it, and the
    /// position at which the rest begins.
    pub(crate) async fn read_pages(
        &self,
        file_id: &str,
        from: PagePosition,
        last_page: u32,
    ) -> Result<(Vec<PagePart>, Option<PagePosition>), Fault> {
        let mut reader = PageReader { parts: Vec::new(), room: TEXT_BYTES_MAX, from, at: 0 };
        let mut after = (from.page.saturating_sub(1), u32::MAX);
        loop {
            let chunks = self.documents.chunks(file_id, Some(after)).await?;
            let Some(last) = chunks.last() else { return Ok((reader.parts, None)) };
            after = (last.page, last.chunk);
            for chunk in chunks {
                if chunk.page > last_page {
                    return Ok((reader.parts, None));
                }
                if chunk.chunk == 0 {
                    let next = PagePosition { page: chunk.page, start: 0 };
                    if !reader.begin(&chunk) {
                        return Ok((reader.parts, Some(next)));
                    }
                }
                if let Some(next) = reader.add(&chunk.text) {
                    return Ok((reader.parts, Some(next)));
                }
            }
        }
    }

    /// Refuses a page that the file does not have; returns how many it has.
    pub(crate) fn check_page(file: &FileRecord, page: u32) -> Result<u64, Fault> {
        let pages = Self::check_has_text(file)?;
        if u64::from(page) <= pages {
            return Ok(pages);
        }
        let message = format!("there is no page {page}: the file has {pages}");
        let expected = format!("a page from 1 to {pages}");
        Err(Fault::invalid("no_such_page", message).problem("page", expected))
    }

    /// Refuses a file that has no text.
    pub(crate) fn check_has_text(file: &FileRecord) -> Result<u64, Fault> {
        let expected = "a file that was processed";
        let refuse = |message: &str| {
            Err(Fault::invalid("file_has_no_text", message).problem("fileId", expected))
        };
        match (file.page_count, file.status) {
            (Some(pages), _) => Ok(pages),
            (None, FileStatus::Processing) => {
                refuse("the file is being processed; its text is there when the job is completed")
            }
            (None, _) => refuse("the file has no text yet; process it with arkiver_process_file"),
        }
    }
}

struct PageReader {
    parts: Vec<PagePart>,
    room: usize,
    from: PagePosition,
    /// The position in the current page, in characters.
    at: u64,
}

impl PageReader {
    /// Begins a page; false if there is no room for it.
    fn begin(&mut self, chunk: &archive_documents::PageChunk) -> bool {
        if !self.parts.is_empty() && self.room <= PAGE_OVERHEAD_BYTES {
            return false;
        }
        self.room = self.room.saturating_sub(PAGE_OVERHEAD_BYTES);
        self.at = 0;
        self.parts.push(PagePart {
            page: chunk.page,
            part: chunk.part.clone(),
            part_page: chunk.part_page,
            ocr_confidence: chunk.ocr_confidence,
            start: 0,
            end: 0,
            text: String::new(),
        });
        true
    }

    /// Adds the text of a chunk from the first wanted character on. If not all of it fits, returns
    /// the position at which the rest begins.
    fn add(&mut self, text: &str) -> Option<PagePosition> {
        let part = self.parts.last_mut()?;
        let first = if part.page == self.from.page { self.from.start } else { 0 };
        let skipped = usize::try_from(first.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = match text.char_indices().nth(skipped) {
            Some((byte, _)) => text.get(byte..).unwrap_or_default(),
            None => "",
        };
        let skipped = text.len() - wanted.len();
        self.at += text.get(..skipped).unwrap_or_default().chars().count() as u64;
        if part.text.is_empty() {
            (part.start, part.end) = (self.at, self.at);
        }
        let kept = wanted.get(..wanted.floor_char_boundary(self.room)).unwrap_or_default();
        self.room -= kept.len();
        self.at += kept.chars().count() as u64;
        part.text.push_str(kept);
        part.end = self.at;
        (kept.len() < wanted.len()).then_some(PagePosition { page: part.page, start: self.at })
    }
}
