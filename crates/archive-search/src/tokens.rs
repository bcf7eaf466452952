//! Splits the text of a page into the words that its index stores.
//!
//! A word is a run of letters and digits. Dotted letters are one word (`U.S.C.`, `U. S.`, `F.3d`),
//! groups of three digits are one number (`12,500`), numbers have no leading zeros (`08924`), and
//! Russian surnames lose -ov and -ev in all cases. So `17 USC 101` is `17 U.S.C. § 101`, and
//! `1:20-cv-8924` is `1:20-cv-08924`.

use std::ops::Range;

use text::fold::searched;
use text::stem::inflection;

use crate::words::spans;

/// A Russian stem keeps three letters of two bytes.
const RUSSIAN_STEM_BYTES: usize = 6;
/// At most this many dotted letters, or groups of digits, are joined into one word.
const PARTS_MAX: usize = 12;

/// A word of a page. Its number among the tokens of the page is its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageToken {
    /// As stored in the index; empty where nothing of the word can be stored.
    pub term: String,
    /// The bytes of the text that it was read from.
    pub span: Range<usize>,
}

/// The tokens of a text, in order.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = PageToken> + '_ {
    token_spans(text).map(|span| PageToken { term: term(&text[span.clone()]), span })
}

/// The spans of the tokens without their terms, which is much faster.
pub(crate) fn token_spans(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut words = spans(text).peekable();
    std::iter::from_fn(move || {
        let mut span = words.next()?;
        if let Some(separator) = separator_after(text, &span) {
            let mut last = span.clone();
            for _ in 1..PARTS_MAX {
                let Some(next) = words.peek() else { break };
                if !joins(text, separator, &last, next) {
                    break;
                }
                last = next.clone();
                words.next();
            }
            span.end = last.end;
        }
        Some(span)
    })
}

/// The mark that joins a word with the words after it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// The full stop after a single letter.
    Dot,
    /// The comma, or the space that does not break, after one to three digits.
    Group,
}

/// The separator after a word, if the word may begin a joined one.
fn separator_after(text: &str, span: &Range<usize>) -> Option<Separator> {
    let word = &text[span.clone()];
    let next = text[span.end..].chars().next()?;
    if next == '.' && is_letter(word) {
        return Some(Separator::Dot);
    }
    let is_group = matches!(next, ',' | '\u{a0}' | '\u{202f}');
    (is_group && word.len() <= 3 && is_number(word)).then_some(Separator::Group)
}

fn joins(text: &str, separator: Separator, last: &Range<usize>, next: &Range<usize>) -> bool {
    let (between, word) = (&text[last.end..next.start], &text[next.clone()]);
    let after = &text[next.end..];
    match separator {
        Separator::Dot if !is_letter(&text[last.clone()]) => false,
        Separator::Dot => {
            let spaced = matches!(between, ". " | ".\u{a0}" | ".\u{202f}");
            let is_dotted = is_letter(word) && after.starts_with('.');
            match between {
                "." => is_letter(word) || is_ordinal(word),
                _ => spaced && (is_dotted || is_ordinal(word)),
            }
        }
        Separator::Group => {
            matches!(between, "," | "\u{a0}" | "\u{202f}") && word.len() == 3 && is_number(word)
        }
    }
}

fn is_letter(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(char::is_alphabetic) && chars.next().is_none()
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|it| it.is_ascii_digit())
}

/// The series of a reporter: `2d`, `3d`, `4th`.
fn is_ordinal(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    (1..=2).contains(&digits) && matches!(&word[digits..], "d" | "nd" | "rd" | "st" | "th")
}

/// The form of a word that the index stores and queries look up.
pub(crate) fn term(word: &str) -> String {
    let mut folded = folded(word);
    if is_number(&folded) {
        return without_zeros(&folded).to_owned();
    }
    inflection(&mut folded);
    remove_surname_suffix(&mut folded);
    folded
}

/// A number without leading zeros; another word as it is.
pub(crate) fn without_zeros(word: &str) -> &str {
    if !is_number(word) {
        return word;
    }
    match word.trim_start_matches('0') {
        "" if !word.is_empty() => "0",
        number => number,
    }
}

/// A word without accents, capitals and the marks between joined parts, but not stemmed, which
/// prefixes need.
pub(crate) fn folded(word: &str) -> String {
    if word.is_ascii() && word.bytes().all(|it| it.is_ascii_alphanumeric()) {
        return searched(word).unwrap_or_default();
    }
    let joined: String = spans(word).map(|span| &word[span]).collect();
    searched(&joined).unwrap_or_default()
}

/// Removes -ов and -ев, because the stemmer leaves Воробьева as воробьев and makes воробь of
/// Воробьев.
fn remove_surname_suffix(word: &mut String) {
    let is_surname = word.ends_with("ов") || word.ends_with("ев");
    let short = word.len().saturating_sub(4);
    if is_surname && short >= RUSSIAN_STEM_BYTES && word.chars().all(|c| ('а'..='я').contains(&c))
    {
        word.truncate(short);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found: Vec<String> = tokens(text).map(|it| it.term).collect();
        assert_eq!(found.join(" "), expected, "{text:?}");
    }

    #[test]
    fn citations_and_numbers_have_one_form() {
        for text in ["17 U.S.C. § 101", "17 USC 101", "17 U. S. C. §101", "17 u.s.c 101"] {
            check(text, "17 usc 101");
        }
        for text in ["1:20-cv-8924", "1:20-CV-08924", "1:20-cv-008924"] {
            check(text, "1 20 cv 8924");
        }
        check("410 U. S. 113; 123 F.3d 456; 9 F. 3d 1", "410 us 113 123 f3d 456 9 f3d 1");
        check("$12,500.00 and 1,000,000, 50\u{a0}000 руб.", "12500 0 and 1000000 50000 руб");
        check("В.В. Воробьев и Воробьёва В. В.", "вв воробь и воробь вв");
        check("0 00 007 2024-05-01", "0 0 7 2024 5 1");
    }

    #[test]
    fn ordinary_words_are_not_joined() {
        check("Plan B. The rest", "plan b the rest");
        check("in 1,2 and 3, 400", "in 1 2 and 3 400");
        check("See id. at 5. A party", "see id at 5 a parti");
        check("a.b a.bc", "ab a bc");
        check("", "");
    }

    #[test]
    fn spans_of_joined_words_are_those_of_the_text() {
        let text = "§ 17 U. S. C. is «В.В.»";
        let cut: Vec<&str> = token_spans(text).map(|it| &text[it]).collect();
        assert_eq!(cut, ["17", "U. S. C", "is", "В.В"]);
    }
}
