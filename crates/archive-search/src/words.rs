//! Splits a text into the words of the index of insights: runs of letters and digits, lower-cased,
//! without accents, stemmed, and joined as [`crate::tokens`] joins them.
//!
//! Both engines index these words as they are, so both find the same.

use std::ops::Range;

use text::tokens::{Cut, TokenKind};

use crate::tokens;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexWord {
    pub stem: String,
    /// The bytes of the text that it was read from.
    pub span: Range<usize>,
}

/// The words of a text, in order, in the form of the page index: dotted letters are one word,
/// numbers have no leading zeros, Russian surnames lose -ov and -ev.
pub fn words(text: &str) -> impl Iterator<Item = IndexWord> + '_ {
    let known = tokens::tokens(text).filter(|it| !it.term.is_empty());
    known.map(|it| IndexWord { stem: it.term, span: it.span })
}

/// The words as written, without accents and capitals, for beginnings of words.
pub fn folded(text: &str) -> impl Iterator<Item = String> + '_ {
    let folded = tokens::token_spans(text).map(|span| tokens::folded(&text[span]));
    folded.filter(|it| !it.is_empty()).map(|it| tokens::without_zeros(&it).to_owned())
}

pub(crate) fn spans(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let words = text::tokens::tokens(text, Cut::SEARCH).filter(|it| it.kind != TokenKind::Mark);
    words.map(|it| it.start..it.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = words(text).map(|word| word.stem).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn words_are_cut_and_folded() {
        check(
            "Roe v. Wade, 410 U.S. 113 (1973)",
            &["roe", "v", "wade", "410", "us", "113", "1973"],
        );
        check("No. 2:24-cv-01234-ABC", &["no", "2", "24", "cv", "1234", "abc"]);
        check("the Plaintiff’s motions", &["the", "plaintiff", "s", "motion"]);
        check("Café cafe\u{301} CAFÉ", &["cafe", "cafe", "cafe"]);
        check("Решения и ЁЖ", &["решен", "и", "еж"]);
        check("con\u{ad}tract", &["contract"]);
        check("½ ﬁling №5 ²", &["12", "file", "5", "2"]);
        check("🙂 — !!! \u{0} ", &[]);
        check("İstanbul ΣΊΣΥΦΟΣ", &["istanbul", "σισυφοσ"]);
    }

    #[test]
    fn spans_are_those_of_the_text() {
        let text = "«Дело» № А40-123";
        let cut: Vec<&str> = words(text).map(|word| &text[word.span]).collect();
        assert_eq!(cut, ["Дело", "А40", "123"]);
    }

    #[test]
    fn a_very_long_word_is_cut() {
        let word = words(&"ж".repeat(1_000_000)).next().unwrap();
        assert!(word.stem.chars().count() <= text::fold::SEARCHED_CHARS_MAX);
    }
}
