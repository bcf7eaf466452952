//! Cuts a snippet of about 34 words around the matches of a page, with the characters of each
//! match.

use std::ops::Range;

use crate::PageHit;
use crate::segment::ChunkStart;
use crate::snippet_text::{chars_after, chars_before, push_on_one_line};
use crate::tokens::token_spans;

const SNIPPET_WORDS: u32 = 34;
/// Words of a snippet before the first match.
const BEFORE_WORDS: u32 = 6;
/// Characters of a snippet, and of them before the first match: a word may be very long.
const SNIPPET_CHARS_MAX: usize = 500;
const BEFORE_CHARS_MAX: usize = 120;
const HIGHLIGHTS_MAX: usize = 20;

/// Words of a page that match a term of the query, by their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WordMatch {
    pub first: u32,
    pub last: u32,
    pub term: usize,
}

/// The part of a page that the snippet shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Window {
    from: u32,
    to: u32,
    /// The matches within the window, in order.
    matches: Vec<WordMatch>,
    /// The stored chunk in which the window begins, and where that chunk begins.
    pub chunk: u32,
    pub start: ChunkStart,
}

impl Window {
    /// The window with the most different terms; of equal ones the first on the page.
    pub(crate) fn best(mut matches: Vec<WordMatch>, chunks: &[ChunkStart]) -> Self {
        matches.sort_unstable();
        let room = SNIPPET_WORDS - BEFORE_WORDS;
        let (mut best, mut most) = (0, 0);
        for (at, first) in matches.iter().enumerate() {
            let here = matches[at..].iter().take_while(|it| it.last < first.first + room);
            let mut terms: Vec<usize> = here.map(|it| it.term).collect();
            terms.sort_unstable();
            terms.dedup();
            if terms.len() > most {
                (best, most) = (at, terms.len());
            }
        }
        let first = matches.get(best).map_or(0, |it| it.first);
        let from = first.saturating_sub(BEFORE_WORDS);
        let to = from + SNIPPET_WORDS;
        matches.retain(|it| it.first >= from && it.last <= to.max(first + 64));
        let after = chunks.partition_point(|chunk| chunk.word <= from);
        let start = after.checked_sub(1).map_or(ChunkStart::default(), |at| chunks[at]);
        Self { from, to, matches, chunk: u32::try_from(after).unwrap_or(u32::MAX), start }
    }
}

/// A part of a page and the matches in it. All positions count characters of the page's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// On one line, the matches between `**`.
    pub text: String,
    pub start: usize,
    pub end: usize,
    pub highlights: Vec<Highlight>,
}

/// Characters `start..end` of a page, and the text there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highlight {
    pub start: usize,
    pub end: usize,
    pub text: String,
}

impl PageHit {
    /// The snippet, from the text of the page beginning with [`Self::first_chunk`].
    pub fn snippet(&self, text: &str) -> Snippet {
        let (window, chunk) = (&self.window, self.chunk_start());
        let skipped = (chunk.byte as usize).min(text.len());
        let spans: Vec<(u32, Range<usize>)> = (chunk.word..)
            .zip(token_spans(text.get(skipped..).unwrap_or("")))
            .skip_while(|(at, _)| *at < window.from)
            .take_while(|(at, _)| *at <= window.to.max(window.from + 64))
            .map(|(at, span)| (at, span.start + skipped..span.end + skipped))
            .collect();
        let span = |at: u32| spans.iter().find(|it| it.0 == at).map(|it| it.1.clone());
        let matches: Vec<Range<usize>> = window
            .matches
            .iter()
            .filter_map(|it| Some(span(it.first)?.start..span(it.last)?.end))
            .collect();
        let matches = joined(matches);
        let first = matches.first().map_or(0, |it| it.start);
        let shown = spans.iter().take_while(|it| it.0 <= window.to).last();
        let from = spans.first().map_or(0, |it| it.1.start);
        let from = if window.from == 0 { 0 } else { from };
        let from = from.max(chars_before(text, first.max(from), BEFORE_CHARS_MAX));
        let is_end = spans.last().is_none_or(|it| it.0 < window.to);
        let to = if is_end { text.len() } else { shown.map_or(text.len(), |it| it.1.end) };
        let to = to.min(chars_after(text, from, SNIPPET_CHARS_MAX)).max(from);
        self.cut(text, from..to, &matches, chunk.chars as usize)
    }

    fn cut(
        &self,
        text: &str,
        part: Range<usize>,
        matches: &[Range<usize>],
        before: usize,
    ) -> Snippet {
        let chars = |at: usize| text[..at].chars().count();
        let mut shown = String::with_capacity(part.len() + 64);
        if part.start > 0 || self.window.chunk > 0 {
            shown.push('…');
        }
        let (mut at, mut highlights) = (part.start, Vec::new());
        for span in matches.iter().filter(|it| it.start >= part.start && it.end <= part.end) {
            push_on_one_line(&mut shown, &text[at..span.start]);
            shown.push_str("**");
            push_on_one_line(&mut shown, &text[span.clone()]);
            shown.push_str("**");
            at = span.end;
            if highlights.len() < HIGHLIGHTS_MAX {
                let (start, end) = (before + chars(span.start), before + chars(span.end));
                highlights.push(Highlight { start, end, text: text[span.clone()].to_owned() });
            }
        }
        push_on_one_line(&mut shown, &text[at..part.end]);
        if part.end < text.len() {
            shown.push('…');
        }
        let (start, end) = (before + chars(part.start), before + chars(part.end));
        Snippet { text: shown, start, end, highlights }
    }
}

/// Spans in order, those that overlap as one.
fn joined(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_unstable_by_key(|it| (it.start, it.end));
    let mut all: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match all.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => all.push(span),
        }
    }
    all
}
