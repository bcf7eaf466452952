//! A file's pages as the reader reports them: numbered over the file and its attachments, with the
//! problems in words. It opens no files; the child process does.

use std::collections::BTreeMap;

use archive_documents::PageRecord;
use archive_extract::{Code, Event, ExtractedPage, Kind, Problem, Source};
use archive_text::Page;
use fault::{Fault, Kind as FaultKind};

/// A page longer than this is cut: a text file has no pages, and may have a hundred megabytes.
const PAGE_BYTES_MAX: usize = 64 * 1024;
/// Problems that are told; the rest are counted.
const PROBLEMS_MAX: usize = 50;
const PROBLEM_CHARS_MAX: usize = 400;

/// Takes events and becomes pages.
pub(crate) struct Gather {
    pages: Vec<PageRecord>,
    /// The file itself, and the attachments that are open.
    levels: Vec<Level>,
    /// How often each part's name was seen, so that two attachments of one name stay two.
    names: BTreeMap<String, u32>,
    /// The page that may still get more text.
    open: Option<PageRecord>,
    said: Vec<Trouble>,
    said_more: usize,
    /// The gravest problem of the file itself, for when nothing could be read.
    worst: Option<(u8, String, Code)>,
    kinds: Vec<Kind>,
    ocr_pages: u32,
    /// Whether pictures were to be read.
    ocr: bool,
    file_bytes: u64,
    seen_bytes: u64,
}

#[derive(Default)]
struct Level {
    part: String,
    total: Option<u32>,
    done: u32,
    bytes: u64,
}

/// One problem, and the pages that have it.
struct Trouble {
    part: String,
    pages: Option<(u32, u32)>,
    message: String,
}

/// What was read.
pub(crate) struct Gathered {
    pub(crate) pages: Vec<PageRecord>,
    pub(crate) problems: Vec<String>,
    pub(crate) extractors: Vec<&'static str>,
    pub(crate) ocr_pages: u32,
    worst: Option<(u8, String, Code)>,
}

impl Gather {
    pub(crate) fn new(file_bytes: u64, ocr: bool) -> Self {
        Self {
            pages: Vec::new(),
            levels: vec![Level::default()],
            names: BTreeMap::new(),
            open: None,
            said: Vec::new(),
            said_more: 0,
            worst: None,
            kinds: Vec::new(),
            ocr_pages: 0,
            ocr,
            file_bytes,
            seen_bytes: 0,
        }
    }

    pub(crate) fn apply(&mut self, event: Event) {
        if !matches!(event, Event::More(_)) {
            self.shut();
        }
        match event {
            Event::Kind(kind) => {
                if !self.kinds.contains(&kind) {
                    self.kinds.push(kind);
                }
            }
            Event::Metadata(..) => {}
            Event::Total(pages) => {
                if let Some(level) = self.levels.last_mut() {
                    level.total = Some(pages);
                }
            }
            Event::Page(page) => self.page(page),
            Event::More(text) => self.more(&text),
            Event::Problem(problem) => self.problem(&problem, None),
            Event::Open { name, bytes } => self.enter(&name, bytes),
            Event::Close => {
                if self.levels.len() > 1
                    && let Some(level) = self.levels.pop()
                    && self.levels.len() == 1
                {
                    // Attachments stand in a message as four letters for three bytes.
                    self.seen_bytes += level.bytes / 3 * 4;
                }
            }
        }
    }

    fn enter(&mut self, name: &str, bytes: u64) {
        let above = self.levels.last().map_or("", |it| it.part.as_str());
        let name = if name.trim().is_empty() { "attachment" } else { name.trim() };
        let path = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
        let times = self.names.entry(path.clone()).or_default();
        *times += 1;
        let part = if *times > 1 { format!("{path} ({times})") } else { path };
        self.levels.push(Level { part, bytes, ..Level::default() });
    }

    fn page(&mut self, page: ExtractedPage) {
        let ocr_confidence = match page.source {
            Source::TextLayer => None,
            Source::Ocr { confidence } => {
                self.ocr_pages += 1;
                Some(f64::from(confidence))
            }
        };
        self.start(ocr_confidence);
        self.more(&page.page.text);
        if let Some(problem) = &page.problem {
            let number = self.open.as_ref().map(|it| it.page.number);
            self.problem(problem, number);
        }
    }

