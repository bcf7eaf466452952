//! A page, owned and borrowed, and a byte range of its text.

use serde::{Deserialize, Serialize};

/// The text of one page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The page's number, from 1.
    pub number: u32,
    /// Lines end in `\n`.
    pub text: String,
}

/// A page that borrows its text, as the rules read it.
///
/// A list of pages has ascending numbers without repeats; gaps are allowed, because a fast mode
/// reads only some pages. The pages of one part stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageText<'t> {
    /// Counts over the file and its attachments, from 1.
    pub number: u32,
    /// Empty for the file itself, else the attachment's name.
    pub part: &'t str,
    /// The text of the page.
    pub text: &'t str,
}

/// Bytes `start..end` of the text of the page with this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextSpan {
    /// The page's number.
    pub page: u32,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl TextSpan {
    /// The page of this span in a list with ascending numbers.
    #[must_use]
    pub fn page_in<'p, 't>(&self, pages: &'p [PageText<'t>]) -> Option<&'p PageText<'t>> {
        let at = pages.binary_search_by_key(&self.page, |it| it.number).ok()?;
        pages.get(at)
    }

    /// The words at this span; `None` when the page is missing or the range is not within its text.
    #[must_use]
    pub fn text_in<'t>(&self, pages: &[PageText<'t>]) -> Option<&'t str> {
        self.page_in(pages)?.text.get(self.start..self.end)
    }

    /// Whether both spans share at least one byte.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.page == other.page && self.start < other.end && other.start < self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_finds_its_page_by_number() {
        let pages = [
            PageText { number: 2, part: "", text: "two" },
            PageText { number: 5, part: "", text: "пять" },
        ];
        let check = |page, start, end, expected| {
            assert_eq!(TextSpan { page, start, end }.text_in(&pages), expected);
        };
        check(2, 0, 3, Some("two"));
        check(5, 2, 4, Some("я"));
        check(5, 1, 4, None);
        check(5, 0, 99, None);
        check(3, 0, 1, None);
    }
}
