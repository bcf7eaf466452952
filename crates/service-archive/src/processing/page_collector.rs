//! Collects the events of the extraction into pages, numbered over the file and its attachments,
//! and into readable problems. It opens no file; the child process does.

use std::collections::BTreeMap;

use archive_documents::PageRecord;
use archive_extract::{ExtractedPage, Format, ProblemCode, ReadEvent, ReadProblem, TextSource};
use archive_text::Page;
use fault::{Fault, Kind as FaultKind};

use super::page_problems::PageProblem;
use super::settings::{
    ExtractionMode, OCR_PAGES_DEEP, OCR_PAGES_FAST, OCR_PAGES_STANDARD, ProcessingSettings,
};

/// A longer page is split: a text file has no pages and up to 100 MB.
const PAGE_BYTES_MAX: usize = 64 * 1024;
/// At most this many problems are listed; the rest are counted.
const PROBLEMS_MAX: usize = 50;
const PROBLEM_CHARS_MAX: usize = 400;

pub(crate) struct PageCollector {
    pages: Vec<PageRecord>,
    /// The file itself, and the attachments that are open.
    open_parts: Vec<OpenPart>,
    /// How often each part name was seen: a second attachment of one name becomes `name (2)`.
    names: BTreeMap<String, u32>,
    /// The page that may still get more text.
    open_page: Option<PageRecord>,
    problems: Vec<PageProblem>,
    problems_more: usize,
    /// The most serious problem, which is reported when no text was found.
    worst: Option<(u8, String, ProblemCode)>,
    formats: Vec<Format>,
    ocr_pages: u32,
    /// Whether OCR was requested.
    ocr: bool,
    mode: ExtractionMode,
    file_bytes: u64,
    seen_bytes: u64,
}

#[derive(Default)]
struct OpenPart {
    part: String,
    total: Option<u32>,
    done: u32,
    bytes: u64,
}

pub(crate) struct CollectedPages {
    pub(crate) pages: Vec<PageRecord>,
    pub(crate) problems: Vec<String>,
    pub(crate) extractors: Vec<&'static str>,
    pub(crate) ocr_pages: u32,
    worst: Option<(u8, String, ProblemCode)>,
}

impl PageCollector {
    pub(crate) fn new(file_bytes: u64, settings: &ProcessingSettings) -> Self {
        Self {
            pages: Vec::new(),
            open_parts: vec![OpenPart::default()],
            names: BTreeMap::new(),
            open_page: None,
            problems: Vec::new(),
            problems_more: 0,
            worst: None,
            formats: Vec::new(),
            ocr_pages: 0,
            ocr: settings.uses_ocr(),
            mode: settings.extraction_mode,
            file_bytes,
            seen_bytes: 0,
        }
    }

    pub(crate) fn apply(&mut self, event: ReadEvent) {
        if !matches!(event, ReadEvent::More(_)) {
            self.close_page();
        }
        match event {
            ReadEvent::Format(format) => {
                if !self.formats.contains(&format) {
                    self.formats.push(format);
                }
            }
            ReadEvent::Metadata(..) => {}
            ReadEvent::Total(pages) => {
                if let Some(level) = self.open_parts.last_mut() {
                    level.total = Some(pages);
                }
            }
            ReadEvent::Page(page) => self.add_page(page),
            ReadEvent::More(text) => self.append_text(&text),
            ReadEvent::Problem(problem) => self.add_problem(&problem, None),
            ReadEvent::Open { name, bytes } => self.open_part(&name, bytes),
            ReadEvent::Close => {
                if self.open_parts.len() > 1
                    && let Some(level) = self.open_parts.pop()
                    && self.open_parts.len() == 1
                {
                    // Base64 writes three bytes of an attachment as four characters.
                    self.seen_bytes += level.bytes / 3 * 4;
                }
            }
        }
    }

    fn open_part(&mut self, name: &str, bytes: u64) {
        let above = self.open_parts.last().map_or("", |it| it.part.as_str());
        let name = if name.trim().is_empty() { "attachment" } else { name.trim() };
        let path = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
        let times = self.names.entry(path.clone()).or_default();
        *times += 1;
        let part = if *times > 1 { format!("{path} ({times})") } else { path };
        self.open_parts.push(OpenPart { part, bytes, ..OpenPart::default() });
    }

    fn add_page(&mut self, page: ExtractedPage) {
        let ocr_confidence = match page.source {
            TextSource::TextLayer => None,
            TextSource::Ocr { confidence } => {
                self.ocr_pages += 1;
                Some(f64::from(confidence))
            }
        };
        self.begin_page(ocr_confidence);
        self.append_text(&page.page.text);
        for problem in &page.problems {
            let number = self.open_page.as_ref().map(|it| it.page.number);
            self.add_problem(problem, number);
        }
    }

