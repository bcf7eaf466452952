//! The state of reading one file: what is left of each limit, and where events go.

use std::time::{Duration, Instant};

use archive_text::Page;

use crate::{
    ExtractedPage, Format, Ocr, Password, ProblemCode, ReadEvent, ReadLimits, ReadProblem,
    TextSource,
};

/// A small picture takes about a quarter of the time of a page.
const SMALL_PICTURES_PER_OCR_PAGE: u32 = 4;

/// An error ends the reading of the current file or attachment.
pub(crate) type ReadResult<T = ()> = Result<T, ReadProblem>;

pub(crate) struct ReadContext<'a> {
    pub(crate) limits: &'a ReadLimits,
    pub(crate) ocr: &'a dyn Ocr,
    pub(crate) password: Option<&'a Password>,
    emit: &'a mut dyn FnMut(ReadEvent),
    deadline: Instant,
    depth: u32,
    /// The number of the last page of the current file or attachment.
    page_number: u32,
    pages_left: u32,
    ocr_left: u32,
    small_pictures_left: u32,
    entries_left: u32,
    text_left: u64,
    unpacked_left: u64,
}

impl<'a> ReadContext<'a> {
    pub(crate) fn new(
        limits: &'a ReadLimits,
        ocr: &'a dyn Ocr,
        password: Option<&'a Password>,
        emit: &'a mut dyn FnMut(ReadEvent),
    ) -> Self {
        Self {
            limits,
            ocr,
            password,
            emit,
            deadline: Instant::now() + Duration::from_secs(limits.seconds.into()),
            depth: 0,
            page_number: 0,
            pages_left: limits.pages,
            ocr_left: limits.ocr_pages,
            small_pictures_left: limits.ocr_pages.saturating_mul(SMALL_PICTURES_PER_OCR_PAGE),
            entries_left: limits.entries,
            text_left: limits.text_bytes,
            unpacked_left: limits.unpacked_bytes,
        }
    }

    /// Detects the format of one file, reads it and reports everything, its failure included.
    pub(crate) fn file(&mut self, name: &str, bytes: &[u8]) {
        match crate::detect(name, bytes) {
            Ok(format) => {
                self.format(format);
                if let Some(problem) = format.disagrees_with(name) {
                    self.problem(problem);
                }
                self.read_as(format, bytes);
            }
            Err(problem) => self.problem(problem),
        }
    }

    /// Reads bytes as a format and reports what fails.
    pub(crate) fn read_as(&mut self, format: Format, bytes: &[u8]) {
        let done = match self.tick() {
            Ok(()) => format.read(self, bytes),
            Err(problem) => Err(problem),
        };
        if let Err(problem) = done {
            self.problem(problem);
        }
    }

    /// Fails when the time is up; called inside every loop over foreign data.
    pub(crate) fn tick(&self) -> ReadResult {
        if Instant::now() < self.deadline {
            return Ok(());
        }
        Err(ReadProblem::new(
            ProblemCode::TimedOut,
            format!("reading took more than {} s; split the file", self.limits.seconds),
        ))
    }

    pub(crate) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    pub(crate) fn problem(&mut self, problem: ReadProblem) {
        (self.emit)(ReadEvent::Problem(problem));
    }

    pub(crate) fn metadata(&mut self, key: &str, value: &str) {
        let value = value.trim().trim_matches('\0');
        if !value.is_empty() {
            let short: String = value.chars().take(2_000).collect();
            (self.emit)(ReadEvent::Metadata(key.to_owned(), short));
        }
    }

    pub(crate) fn total(&mut self, pages: u32) {
        (self.emit)(ReadEvent::Total(pages));
    }

    pub(crate) fn next_page(&self) -> u32 {
        self.page_number + 1
    }

    pub(crate) fn page(&mut self, text: String) -> ReadResult {
        self.page_from(text, TextSource::TextLayer, None)
    }

    /// Reports a page; the next number is its number.
    pub(crate) fn page_from(
        &mut self,
        text: String,
        source: TextSource,
        problems: impl IntoIterator<Item = ReadProblem>,
    ) -> ReadResult {
        if self.pages_left == 0 {
            return Err(ReadProblem::new(
                ProblemCode::TooManyPages,
                format!("only the first {} pages were read; split the file", self.limits.pages),
            ));
        }
        self.text_left = self.text_left.checked_sub(text.len() as u64).ok_or_else(|| {
            ReadProblem::new(
                ProblemCode::TooLarge,
                "the file holds more text than is read; split it",
            )
        })?;
        self.pages_left -= 1;
        self.page_number += 1;
        let number = self.page_number;
        let problems = problems.into_iter().map(|it| it.on(number)).collect();
        let page = Page { number, text };
        (self.emit)(ReadEvent::Page(ExtractedPage { page, source, problems }));
        self.tick()
    }