    /// Opens the next page of the part at hand.
    fn start(&mut self, ocr_confidence: Option<f64>) {
        let Some(level) = self.levels.last_mut() else { return };
        level.done += 1;
        let number = u32::try_from(self.pages.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.open = Some(PageRecord {
            page: Page { number, text: String::new() },
            part: level.part.clone(),
            part_page: level.done,
            ocr_confidence,
        });
    }

    fn more(&mut self, text: &str) {
        if self.levels.len() == 1 {
            self.seen_bytes += text.len() as u64;
        }
        let Some(open) = &mut self.open else { return };
        // No engine of ours keeps a zero in a text on both sides.
        if text.contains('\0') {
            open.page.text.push_str(&text.replace('\0', " "));
        } else {
            open.page.text.push_str(text);
        }
        while let Some(rest) = self.open.as_mut().and_then(|it| overflow(&mut it.page.text)) {
            let ocr_confidence = self.open.as_ref().and_then(|it| it.ocr_confidence);
            self.shut();
            self.start(ocr_confidence);
            if let Some(open) = &mut self.open {
                open.page.text = rest;
            }
        }
    }

    fn shut(&mut self) {
        if let Some(mut page) = self.open.take() {
            // What a page was cut from is many times larger than the page.
            page.page.text.shrink_to_fit();
            self.pages.push(page);
        }
    }

    fn problem(&mut self, problem: &Problem, page: Option<u32>) {
        let message = if problem.code == Code::NeedsOcr && !self.ocr {
            "the page is a picture; process the file again with enableOCR: true".to_owned()
        } else {
            crate::said::clipped(&problem.message, PROBLEM_CHARS_MAX)
        };
        let rank = rank(problem.code);
        if self.worst.as_ref().is_none_or(|(worst, ..)| rank > *worst) {
            self.worst = Some((rank, message.clone(), problem.code));
        }
        let part = self.levels.last().map_or("", |it| it.part.as_str());
        // A scan of a thousand pages has one problem, not a thousand.
        if let Some(last) = self.said.last_mut()
            && let (Some((_, to)), Some(page)) = (&mut last.pages, page)
            && last.message == message
            && last.part == part
            && *to + 1 == page
        {
            *to = page;
        } else if self.said.len() < PROBLEMS_MAX {
            let pages = page.map(|page| (page, page));
            self.said.push(Trouble { part: part.to_owned(), pages, message });
        } else {
            self.said_more += 1;
        }
    }

    /// How much of the file has been read, from 0 to 1: by pages where their number is known, by
    /// bytes otherwise.
    pub(crate) fn share(&self) -> f64 {
        let Some(root) = self.levels.first() else { return 0.0 };
        let (done, all) = match root.total.filter(|total| *total > 0) {
            Some(total) => (u64::from(root.done), u64::from(total)),
            None => (self.seen_bytes, self.file_bytes.max(1)),
        };
        // Numbers of pages and bytes are far below where a float loses count.
        (done as f64 / all as f64).clamp(0.0, 1.0)
    }

    /// Where the reading is, in words.
    pub(crate) fn place(&self) -> String {
        let page = self.pages.len() + usize::from(self.open.is_some());
        match self.levels.first().and_then(|it| it.total) {
            Some(total) if self.levels.len() == 1 => format!("page {page} of {total}"),
            _ => format!("page {page}"),
        }
    }

    pub(crate) fn finish(mut self) -> Gathered {
        self.shut();
        let mut problems: Vec<String> = self.said.iter().map(Trouble::told).collect();
        if self.said_more > 0 {
            problems.push(format!("and {} more problems", self.said_more));
        }
        let mut extractors: Vec<&'static str> =
            self.kinds.iter().map(|it| extractor(*it)).collect();
        if self.ocr_pages > 0 {
            extractors.push("ocr");
        }
        Gathered {
            pages: self.pages,
            problems,
            extractors,
            ocr_pages: self.ocr_pages,
            worst: self.worst,
        }
    }
}

impl Trouble {
    fn told(&self) -> String {
        let pages = match self.pages {
            None => String::new(),
            Some((from, to)) if from == to => format!("page {from}: "),
            Some((from, to)) => format!("pages {from} to {to}: "),
        };
        let part = if self.part.is_empty() { String::new() } else { format!("{}: ", self.part) };
        format!("{part}{pages}{}", self.message)
    }
}

impl Gathered {
    pub(crate) fn has_text(&self) -> bool {
        self.pages.iter().any(|it| !it.page.text.trim().is_empty())
    }

    /// Why nothing could be read, in words that a person can act on.
    pub(crate) fn failure(&self) -> Fault {
        let message =
            self.worst.as_ref().map_or("there is no text in the file", |it| it.1.as_str());
        // A reader that died may have been the victim of something that passes.
        let kind = match self.worst.as_ref().map(|it| it.2) {
            Some(Code::Crashed) => FaultKind::Unavailable,
            _ => FaultKind::Invalid,
        };
        Fault::new(kind, "processing_failed", format!("the file could not be read: {message}"))
    }
}

/// What to tell of a file that gave no text: what stands before the text, before what was noticed
/// on the way.
fn rank(code: Code) -> u8 {
    match code {
        Code::Encrypted => 9,
        Code::Crashed => 8,
        Code::TimedOut => 7,
        Code::TooLarge | Code::TooManyPages | Code::TooManyEntries | Code::TooDeep => 6,
        Code::NeedsOcr | Code::OcrFailed => 5,
        Code::Truncated | Code::Malformed => 4,
        Code::Unsupported | Code::NoUnicode => 3,
        Code::Empty => 2,
        Code::NameMismatch => 1,
    }
}

fn extractor(kind: Kind) -> &'static str {
    match kind {
        Kind::Pdf => "pdf",
        Kind::Docx => "docx",
        Kind::Doc => "doc",
        Kind::Rtf => "rtf",
        Kind::Text => "text",
        Kind::Markdown => "markdown",
        Kind::Eml => "eml",
        Kind::Msg => "msg",
        Kind::Png => "png",
        Kind::Jpeg => "jpeg",
        Kind::Tiff => "tiff",
    }
}

