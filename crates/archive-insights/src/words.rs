//! Splits a text into words: runs of letters and digits, lower-cased, without accents, stemmed.
//!
//! Both engines index these words as they are, so both find the same.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::stem::stem;

/// Longer words are cut, in texts and in keywords.
const WORD_CHARS_MAX: usize = 64;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub stem: String,
    /// The bytes of the text that it was read from.
    pub span: Range<usize>,
}

/// The words of a text, in order.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Word> + '_ {
    spans(text).filter_map(|span| {
        let mut folded = fold(&text[span.clone()])?;
        stem(&mut folded);
        Some(Word { stem: folded, span })
    })
}

/// The words as written, without accents and capitals, for beginnings of words.
pub(crate) fn folded(text: &str) -> impl Iterator<Item = String> + '_ {
    spans(text).filter_map(|span| fold(&text[span]))
}

/// Letters and digits. Accents that stand alone, soft hyphens and joiners are within a word and
/// end none.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric()
}

fn is_inner(c: char) -> bool {
    is_word(c)
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}')
        || is_combining_mark(c)
}

fn spans(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_word)?;
        let length = text[start..].find(|c| !is_inner(c)).unwrap_or(text.len() - start);
        at = start + length;
        Some(start..at)
    })
}

fn fold(run: &str) -> Option<String> {
    if run.is_ascii() {
        let mut word = run.to_ascii_lowercase();
        word.truncate(WORD_CHARS_MAX);
        return Some(word);
    }
    let lower = run.nfkd().flat_map(char::to_lowercase);
    // Once more, because a capital may decompose only when it has become small.
    let plain = lower.nfkd().filter(|c| c.is_alphanumeric() && !is_combining_mark(*c));
    // The sigma at the end of a word is the same letter.
    let plain = plain.map(|c| if c == 'ς' { 'σ' } else { c });
    let word: String = plain.take(WORD_CHARS_MAX).collect();
    (!word.is_empty()).then_some(word)
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
        assert!(word.stem.chars().count() <= WORD_CHARS_MAX);
    }
}
