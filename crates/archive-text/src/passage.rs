//! Quoted words with their position in characters, and their making from byte spans.

use serde::{Deserialize, Serialize};

use crate::{PageText, TextSpan};

/// Words of a page: characters `start..end` of its text are `quote`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// The page's number.
    pub page: u32,
    /// The first character.
    pub start: u32,
    /// The character after the last.
    pub end: u32,
    /// The words there, letter for letter.
    pub quote: String,
}

impl Passage {
    /// Whether the quote stands at its position in this text of its page.
    #[must_use]
    pub fn stands_in(&self, text: &str) -> bool {
        let length = self.end.saturating_sub(self.start) as usize;
        let there = text.chars().skip(self.start as usize).take(length);
        length > 0 && there.eq(self.quote.chars())
    }
}

/// The passages of byte spans, in the order of the spans; `None` for a span that is empty or not
/// within its page. Each page's text is walked once, however many spans it has.
#[must_use]
pub fn passages(pages: &[PageText<'_>], spans: &[TextSpan]) -> Vec<Option<Passage>> {
    let mut ends: Vec<(u32, usize)> =
        spans.iter().flat_map(|it| [(it.page, it.start), (it.page, it.end)]).collect();
    ends.sort_unstable();
    ends.dedup();
    let chars = count_chars(pages, &ends);
    let char_at = |page, byte| {
        let at = ends.binary_search(&(page, byte)).ok()?;
        chars.get(at).copied()
    };
    let passage = |it: &TextSpan| {
        let quote = it.text_in(pages).filter(|it| !it.is_empty())?;
        let (start, end) = (char_at(it.page, it.start)?, char_at(it.page, it.end)?);
        Some(Passage { page: it.page, start, end, quote: quote.to_owned() })
    };
    spans.iter().map(passage).collect()
}

/// How many characters stand before each byte position; the positions are sorted.
fn count_chars(pages: &[PageText<'_>], positions: &[(u32, usize)]) -> Vec<u32> {
    let mut counts = Vec::with_capacity(positions.len());
    for of_page in positions.chunk_by(|one, next| one.0 == next.0) {
        let page = of_page
            .first()
            .and_then(|(page, _)| TextSpan { page: *page, start: 0, end: 0 }.page_in(pages));
        let bytes = page.map_or(&[][..], |it| it.text.as_bytes());
        let (mut passed, mut chars) = (0, 0_u32);
        for (_, byte) in of_page {
            let byte = (*byte).min(bytes.len());
            let between = bytes.get(passed..byte).unwrap_or_default();
            // Every byte but a continuation byte begins a character.
            let begun = between.iter().filter(|it| **it & 0xc0 != 0x80).count();
            chars = chars.saturating_add(u32::try_from(begun).unwrap_or(u32::MAX));
            passed = byte;
            counts.push(chars);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_span_outside_its_page_has_no_passage() {
        let pages = [PageText { number: 1, part: "", text: "аб" }];
        let span = |page, start, end| TextSpan { page, start, end };
        let spans = [span(1, 2, 4), span(1, 1, 2), span(1, 0, 9), span(2, 0, 1), span(1, 2, 2)];
        let found = passages(&pages, &spans);
        let quote = "б".to_owned();
        assert_eq!(found[0], Some(Passage { page: 1, start: 1, end: 2, quote }));
        assert!(found[1..].iter().all(Option::is_none), "{found:?}");
    }

    proptest! {
        #[test]
        fn the_characters_of_a_passage_are_its_quote(
            texts in prop::collection::vec("[aж€\u{1f600}]{0,30}", 1..4),
            picks in prop::collection::vec((0_usize..4, 0_usize..31, 0_usize..31), 0..20),
        ) {
            let pages: Vec<PageText<'_>> = (1..).zip(&texts)
                .map(|(at, text)| PageText { number: at * 2, part: "", text })
                .collect();
            let mut spans = Vec::new();
            for (page, start, length) in picks {
                let Some(page) = pages.get(page) else { continue };
                let edges: Vec<usize> = page.text.char_indices().map(|it| it.0).collect();
                if let (Some(start), Some(end)) = (edges.get(start), edges.get(start + length)) {
                    spans.push(TextSpan { page: page.number, start: *start, end: *end });
                }
            }
            for (span, passage) in spans.iter().zip(passages(&pages, &spans)) {
                prop_assert_eq!(passage.is_some(), span.start < span.end);
                if let Some(passage) = passage {
                    prop_assert_eq!(Some(passage.quote.as_str()), span.text_in(&pages));
                    prop_assert!(passage.stands_in(span.page_in(&pages).unwrap().text));
                }
            }
        }
    }
}