/// Takes what is beyond the longest page off a text: at an empty line if there is one near the
/// end, else at a line, else at a space.
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

    fn page(number: u32, text: &str, problem: Option<Problem>) -> Event {
        let page = Page { number, text: text.to_owned() };
        Event::Page(ExtractedPage { page, source: Source::TextLayer, problem })
    }

    fn open(name: &str) -> Event {
        Event::Open { name: name.to_owned(), bytes: 9 }
    }

    fn gathered(ocr: bool, events: impl IntoIterator<Item = Event>) -> Gathered {
        let mut gather = Gather::new(1000, ocr);
        for event in events {
            gather.apply(event);
        }
        gather.finish()
    }

    #[test]
    fn pages_are_numbered_over_the_attachments_and_parts_are_told_apart() {
        let events = [
            Event::Kind(Kind::Eml),
            page(1, "body", None),
            open("a.pdf"),
            Event::Kind(Kind::Pdf),
            page(1, "one", None),
            page(2, "two", None),
            Event::More(" more".to_owned()),
            Event::Close,
            open("b.eml"),
            page(1, "inner", None),
            open("a.pdf"),
            page(1, "deep", None),
            Event::Close,
            Event::Close,
            open("a.pdf"),
            page(1, "again", None),
        ];
        let told = gathered(true, events);
        let shown: Vec<(u32, &str, u32, &str)> = told
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
        assert_eq!(told.extractors, ["eml", "pdf"]);
    }

    #[test]
    fn a_problem_of_many_pages_is_told_once_and_says_what_to_do() {
        let picture = || Some(Problem::new(Code::NeedsOcr, "install something"));
        let pages = (1..=40).map(|at| page(at, "", picture()));
        let told = gathered(false, pages);
        assert_eq!(told.problems.len(), 1);
        assert!(told.problems[0].starts_with("pages 1 to 40: "), "{:?}", told.problems);
        assert!(told.problems[0].contains("enableOCR"), "{:?}", told.problems);
        assert!(!told.has_text());
        assert!(told.failure().message().contains("enableOCR"));
        let with = gathered(true, [page(1, "", picture())]);
        assert!(with.failure().message().contains("install something"));
    }

    #[test]
    fn the_gravest_problem_is_the_reason() {
        let problem = |code, message: &str| Event::Problem(Problem::new(code, message));
        let told = gathered(
            true,
            [
                problem(Code::NameMismatch, "another type"),
                problem(Code::Encrypted, "a password"),
                problem(Code::Malformed, "damaged"),
            ],
        );
        let fault = told.failure();
        assert_eq!((fault.code(), fault.kind()), ("processing_failed", FaultKind::Invalid));
        assert!(fault.message().contains("a password"), "{fault}");
        let crashed = gathered(true, [problem(Code::Crashed, "lost")]);
        assert_eq!(crashed.failure().kind(), FaultKind::Unavailable);
        assert!(gathered(true, []).failure().message().contains("no text"));
    }

    #[test]
    fn a_text_without_pages_is_cut_at_its_paragraphs_and_nothing_is_lost() {
        let paragraph = format!("{}\n\n", "слово ".repeat(200));
        let whole = paragraph.repeat(300);
        let events = [page(1, &whole[..paragraph.len() * 3], None)].into_iter().chain(
            whole.as_bytes()[paragraph.len() * 3..]
                .chunks(paragraph.len())
                .map(|it| Event::More(String::from_utf8(it.to_vec()).unwrap())),
        );
        let told = gathered(true, events);
        assert!(told.pages.len() > 5);
        assert!(told.pages.iter().all(|it| it.page.text.len() <= PAGE_BYTES_MAX));
        assert!(told.pages.iter().all(|it| it.page.text.ends_with("\n\n")));
        let joined: String = told.pages.iter().map(|it| it.page.text.as_str()).collect();
        assert_eq!(joined, whole);
        let held: usize = told.pages.iter().map(|it| it.page.text.capacity()).sum();
        assert!(held < whole.len() * 2, "{held} bytes are held for {}", whole.len());
        let numbers: Vec<u32> = told.pages.iter().map(|it| it.page.number).collect();
        assert!(numbers.iter().copied().eq(1..=u32::try_from(numbers.len()).unwrap()));
    }

    #[test]
    fn progress_is_by_pages_where_they_are_known_and_by_bytes_otherwise() {
        let mut gather = Gather::new(1000, true);
        gather.apply(page(1, &"x".repeat(250), None));
        assert!((gather.share() - 0.25).abs() < 1e-9);
        let mut gather = Gather::new(1000, true);
        gather.apply(Event::Total(4));
        gather.apply(page(1, "x", None));
        assert!((gather.share() - 0.25).abs() < 1e-9);
        assert_eq!(gather.place(), "page 1 of 4");
    }
}