    /// Begins the next page of the current part.
    fn begin_page(&mut self, ocr_confidence: Option<f64>) {
        let Some(level) = self.open_parts.last_mut() else { return };
        level.done += 1;
        let number = u32::try_from(self.pages.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.open_page = Some(PageRecord {
            page: Page { number, text: String::new() },
            part: level.part.clone(),
            part_page: level.done,
            ocr_confidence,
        });
    }

    fn append_text(&mut self, text: &str) {
        if self.open_parts.len() == 1 {
            self.seen_bytes += text.len() as u64;
        }
        let Some(open) = &mut self.open_page else { return };
        // NUL: PostgreSQL rejects it in text, SQLite's string functions stop at it.
        if text.contains('\0') {
            open.page.text.push_str(&text.replace('\0', " "));
        } else {
            open.page.text.push_str(text);
        }
        while let Some(rest) = self.open_page.as_mut().and_then(|it| overflow(&mut it.page.text)) {
            let ocr_confidence = self.open_page.as_ref().and_then(|it| it.ocr_confidence);
            self.close_page();
            self.begin_page(ocr_confidence);
            if let Some(open) = &mut self.open_page {
                open.page.text = rest;
            }
        }
    }

    fn close_page(&mut self) {
        if let Some(mut page) = self.open_page.take() {
            // The text was split off a much larger buffer.
            page.page.text.shrink_to_fit();
            self.pages.push(page);
        }
    }

    fn add_problem(&mut self, problem: &ReadProblem, page: Option<u32>) {
        let message = self.message(problem);
        let rank = rank(problem.code);
        if self.worst.as_ref().is_none_or(|(worst, ..)| rank > *worst) {
            self.worst = Some((rank, message.clone(), problem.code));
        }
        let part = self.open_parts.last().map_or("", |it| it.part.as_str());
        // The same problem on several pages is reported once, with the pages.
        let is_same =
            |it: &&mut PageProblem| it.has_pages() && it.message == message && it.part == part;
        if let Some(page) = page
            && let Some(same) = self.problems.iter_mut().find(is_same)
        {
            same.add_page(page);
        } else if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(PageProblem::new(part, message, page));
        } else {
            self.problems_more += 1;
        }
    }

    /// A message that says what is wrong and what to do, with the arguments of this service's
    /// tools.
    fn message(&self, problem: &ReadProblem) -> String {
        // The reader writes what was not read, a semicolon, and why.
        let what = problem.message.split("; ").next().unwrap_or_default();
        let message = match problem.code {
            ProblemCode::NeedsOcr if !self.ocr => {
                format!("{what}; process the file again with enableOCR: true")
            }
            ProblemCode::OcrLimit if self.mode != ExtractionMode::Deep => {
                let (mode, limit) = (self.mode.word(), OCR_PAGES_DEEP);
                let most = match self.mode {
                    ExtractionMode::Fast => OCR_PAGES_FAST,
                    _ => OCR_PAGES_STANDARD,
                };
                format!(
                    "{what}; {mode} mode reads at most {most} pages of a file by OCR; process the \
                     file again with extractionMode: deep, which reads {limit}, or split the file"
                )
            }
            ProblemCode::PasswordRequired => {
                format!("{what}; process the file again with password, or send it without one")
            }
            _ => problem.message.clone(),
        };
        crate::clip::clip(&message, PROBLEM_CHARS_MAX)
    }

    /// The share of the file that was read, from 0 to 1: by pages if their number is known, else by
    /// bytes.
    pub(crate) fn share(&self) -> f64 {
        let Some(root) = self.open_parts.first() else { return 0.0 };
        let (done, all) = match root.total.filter(|total| *total > 0) {
            Some(total) => (u64::from(root.done), u64::from(total)),
            None => (self.seen_bytes, self.file_bytes.max(1)),
        };
        // Page and byte counts are far below 2^53.
        (done as f64 / all as f64).clamp(0.0, 1.0)
    }

    /// The progress note: `page 3 of 10`.
    pub(crate) fn progress_note(&self) -> String {
        let page = self.pages.len() + usize::from(self.open_page.is_some());
        match self.open_parts.first().and_then(|it| it.total) {
            Some(total) if self.open_parts.len() == 1 => format!("page {page} of {total}"),
            _ => format!("page {page}"),
        }
    }

    pub(crate) fn finish(mut self) -> CollectedPages {
        self.close_page();
        let mut problems: Vec<String> = self.problems.iter().map(PageProblem::line).collect();
        if self.problems_more > 0 {
            problems.push(format!("and {} more problems", self.problems_more));
        }
        let mut extractors: Vec<&'static str> = self.formats.iter().map(|it| it.name()).collect();
        if self.ocr_pages > 0 {
            extractors.push("ocr");
        }
        CollectedPages {
            pages: self.pages,
            problems,
            extractors,
            ocr_pages: self.ocr_pages,
            worst: self.worst,
        }
    }
}

