//! Finds the words on the picture of a page that show a span of the page's text.
//!
//! The text and the words come from two readers, which cut words, hyphens, ligatures and columns
//! in different ways. Their letters are compared; words that OCR read differently are compared as
//! a sequence.

use std::ops::Range;

use super::letters::{Letters, letters};
use super::similar;

/// Equal spans of a page are distinguished by at most this many letters before and after them.
const CONTEXT_LETTERS_MAX: usize = 200;
/// A span of which a smaller share of its letters is found counts as not found.
const SHARE_MIN: f64 = 0.6;
/// A line of a span with fewer letters is not looked for alone.
const LINE_LETTERS_MIN: usize = 4;
/// At most this many lines of a span are looked for one by one.
const LINES_MAX: usize = 100;

/// The words that show a span.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct AlignedSpan {
    /// The indexes of the words, ascending.
    pub(super) words: Vec<usize>,
    /// The share of the span's letters that the words have.
    pub(super) share: f64,
}

/// Finds a span, in characters, of the text among the words.
pub(super) fn align(text: &str, span: &Range<u32>, words: &[&str]) -> AlignedSpan {
    let bytes = byte_range(text, span);
    let quote = text.get(bytes.clone()).unwrap_or_default();
    let wanted = SpanLetters {
        letters: letters(quote),
        before: letters(text.get(..bytes.start).unwrap_or_default()),
        after: letters(text.get(bytes.end..).unwrap_or_default()),
    };
    let page = Letters::of(words.iter().copied());
    if wanted.letters.is_empty() || page.text.is_empty() {
        return AlignedSpan::default();
    }
    if let Some(at) = wanted.find(&page.text) {
        let words = page.pieces(at, at + wanted.letters.len()).collect();
        return AlignedSpan { words, share: 1.0 };
    }
    let by_lines = align_lines(text, &bytes, &page, wanted.letters.len());
    let by_words = similar::align_words(quote, words);
    let best = if by_words.share > by_lines.share { by_words } else { by_lines };
    if best.share < SHARE_MIN { AlignedSpan::default() } else { best }
}

/// A span as letters, with the letters around it.
struct SpanLetters {
    letters: String,
    before: String,
    after: String,
}

impl SpanLetters {
    /// Where the letters stand on the page. Of several places the one with the same number as in
    /// the text is taken or, if there are more or fewer places in the text, the one with the most
    /// equal letters around it.
    fn find(&self, page: &str) -> Option<usize> {
        let places: Vec<usize> = page.match_indices(&self.letters).map(|it| it.0).collect();
        if places.len() < 2 {
            return places.first().copied();
        }
        let number = self.before.matches(&self.letters).count();
        let in_text = number + 1 + self.after.matches(&self.letters).count();
        if in_text == places.len() {
            return places.get(number).copied();
        }
        let context = |at: usize| {
            let (before, after) = (&page[..at], &page[at + self.letters.len()..]);
            let back =
                self.before.chars().rev().zip(before.chars().rev()).take(CONTEXT_LETTERS_MAX);
            let on = self.after.chars().zip(after.chars()).take(CONTEXT_LETTERS_MAX);
            back.take_while(|(a, b)| a == b).count() + on.take_while(|(a, b)| a == b).count()
        };
        // The first of equal ones.
        places.into_iter().rev().max_by_key(|at| context(*at))
    }
}

/// Finds the lines of a span one by one, for pages whose columns the two readers order differently.
fn align_lines(text: &str, span: &Range<usize>, page: &Letters, all: usize) -> AlignedSpan {
    let mut found = AlignedSpan::default();
    let (mut at, mut letters_found) = (span.start, 0);
    for line in text.get(span.clone()).unwrap_or_default().split_inclusive('\n').take(LINES_MAX) {
        let wanted = SpanLetters {
            letters: letters(line),
            before: letters(text.get(..at).unwrap_or_default()),
            after: letters(text.get(at + line.len()..).unwrap_or_default()),
        };
        at += line.len();
        if wanted.letters.chars().count() < LINE_LETTERS_MIN {
            continue;
        }
        if let Some(place) = wanted.find(&page.text) {
            found.words.extend(page.pieces(place, place + wanted.letters.len()));
            letters_found += wanted.letters.len();
        }
    }
    found.words.sort_unstable();
    found.words.dedup();
    found.share = letters_found as f64 / all.max(1) as f64;
    found
}

