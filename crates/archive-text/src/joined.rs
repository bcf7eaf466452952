//! Pages joined into one text, so that a search may run over the end of a page.

use std::ops::Range;

use crate::{PageText, TextSpan};

/// The text of several pages, each followed by `\n`.
#[derive(Debug)]
pub struct JoinedPages {
    text: String,
    /// The number of each page and the byte where it begins.
    starts: Vec<(u32, usize)>,
}

impl JoinedPages {
    /// Joins pages with ascending numbers.
    #[must_use]
    pub fn new(pages: &[PageText<'_>]) -> Self {
        let size = pages.iter().map(|it| it.text.len() + 1).sum();
        let mut text = String::with_capacity(size);
        let mut starts = Vec::with_capacity(pages.len());
        for page in pages {
            starts.push((page.number, text.len()));
            text.push_str(page.text);
            text.push('\n');
        }
        Self { text, starts }
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The spans of a byte range of the whole text: one for each page that it touches, without
    /// white space at either end. Empty spans are left out.
    pub fn spans(&self, range: Range<usize>) -> impl Iterator<Item = TextSpan> {
        let first = self.starts.partition_point(|it| it.1 <= range.start).saturating_sub(1);
        let pages = self.starts.iter().enumerate().skip(first);
        pages.take_while(move |(_, it)| it.1 < range.end).filter_map(move |(at, &(page, start))| {
            let end = self.starts.get(at + 1).map_or(self.text.len(), |it| it.1) - 1;
            let (from, to) = (range.start.max(start), range.end.min(end));
            let words = self.text.get(from..to.max(from)).unwrap_or_default();
            let from = from + (words.len() - words.trim_start().len()) - start;
            let length = words.trim().len();
            (length > 0).then_some(TextSpan { page, start: from, end: from + length })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_over_two_pages_is_a_span_on_each() {
        let pages = [
            PageText { number: 3, part: "", text: "See 410" },
            PageText { number: 4, part: "", text: "" },
            PageText { number: 7, part: "", text: " U.S. 113 (1973)" },
        ];
        let joined = JoinedPages::new(&pages);
        assert_eq!(joined.text(), "See 410\n\n U.S. 113 (1973)\n");
        let start = joined.text().find("410").unwrap();
        let end = joined.text().find(" (").unwrap();
        let spans: Vec<TextSpan> = joined.spans(start..end).collect();
        let words: Vec<&str> = spans.iter().map(|it| it.text_in(&pages).unwrap()).collect();
        assert_eq!(words, ["410", "U.S. 113"]);
        assert_eq!((spans[0].page, spans[1].page), (3, 7));
        assert_eq!(joined.spans(7..9).count(), 0);
        assert_eq!(JoinedPages::new(&[]).spans(0..1).count(), 0);
    }
}
