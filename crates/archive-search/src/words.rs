//! Splits a text into the words of the index: runs of letters and digits, lower-cased, without
//! accents, stemmed.
//!
//! Both engines index these words as they are, so both find the same.

use std::ops::Range;

use text::tokens::{Cut, TokenKind, tokens};
use text::{fold, stem};

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub stem: String,
    /// The bytes of the text that it was read from.
    pub span: Range<usize>,
}

/// The words of a text, in order.
pub fn words(text: &str) -> impl Iterator<Item = Word> + '_ {
    spans(text).filter_map(|span| {
        let mut folded = fold::searched(&text[span.clone()])?;
        stem::inflection(&mut folded);
        Some(Word { stem: folded, span })
    })
}

/// The words as written, without accents and capitals, for beginnings of words.
pub fn folded(text: &str) -> impl Iterator<Item = String> + '_ {
    spans(text).filter_map(|span| fold::searched(&text[span]))
}

/// Letters and digits. Accents that stand alone, soft hyphens and joiners are within a word and
/// end none.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric()
}

pub(crate) fn spans(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let words = tokens(text, Cut::SEARCH).filter(|it| it.kind != TokenKind::Mark);
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
            &["roe", "v", "wade", "410", "u", "s", "113", "1973"],
        );
        check("No. 2:24-cv-01234-ABC", &["no", "2", "24", "cv", "01234", "abc"]);
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
        assert!(word.stem.chars().count() <= fold::SEARCHED_CHARS_MAX);
    }
}
