//! Cuts a snippet of about 200 characters around the matches and marks them with `**`.

use std::ops::Range;

use crate::keywords::Term;
use archive_search::snippet_text::{chars_after, chars_before, push_on_one_line};
use archive_search::words::{IndexWord, words};

const SNIPPET_CHARS: usize = 200;
/// Characters before the first match.
const BEFORE_CHARS: usize = 60;

/// The part of the text with the most different terms; `None` if no term occurs.
pub(crate) fn snippet(text: &str, terms: &[Term]) -> Option<String> {
    let words: Vec<IndexWord> = words(text).collect();
    let matches = find(&words, terms);
    let first = best(text, &matches)?;
    let start = chars_before(text, first, BEFORE_CHARS);
    let end = chars_after(text, start, SNIPPET_CHARS).max(first);
    // Whole words, unless that would cut a match.
    let inside = words.iter().filter(|word| word.span.start >= start && word.span.end <= end);
    let mut ends = inside.map(|word| word.span.clone());
    let from = if start == 0 { 0 } else { ends.next().map_or(start, |it| it.start).min(first) };
    let to = if end == text.len() { end } else { ends.next_back().map_or(end, |it| it.end) };
    let to = to.max(from);
    let mut shown = String::with_capacity(to - from + 32);
    if from > 0 {
        shown.push('…');
    }
    let mut at = from;
    for span in joined(matches.iter().map(|it| &it.span)) {
        let (start, end) = (span.start.max(at), span.end.min(to));
        if start >= end {
            continue;
        }
        push_on_one_line(&mut shown, &text[at..start]);
        shown.push_str("**");
        push_on_one_line(&mut shown, &text[start..end]);
        shown.push_str("**");
        at = end;
    }
    push_on_one_line(&mut shown, &text[at..to]);
    if to < text.len() {
        shown.push('…');
    }
    Some(shown)
}

struct Match {
    term: usize,
    span: Range<usize>,
}

/// In the order of the text.
fn find(words: &[IndexWord], terms: &[Term]) -> Vec<Match> {
    let mut found = Vec::new();
    for at in 0..words.len() {
        for (term, wanted) in terms.iter().enumerate() {
            if let Some(count) = wanted.matches_at(words, at) {
                let span = words[at].span.start..words[at + count - 1].span.end;
                found.push(Match { term, span });
            }
        }
    }
    found
}

/// The start of the first window with the most different terms.
fn best(text: &str, matches: &[Match]) -> Option<usize> {
    let room = SNIPPET_CHARS - BEFORE_CHARS;
    let (mut counts, mut distinct, mut next) = ([0_u32; 32], 0_usize, 0);
    let (mut most, mut place) = (0, None);
    for (at, first) in matches.iter().enumerate() {
        let end = chars_after(text, first.span.start, room);
        while let Some(it) = matches.get(next).filter(|it| it.span.end <= end || next == at) {
            if let Some(count) = counts.get_mut(it.term) {
                distinct += usize::from(*count == 0);
                *count += 1;
            }
            next += 1;
        }
        if distinct > most {
            (most, place) = (distinct, Some(first.span.start));
        }
        if let Some(count) = counts.get_mut(first.term).filter(|count| **count > 0) {
            *count -= 1;
            distinct -= usize::from(*count == 0);
        }
    }
    place
}

/// Spans in order, those that touch or overlap as one.
fn joined<'a>(spans: impl Iterator<Item = &'a Range<usize>>) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match all.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => all.push(span.clone()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keywords::parse;

    #[track_caller]
    fn check(text: &str, keywords: &str, expected: Option<&str>) {
        let terms = parse(keywords).unwrap();
        assert_eq!(snippet(text, &terms).as_deref(), expected, "{keywords}");
    }

    #[test]
    fn matches_are_marked() {
        check(
            "The motions were\n\ndenied.",
            "motion deny",
            Some("The **motions** were **denied**."),
        );
        check("See 410 U.S. 113, 410.", "\"410 U.S. 113\"", Some("See **410 U.S. 113**, 410."));
        check("Договора нет", "договор", Some("**Договора** нет"));
        check("jurisdictional", "juris*", Some("**jurisdictional**"));
        check("a b a", "a \"a b\"", Some("**a b** **a**"));
        check("nothing here", "else", None);
        check("", "else", None);
    }

    #[test]
    fn the_window_with_the_most_terms_is_shown() {
        let text = format!("court {} court grants relief {}", "x ".repeat(300), "y ".repeat(300));
        let shown = snippet(&text, &parse("court relief").unwrap()).unwrap();
        assert!(shown.contains("**court** grants **relief**"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        let length = shown.chars().count();
        assert!((150..=215).contains(&length), "{length}");
    }

    #[test]
    fn a_match_longer_than_the_window_is_cut() {
        let text = "w ".repeat(500);
        let shown = snippet(&text, &parse(&format!("\"{}\"", "w ".repeat(120))).unwrap()).unwrap();
        assert!(shown.chars().count() <= 215, "{shown}");
    }
}
