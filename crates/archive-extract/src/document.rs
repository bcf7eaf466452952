//! The result of reading a file: pages, attachments and problems; and the events it is built from.

use archive_text::Page;
use serde::{Deserialize, Serialize};

use crate::{Format, ReadProblem};

/// A file's text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// `None` if the content has no supported format.
    pub format: Option<Format>,
    pub pages: Vec<ExtractedPage>,
    pub attachments: Vec<Attachment>,
    /// Title, author, subject, sender and the like, in the order found.
    pub metadata: Vec<(String, String)>,
    pub problems: Vec<ReadProblem>,
}

/// One page of a file and where its text comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtractedPage {
    /// Its number counts from 1 within this file, without gaps.
    pub page: Page,
    pub source: TextSource,
    pub problems: Vec<ReadProblem>,
}

/// Where a page's text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextSource {
    TextLayer,
    /// Mean confidence of the words, 0 to 1.
    Ocr {
        confidence: f32,
    },
}

/// A file within a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    pub name: String,
    pub bytes: u64,
    pub document: Document,
}

/// An event of reading a file; events come in the order of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadEvent {
    Format(Format),
    Metadata(String, String),
    /// The number of pages, if the format states it.
    Total(u32),
    Page(ExtractedPage),
    /// More text of the last page; long pages are split so that no event is large.
    More(String),
    Problem(ReadProblem),
    /// The following events belong to an attachment, until `Close`.
    Open {
        name: String,
        bytes: u64,
    },
    Close,
}

/// Gathers events into a document. Attachments that were never closed are closed at the end.
#[derive(Debug, Default)]
pub struct DocumentBuilder {
    root: Document,
    open: Vec<Attachment>,
}

impl DocumentBuilder {
    pub fn apply(&mut self, event: ReadEvent) {
        let document = self.open.last_mut().map_or(&mut self.root, |it| &mut it.document);
        match event {
            ReadEvent::Format(format) => document.format = Some(format),
            ReadEvent::Metadata(key, value) => document.metadata.push((key, value)),
            ReadEvent::Total(_) => {}
            ReadEvent::Page(page) => document.pages.push(page),
            ReadEvent::More(text) => {
                if let Some(page) = document.pages.last_mut() {
                    page.page.text.push_str(&text);
                }
            }
            ReadEvent::Problem(problem) => document.problems.push(problem),
            ReadEvent::Open { name, bytes } => {
                self.open.push(Attachment { name, bytes, document: Document::default() });
            }
            ReadEvent::Close => self.close(),
        }
    }

    fn close(&mut self) {
        if let Some(done) = self.open.pop() {
            let above = self.open.last_mut().map_or(&mut self.root, |it| &mut it.document);
            above.attachments.push(done);
        }
    }

    #[must_use]
    pub fn finish(mut self) -> Document {
        while !self.open.is_empty() {
            self.close();
        }
        self.root
    }
}

impl Document {
    /// All pages in one string with a form feed between them, and where each page starts.
    #[must_use]
    pub fn text(&self) -> (String, Vec<usize>) {
        let mut text =
            String::with_capacity(self.pages.iter().map(|it| it.page.text.len() + 1).sum());
        let mut starts = Vec::with_capacity(self.pages.len());
        for page in &self.pages {
            if !starts.is_empty() {
                text.push('\u{c}');
            }
            starts.push(text.len());
            text.push_str(&page.page.text);
        }
        (text, starts)
    }

    /// Problems of the file, of its pages and of its attachments.
    pub fn problems_all(&self) -> impl Iterator<Item = &ReadProblem> {
        let below = self.attachments.iter().flat_map(|it| {
            Box::new(it.document.problems_all()) as Box<dyn Iterator<Item = &ReadProblem>>
        });
        let pages = self.pages.iter().flat_map(|it| &it.problems);
        self.problems.iter().chain(pages).chain(below)
    }

    /// Whether there is any text, attachments included.
    #[must_use]
    pub fn has_text(&self) -> bool {
        self.pages.iter().any(|it| !it.page.text.trim().is_empty())
            || self.attachments.iter().any(|it| it.document.has_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u32, text: &str) -> ReadEvent {
        let page = Page { number, text: text.to_owned() };
        ReadEvent::Page(ExtractedPage { page, source: TextSource::TextLayer, problems: Vec::new() })
    }

    #[test]
    fn a_builder_keeps_what_came_before_the_end() {
        let mut draft = DocumentBuilder::default();
        draft.apply(page(1, "one"));
        draft.apply(ReadEvent::More(" more".to_owned()));
        draft.apply(ReadEvent::Open { name: "a".to_owned(), bytes: 3 });
        draft.apply(ReadEvent::Open { name: "b".to_owned(), bytes: 3 });
        draft.apply(page(1, "deep"));
        let document = draft.finish();
        assert_eq!(document.pages[0].page.text, "one more");
        assert_eq!(
            document.attachments[0].document.attachments[0].document.pages[0].page.text,
            "deep"
        );
    }

    #[test]
    fn starts_point_at_the_pages() {
        let mut draft = DocumentBuilder::default();
        draft.apply(page(1, "один"));
        draft.apply(page(2, ""));
        draft.apply(page(3, "three"));
        let document = draft.finish();
        let (text, starts) = document.text();
        for (page, start) in document.pages.iter().zip(starts) {
            assert!(text[start..].starts_with(&page.page.text));
        }
    }
}
