//! The text of a file, page by page, stored in chunks of 64 KiB.

use std::borrow::Cow;

use archive_text::{Page, PageText};

/// Bytes of text in one row: a page can have 100 MB.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;

/// One stored page. Pages are numbered from 1 over the file and its attachments.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRecord {
    pub page: Page,
    /// Empty for the file itself, otherwise the attachment's name (`a.eml/b.pdf` when nested).
    pub part: String,
    /// The page within its part.
    pub part_page: u32,
    pub ocr_confidence: Option<f64>,
}

impl PageRecord {
    /// The page as the rules read it.
    #[must_use]
    pub fn text(&self) -> PageText<'_> {
        PageText { number: self.page.number, part: &self.part, text: &self.page.text }
    }
}

/// At most 64 KiB of the text of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct PageChunk {
    pub page: u32,
    /// From 0 within the page; page and chunk number are the position to continue after.
    pub chunk: u32,
    pub part: String,
    pub part_page: u32,
    pub ocr_confidence: Option<f64>,
    pub text: String,
}

/// Some pages, and the number of the next one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageBatch {
    pub pages: Vec<PageRecord>,
    /// `None` at the end of the range.
    pub next: Option<u32>,
}

/// How much text was stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PagesWritten {
    pub pages: u64,
    pub bytes: u64,
}

/// Words with a letter or digit; a dash alone does not count. Call it before a transaction begins,
/// because a long text takes a while.
pub fn count_words(text: &str) -> u64 {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count() as u64
}

/// The byte at which each chunk but the first of a stored text begins.
pub fn chunk_starts(text: &str) -> Vec<usize> {
    let ends = split(text).scan(0, |end, chunk| {
        *end += chunk.len();
        Some(*end)
    });
    ends.filter(|&end| end < text.len()).collect()
}

/// Replaces NUL, which PostgreSQL cannot store, by one other character: positions stay the same.
pub fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

/// Splits a text between characters. An empty text is one empty chunk, so that an empty page has a
/// row.
pub(crate) fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut end = text.len().min(CHUNK_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (chunk, after) = text.split_at(end);
        rest = (!after.is_empty()).then_some(after);
        Some(chunk)
    })
}

/// Appends a chunk to its page, or starts the next page.
pub(crate) fn join(pages: &mut Vec<PageRecord>, chunk: PageChunk) {
    match pages.last_mut() {
        Some(last) if last.page.number == chunk.page => last.page.text.push_str(&chunk.text),
        _ => pages.push(PageRecord {
            page: Page { number: chunk.page, text: chunk.text },
            part: chunk.part,
            part_page: chunk.part_page,
            ocr_confidence: chunk.ocr_confidence,
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: u64) {
        assert_eq!(count_words(text), expected, "{text:?}");
    }

    #[test]
    fn words_are_what_has_letters_or_digits() {
        check("", 0);
        check("  \n\t ", 0);
        check("one", 1);
        check("one — two - 3", 3);
        check("ст. 15 ГК РФ", 4);
        check("don't stop", 2);
        check("§ 1983", 1);
    }

    #[test]
    fn positions_survive_what_cannot_be_stored() {
        assert_eq!(storable("a\0б\0"), "a\u{fffd}б\u{fffd}");
        assert_eq!(storable("ab"), "ab");
    }

    #[test]
    fn an_empty_page_is_one_piece() {
        assert_eq!(split("").collect::<Vec<_>>(), [""]);
    }

    proptest! {
        #[test]
        fn pieces_join_to_the_text(seed in "[aж€\u{1f600}]{1,40}", times in 1_usize..3_000) {
            let text = seed.repeat(times);
            let chunks: Vec<&str> = split(&text).collect();
            prop_assert!(chunks.iter().all(|it| it.len() <= CHUNK_BYTES && !it.is_empty()));
            let starts: Vec<usize> = chunks[1..].iter().map(|it| it.as_ptr().addr() - text.as_ptr().addr()).collect();
            prop_assert_eq!(chunk_starts(&text), starts);
            prop_assert_eq!(chunks.concat(), text);
        }
    }
}