    /// Takes from the budget of everything decompressed or decoded.
    pub(crate) fn unpack(&mut self, bytes: usize) -> ReadResult {
        // A stream is cut at `stream_max`, so using up the budget means that there was more.
        match self.unpacked_left.checked_sub(bytes as u64) {
            Some(left @ 1..) => self.unpacked_left = left,
            _ => {
                return Err(ReadProblem::new(
                    ProblemCode::TooLarge,
                    "the file unpacks to more than is allowed; it may be a decompression bomb",
                ));
            }
        }
        self.tick()
    }

    /// The most bytes that the next stream may unpack to.
    pub(crate) fn stream_max(&self) -> usize {
        usize::try_from(self.limits.stream_bytes.min(self.unpacked_left)).unwrap_or(usize::MAX)
    }

    /// Takes one of the pages that may go to OCR.
    pub(crate) fn spend_ocr(&mut self) -> ReadResult {
        match self.ocr_left.checked_sub(1) {
            Some(left) => self.ocr_left = left,
            None => {
                let most = self.limits.ocr_pages;
                let message = format!("only {most} pages of a file go to OCR; split the file");
                return Err(ReadProblem::new(ProblemCode::OcrLimit, message));
            }
        }
        self.tick()
    }

    /// Small pictures of a file that go to OCR.
    fn small_pictures_max(&self) -> u32 {
        self.limits.ocr_pages.saturating_mul(SMALL_PICTURES_PER_OCR_PAGE)
    }

    /// Takes from the budgets of OCR for a picture on a page with text: a small picture pays for
    /// itself, a page once for all its large ones.
    pub(crate) fn spend_picture(&mut self, is_small: bool, is_paid: &mut bool) -> ReadResult {
        self.ocr.ready()?;
        if is_small {
            let most = self.small_pictures_max();
            self.small_pictures_left =
                self.small_pictures_left.checked_sub(1).ok_or_else(|| {
                    let message = format!("only {most} small pictures of a file go to OCR");
                    ReadProblem::new(ProblemCode::OcrLimit, message)
                })?;
            return self.tick();
        }
        if !*is_paid {
            self.spend_ocr()?;
            *is_paid = true;
        }
        Ok(())
    }

    /// Says once for a file how many small pictures were not read.
    pub(crate) fn note_small_pictures(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        let most = self.small_pictures_max();
        let limit = || {
            let why = format!("only {most} of a file and 8 of a page go to OCR; split the file");
            ReadProblem::new(ProblemCode::OcrLimit, why)
        };
        let why = self.ocr.ready().err().unwrap_or_else(limit);
        let what = format!("{count} small pictures on pages with text were not read");
        self.problem(ReadProblem { message: format!("{what}; {}", why.message), ..why });
    }

    /// Takes one of the attachments that may be opened.
    pub(crate) fn spend_entry(&mut self) -> ReadResult {
        match self.entries_left.checked_sub(1) {
            Some(left) => self.entries_left = left,
            None => {
                return Err(ReadProblem::new(
                    ProblemCode::TooManyEntries,
                    format!("only the first {} attachments were read", self.limits.entries),
                ));
            }
        }
        self.tick()
    }

    /// Reads an attachment. Its failures are reported as its own problems; an error means that no
    /// further attachment may be read.
    pub(crate) fn attachment(&mut self, name: &str, bytes: &[u8]) -> ReadResult {
        self.within(name, bytes.len() as u64, |context| {
            context.file(name, bytes);
            Ok(())
        })
    }

    /// Runs `inner` as the reading of an attachment, for a nested message that is not a separate
    /// byte string.
    pub(crate) fn within(
        &mut self,
        name: &str,
        bytes: u64,
        inner: impl FnOnce(&mut Self) -> ReadResult,
    ) -> ReadResult {
        self.spend_entry()?;
        let name: String = name.chars().filter(|it| !it.is_control()).take(255).collect();
        (self.emit)(ReadEvent::Open { name, bytes });
        let outer_number = std::mem::take(&mut self.page_number);
        self.depth += 1;
        if self.depth > self.limits.depth {
            self.problem(ReadProblem::new(
                ProblemCode::TooDeep,
                format!("messages nested deeper than {} are not opened", self.limits.depth),
            ));
        } else if let Err(problem) = inner(self) {
            self.problem(problem);
        }
        self.depth -= 1;
        self.page_number = outer_number;
        (self.emit)(ReadEvent::Close);
        self.tick()
    }

    pub(crate) fn format(&mut self, format: Format) {
        (self.emit)(ReadEvent::Format(format));
    }
}