fn byte_range(text: &str, span: &Range<u32>) -> Range<usize> {
    let byte = |char: u32| text.char_indices().nth(char as usize).map_or(text.len(), |it| it.0);
    let start = byte(span.start);
    start..byte(span.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `quote` is marked with `[` and `]` in the text; the found words are joined with spaces.
    #[track_caller]
    fn check(marked: &str, words: &str, expected: &str) {
        let start = marked.chars().position(|it| it == '[').unwrap();
        let end = marked.chars().position(|it| it == ']').unwrap() - 1;
        let text = marked.replace(['[', ']'], "");
        let words: Vec<&str> = words.split_whitespace().collect();
        let span = u32::try_from(start).unwrap()..u32::try_from(end).unwrap();
        let found = align(&text, &span, &words);
        let found: Vec<&str> = found.words.iter().map(|at| words[*at]).collect();
        assert_eq!(found.join(" "), expected, "{marked}");
    }

    #[test]
    fn a_span_is_found_through_hyphens_ligatures_and_other_cuts() {
        check("The [motion] is denied.", "The motion is denied.", "motion");
        check("the [defendant shall] pay", "the de- fendant shall pay", "de- fendant shall");
        check("the [de-\nfendant] shall", "the defendant shall", "defendant");
        check("an [efficient filing] of", "an eﬃcient ﬁling of", "eﬃcient ﬁling");
        check("[17 U.S.C. § 101] is", "17 U. S. C. §101 is", "17 U. S. C. §101");
        check("с [Воробьёва В.В.] взыскать", "с Воробьева В.В. взыскать", "Воробьева В.В.");
        check("to pay [$50,000] now", "to pay $50,000 now", "$50,000");
    }

    #[test]
    fn of_equal_spans_the_right_one_is_marked() {
        let words: Vec<&str> = "Smith sued Jones and Smith won".split(' ').collect();
        let text = "Smith sued Jones and Smith won";
        assert_eq!(align(text, &(0..5), &words).words, [0]);
        assert_eq!(align(text, &(21..26), &words).words, [4]);
        // The picture has a running head that the text lacks.
        let more: Vec<&str> = "Smith Smith sued Jones and Smith won".split(' ').collect();
        assert_eq!(align(text, &(0..5), &more).words, [1]);
        assert_eq!(align(text, &(21..26), &more).words, [5]);
    }

    #[test]
    fn columns_in_another_order_are_found_line_by_line() {
        check(
            "[JOHN SMITH, Case No. 24\nPlaintiff, Judge Roe\n]v.",
            "JOHN SMITH, Plaintiff, v. Case No. 24 Judge Roe",
            "JOHN SMITH, Case No. 24 Judge Roe",
        );
        check(
            "x [shall deliver the goods\nwithin thirty days] y",
            "within thirty days y x shall deliver the goods",
            "within thirty days shall deliver the goods",
        );
    }

    #[test]
    fn words_that_ocr_read_differently_are_found_in_sequence() {
        check(
            "the [Defendant failed to pay the invoice of March] 1",
            "the Defendant faiied to pay thc invoice of March 1",
            "Defendant faiied to pay thc invoice of March",
        );
        check("the [Defendant failed to pay] it", "quite another page of words", "");
        check("a [—] b", "a — b", "");
        check("a [b]", "", "");
    }

    #[test]
    fn a_span_beyond_the_text_is_not_found() {
        assert_eq!(align("short", &(90..99), &["short"]), AlignedSpan::default());
    }
}
