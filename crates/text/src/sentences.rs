//! Splits a text into sentences. The full stop of an abbreviation (`data/abbreviations.txt`) ends
//! no sentence.

use std::ops::Range;
use std::sync::LazyLock;

use crate::WordList;
use crate::fold::lower;

/// A sentence is cut at the first blank after this many bytes, and after twice as many without one,
/// so that the work on one sentence is bounded.
const SENTENCE_BYTES: usize = 3_000;

/// An abbreviation has at most this many characters.
const ABBREVIATION_CHARS_MAX: usize = 8;

/// Marks that may close a sentence after its stop.
const CLOSING: [char; 7] = ['"', '”', '’', '\'', ')', ']', '»'];

static FILE: &str = include_str!("../data/abbreviations.txt");

static ABBREVIATIONS: LazyLock<WordList> = LazyLock::new(|| WordList::parse(FILE));

/// Whether a full stop after this word marks an abbreviation; the word is as written, without the
/// stop.
///
/// ```
/// use text::sentences::is_abbreviation;
///
/// assert!(is_abbreviation("Inc") && is_abbreviation("Ill") && is_abbreviation("млн"));
/// assert!(!is_abbreviation("ill"));
/// ```
#[must_use]
pub fn is_abbreviation(word: &str) -> bool {
    let length = word.chars().take(ABBREVIATION_CHARS_MAX + 1).count();
    if length > ABBREVIATION_CHARS_MAX {
        return false;
    }
    let folded = lower(word);
    if ABBREVIATIONS.contains(&folded) || ABBREVIATIONS.contains(word) {
        return true;
    }
    // `ILL.` in a heading is the abbreviation `Ill` as well.
    let mut rest = folded.chars();
    let capital = rest.next().map(|it| it.to_uppercase().chain(rest).collect::<String>());
    word.starts_with(char::is_uppercase) && capital.is_some_and(|it| ABBREVIATIONS.contains(&it))
}

/// Whether the full stop after this text belongs to its last word: an abbreviation, an initial, or
/// letters with stops inside.
fn ends_with_abbreviation(before: &str) -> bool {
    let opens = |it: char| it.is_whitespace() || matches!(it, '(' | '"' | '“' | '[');
    let word = before.rsplit(opens).next().unwrap_or_default();
    let length = word.chars().take(ABBREVIATION_CHARS_MAX + 1).count();
    length <= ABBREVIATION_CHARS_MAX
        && (is_abbreviation(word)
            || (length == 1 && word.chars().all(char::is_uppercase))
            || (word.contains('.') && word.chars().any(char::is_alphabetic)))
}

/// The sentences of a text without the blanks around them. A blank line also ends a sentence.
///
/// ```
/// let text = "Smith v. Jones Co. is old. It ended.";
/// let found: Vec<&str> = text::sentences::sentences(text).into_iter().map(|it| &text[it]).collect();
/// assert_eq!(found, ["Smith v. Jones Co. is old.", "It ended."]);
/// ```
#[must_use]
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut list = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, it)) = chars.next() {
        let end = at + it.len_utf8();
        let rest = text.get(end..).unwrap_or_default();
        let ends = match it {
            '\n' => rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n'),
            '.' | '!' | '?' | '…' => {
                ends_with_mark(text.get(start..at).unwrap_or_default(), it, rest)
            }
            _ => it.is_whitespace() && at - start > SENTENCE_BYTES,
        };
        if !ends && at - start <= 2 * SENTENCE_BYTES {
            continue;
        }
        let closing = rest.len() - rest.trim_start_matches(CLOSING).len();
        let stop = if it.is_whitespace() { end } else { end + closing };
        push(&mut list, text, start..stop);
        start = stop;
        while chars.peek().is_some_and(|(next, _)| *next < stop) {
            chars.next();
        }
    }
    push(&mut list, text, start..text.len());
    list
}

/// Whether a mark ends the sentence of the text before it.
fn ends_with_mark(before: &str, mark: char, rest: &str) -> bool {
    let rest = rest.trim_start_matches(CLOSING);
    let gap = rest.starts_with(char::is_whitespace) || rest.is_empty();
    if !gap {
        return false;
    }
    let next = rest.trim_start().chars().next();
    next.is_none_or(|it| !(it.is_lowercase() || mark == '.' && ends_with_abbreviation(before)))
}

fn push(list: &mut Vec<Range<usize>>, text: &str, range: Range<usize>) {
    let Some(part) = text.get(range.clone()) else { return };
    let lead = part.len() - part.trim_start().len();
    let body = part.trim();
    if body.chars().any(char::is_alphanumeric) {
        list.push(range.start + lead..range.start + lead + body.len());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let got: Vec<&str> = sentences(text).into_iter().map(|it| &text[it]).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn sentence_ends_are_found() {
        check("One here. Two there.", &["One here.", "Two there."]);
        check(
            "Smith v. Jones Co. No. 4 is old. It ended.",
            &["Smith v. Jones Co. No. 4 is old.", "It ended."],
        );
        check("He said \"stop.\" She went.", &["He said \"stop.\"", "She went."]);
        check("HEADING\n\nA line\nthat goes on.", &["HEADING", "A line\nthat goes on."]);
        check(
            "Судья А. Б. Орлов отказал. Истец ушел.",
            &["Судья А. Б. Орлов отказал.", "Истец ушел."],
        );
        check("She was ill. He left.", &["She was ill.", "He left."]);
        check("In Springfield, Ill. The court sat.", &["In Springfield, Ill. The court sat."]);
        check(" \n ", &[]);
    }

    #[test]
    fn the_list_of_abbreviations_is_sorted() {
        assert_eq!(crate::list_problem(FILE), None);
    }

    proptest! {
        #[test]
        fn sentences_lie_in_order_and_hold_every_letter(text in "[A-Za-zа-я .!?\n\"»)]{0,80}|\\PC{0,60}") {
            let mut at = 0;
            for sentence in sentences(&text) {
                prop_assert!(sentence.start >= at && sentence.end > sentence.start);
                prop_assert!(!text[at..sentence.start].chars().any(char::is_alphanumeric));
                at = sentence.end;
            }
            prop_assert!(!text[at..].chars().any(char::is_alphanumeric));
        }

        #[test]
        fn no_sentence_is_longer_than_its_bound(count in 0_usize..3, blank: bool) {
            let text = (if blank { "word " } else { "word" }).repeat(count * 2_000);
            for sentence in sentences(&text) {
                prop_assert!(sentence.len() <= 2 * SENTENCE_BYTES + 8);
            }
        }
    }
}