impl CollectedPages {
    pub(crate) fn has_text(&self) -> bool {
        self.pages.iter().any(|it| !it.page.text.trim().is_empty())
    }

    /// Why the file has no text.
    pub(crate) fn failure(&self) -> Fault {
        let message =
            self.worst.as_ref().map_or("there is no text in the file", |it| it.1.as_str());
        let (kind, code) = match self.worst.as_ref().map(|it| it.2) {
            // A child process that was killed may succeed on the next attempt.
            Some(ProblemCode::Crashed) => (FaultKind::Unavailable, "processing_failed"),
            Some(ProblemCode::PasswordRequired) => (FaultKind::Invalid, "password_required"),
            Some(ProblemCode::WrongPassword) => (FaultKind::Invalid, "wrong_password"),
            _ => (FaultKind::Invalid, "processing_failed"),
        };
        Fault::new(kind, code, format!("the file could not be read: {message}"))
    }
}

/// Which problem to report for a file without text: a higher rank explains more.
fn rank(code: ProblemCode) -> u8 {
    match code {
        ProblemCode::Encrypted | ProblemCode::PasswordRequired | ProblemCode::WrongPassword => 9,
        ProblemCode::Crashed => 8,
        ProblemCode::TimedOut => 7,
        ProblemCode::TooLarge
        | ProblemCode::TooManyPages
        | ProblemCode::TooManyEntries
        | ProblemCode::TooDeep => 6,
        ProblemCode::NeedsOcr | ProblemCode::OcrFailed | ProblemCode::OcrLimit => 5,
        ProblemCode::Truncated | ProblemCode::Malformed => 4,
        ProblemCode::Unsupported | ProblemCode::NoUnicode => 3,
        ProblemCode::Empty
        | ProblemCode::BlankPage
        | ProblemCode::LowConfidence
        | ProblemCode::HiddenText => 2,
        ProblemCode::NameMismatch | ProblemCode::PagesUnmarked => 1,
    }
}

