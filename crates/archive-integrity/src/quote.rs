//! Quotes and their positions in a source. The comparison ignores blanks, the form of quotation
//! marks, case and hyphens at line ends; an ellipsis or a bracket splits a quote into parts.

use crate::Span;
use crate::text::{Word, words};

/// The longest quote, in bytes.
const QUOTE_MAX: usize = 4_000;

/// The texts inside quotation marks; apostrophes are not marks.
pub(crate) fn find(text: &str) -> Vec<Span> {
    let mut list = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (at, it) in text.char_indices() {
        match (open, it) {
            (Some((from, close)), _) if it == close || (it == '"' && close == '”') => {
                if at > from {
                    list.push(Span { start: from, end: at });
                }
                open = None;
            }
            (Some((from, _)), _) if at - from > QUOTE_MAX => open = None,
            (None, '"') => open = Some((at + 1, '"')),
            (None, '“' | '„') => open = Some((at + it.len_utf8(), '”')),
            (None, '«') => open = Some((at + it.len_utf8(), '»')),
            _ => {}
        }
    }
    list
}

/// The parts of a quote that the source must contain word for word.
pub(crate) fn parts(quote: &str) -> Vec<&str> {
    let mut list = Vec::new();
    for piece in quote.split("...").flat_map(|it| it.split('…')) {
        // A bracket contains a word of the writer; `[t]he` is a word with a changed letter.
        let mut rest = piece;
        while let Some((before, after)) = rest.split_once('[') {
            list.push(before);
            let Some((_, tail)) = after.split_once(']') else {
                rest = after;
                break;
            };
            rest = tail.trim_start_matches(char::is_alphanumeric);
        }
        list.push(rest);
    }
    list.retain(|it| it.chars().any(char::is_alphanumeric));
    list
}

/// The folded words of a page, for searching.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    pub(crate) words: Vec<(String, Span)>,
}

impl Folded {
    pub(crate) fn new(text: &str) -> Self {
        let list = words(text);
        let mut folded: Vec<(String, Span)> = Vec::with_capacity(list.len());
        let mut joins = false;
        for (at, it) in list.iter().enumerate() {
            let span = Span { start: it.start, end: it.end };
            match folded.last_mut().filter(|_| joins) {
                Some((word, before)) => {
                    word.push_str(&lower(it));
                    before.end = it.end;
                }
                None => folded.push((lower(it), span)),
            }
            let gap = list.get(at + 1).map_or("", |next| &text[it.end..next.start]);
            joins = gap.starts_with(['-', '\u{ad}']) && gap.contains('\n') && gap.len() < 8;
        }
        Self { words: folded }
    }
}

/// Unlike `fold`, keeps the possessive, because a quote is verbatim.
fn lower(word: &Word<'_>) -> String {
    word.text.to_lowercase().replace('’', "'")
}

pub(crate) fn folded(text: &str) -> Vec<String> {
    Folded::new(text).words.into_iter().map(|it| it.0).collect()
}

/// The similarity of two word sequences by their longest common subsequence: 0 to 1.
pub(crate) fn likeness(one: &[String], other: &[String]) -> f64 {
    const LIMIT: usize = 60;
    let (one, other) = (&one[..one.len().min(LIMIT)], &other[..other.len().min(LIMIT)]);
    let longest = one.len().max(other.len());
    if longest == 0 {
        return 0.0;
    }
    let mut row = vec![0_u16; other.len() + 1];
    for word in one {
        let mut diagonal = 0;
        for (at, that) in other.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if word == that { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    let common = row.last().copied().unwrap_or(0);
    f64::from(common) / f64::from(u16::try_from(longest).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_of_quotation_marks_are_found() {
        let text = "He said \"one\" and “two” and «три», it's \"open";
        let got: Vec<&str> = find(text).iter().map(|it| &text[it.start..it.end]).collect();
        assert_eq!(got, ["one", "two", "три"]);
    }

    #[test]
    fn an_ellipsis_and_a_bracket_split_a_quote() {
        assert_eq!(parts("the tenant … shall [not] pay"), ["the tenant ", " shall ", " pay"]);
        assert_eq!(parts("[T]he rent is due"), [" rent is due"]);
        assert_eq!(folded("agree-\nment’s"), ["agreement's"]);
    }
}