/// Splits off the text beyond 64 KiB: at an empty line in the last quarter, else at a line end,
/// else at a space.
fn overflow(text: &mut String) -> Option<String> {
    if text.len() <= PAGE_BYTES_MAX {
        return None;
    }
    let end = text.floor_char_boundary(PAGE_BYTES_MAX);
    let from = text.floor_char_boundary(PAGE_BYTES_MAX / 4 * 3);
    let window = &text[from..end];
    let cut = ["\n\n", "\n", " "]
        .iter()
        .find_map(|mark| window.rfind(mark).map(|at| from + at + mark.len()))
        .unwrap_or(end);
    Some(text.split_off(cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u32, text: &str, problem: Option<ReadProblem>) -> ReadEvent {
        let page = Page { number, text: text.to_owned() };
        ReadEvent::Page(ExtractedPage {
            page,
            source: TextSource::TextLayer,
            problems: problem.into_iter().collect(),
        })
    }

    fn open(name: &str) -> ReadEvent {
        ReadEvent::Open { name: name.to_owned(), bytes: 9 }
    }

    fn collect(ocr: bool, events: impl IntoIterator<Item = ReadEvent>) -> CollectedPages {
        let settings =
            ProcessingSettings { enable_ocr: Some(ocr), ..ProcessingSettings::standard() };
        let mut collector = PageCollector::new(1000, &settings);
        for event in events {
            collector.apply(event);
        }
        collector.finish()
    }

    #[test]
    fn pages_are_numbered_over_the_attachments_and_parts_of_one_name_are_distinct() {
        let events = [
            ReadEvent::Format(Format::Eml),
            page(1, "body", None),
            open("a.pdf"),
            ReadEvent::Format(Format::Pdf),
            page(1, "one", None),
            page(2, "two", None),
            ReadEvent::More(" more".to_owned()),
            ReadEvent::Close,
            open("b.eml"),
            page(1, "inner", None),
            open("a.pdf"),
            page(1, "deep", None),
            ReadEvent::Close,
            ReadEvent::Close,
            open("a.pdf"),
            page(1, "again", None),
        ];
        let collected = collect(true, events);
        let shown: Vec<(u32, &str, u32, &str)> = collected
            .pages
            .iter()
            .map(|it| (it.page.number, it.part.as_str(), it.part_page, it.page.text.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                (1, "", 1, "body"),
                (2, "a.pdf", 1, "one"),
                (3, "a.pdf", 2, "two more"),
                (4, "b.eml", 1, "inner"),
                (5, "b.eml/a.pdf", 1, "deep"),
                (6, "a.pdf (2)", 1, "again"),
            ]
        );
        assert_eq!(collected.extractors, ["eml", "pdf"]);
    }

    #[test]
    fn a_problem_of_many_pages_is_listed_once_and_says_what_to_do() {
        let picture = || Some(ReadProblem::new(ProblemCode::NeedsOcr, "install something"));
        let pages = (1..=40).map(|at| page(at, "", picture()));
        let collected = collect(false, pages);
        assert_eq!(collected.problems.len(), 1);
        assert!(collected.problems[0].starts_with("pages 1 to 40: "), "{:?}", collected.problems);
        assert!(collected.problems[0].contains("enableOCR"), "{:?}", collected.problems);
        assert!(!collected.has_text());
        assert!(collected.failure().message().contains("enableOCR"));
        let with = collect(true, [page(1, "", picture())]);
        assert!(with.failure().message().contains("install something"));
    }

    #[test]
    fn a_long_scan_names_the_deep_mode() {
        let limit = || {
            let message =
                "the page is a picture; only 50 pages of a file go to OCR; split the file";
            Some(ReadProblem::new(ProblemCode::OcrLimit, message))
        };
        let pages = (1..=60).map(|at| page(at, "text", limit().filter(|_| at > 50)));
        let collected = collect(true, pages);
        let line = &collected.problems[0];
        assert!(line.starts_with("pages 51 to 60: the page is a picture; standard mode"), "{line}");
        assert!(line.contains("extractionMode: deep, which reads 500"), "{line}");
        let deep = ProcessingSettings {
            extraction_mode: ExtractionMode::Deep,
            ..ProcessingSettings::standard()
        };
        let mut collector = PageCollector::new(1000, &deep);
        collector.apply(page(1, "text", limit()));
        assert!(collector.finish().problems[0].ends_with("go to OCR; split the file"));
    }

    #[test]
    fn the_most_serious_problem_is_the_reason() {
        let problem = |code, message: &str| ReadEvent::Problem(ReadProblem::new(code, message));
        let collected = collect(
            true,
            [
                problem(ProblemCode::NameMismatch, "another type"),
                problem(ProblemCode::Encrypted, "a password"),
                problem(ProblemCode::Malformed, "damaged"),
            ],
        );
        let fault = collected.failure();
        assert_eq!((fault.code(), fault.kind()), ("processing_failed", FaultKind::Invalid));
        assert!(fault.message().contains("a password"), "{fault}");
        let crashed = collect(true, [problem(ProblemCode::Crashed, "lost")]);
        assert_eq!(crashed.failure().kind(), FaultKind::Unavailable);
        assert!(collect(true, []).failure().message().contains("no text"));
    }

    #[test]
    fn a_text_without_pages_is_cut_at_its_paragraphs_and_nothing_is_lost() {
        let paragraph = format!("{}\n\n", "слово ".repeat(200));
        let whole = paragraph.repeat(300);
        let events = [page(1, &whole[..paragraph.len() * 3], None)].into_iter().chain(
            whole.as_bytes()[paragraph.len() * 3..]
                .chunks(paragraph.len())
                .map(|it| ReadEvent::More(String::from_utf8(it.to_vec()).unwrap())),
        );
        let collected = collect(true, events);
        assert!(collected.pages.len() > 5);
        assert!(collected.pages.iter().all(|it| it.page.text.len() <= PAGE_BYTES_MAX));
        assert!(collected.pages.iter().all(|it| it.page.text.ends_with("\n\n")));
        let joined: String = collected.pages.iter().map(|it| it.page.text.as_str()).collect();
        assert_eq!(joined, whole);
        let held: usize = collected.pages.iter().map(|it| it.page.text.capacity()).sum();
        assert!(held < whole.len() * 2, "{held} bytes are held for {}", whole.len());
        let numbers: Vec<u32> = collected.pages.iter().map(|it| it.page.number).collect();
        assert!(numbers.iter().copied().eq(1..=u32::try_from(numbers.len()).unwrap()));
    }

    #[test]
    fn progress_counts_pages_if_their_number_is_known_and_bytes_otherwise() {
        let mut collector = PageCollector::new(1000, &ProcessingSettings::standard());
        collector.apply(page(1, &"x".repeat(250), None));
        assert!((collector.share() - 0.25).abs() < 1e-9);
        let mut collector = PageCollector::new(1000, &ProcessingSettings::standard());
        collector.apply(ReadEvent::Total(4));
        collector.apply(page(1, "x", None));
        assert!((collector.share() - 0.25).abs() < 1e-9);
        assert_eq!(collector.progress_note(), "page 1 of 4");
    }
}
