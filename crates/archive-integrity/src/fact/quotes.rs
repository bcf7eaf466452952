//! Checks quotes against the source, and marks the claims that a verbatim quote supports.

use super::{CLAIMS_MAX, ClaimKind, FactCheck, Support};
use crate::index::{Phrase, SourcePosition};
use crate::reading::Sentence;
use crate::{Span, quote};

/// A shorter quote may be out of context, so the claims inside it are checked as well.
const LONG_WORDS: usize = 6;
/// With at most this many words around it, a sentence only introduces its quote.
const FRAME_WORDS: usize = 4;

/// Bytes of the page on either side of a similar passage in which the letters are looked for.
const AROUND_BYTES: usize = 200;

impl FactCheck<'_, '_, '_> {
    pub(super) fn quotes(&mut self) {
        for span in self.reading.quotes.iter().take(CLAIMS_MAX) {
            let text = self.reading.slice(*span);
            if self.is_declined(text) {
                continue;
            }
            let answer = self.quoted(text);
            if answer.0 == Support::Supported && quote::folded(text).len() >= LONG_WORDS {
                self.settled.push(*span);
            }
            self.push(ClaimKind::Quote, *span, answer);
        }
    }

    /// A Russian name in quotation marks, «Вала» for «Вал», is checked as a name.
    fn is_declined(&self, text: &str) -> bool {
        let words = crate::text::words(text);
        let russian = |it: &str| it.chars().all(|it| matches!(it, 'а'..='я'));
        let known = |it: &crate::text::Word<'_>| {
            let folded = it.fold();
            let base = crate::text::stem(&folded);
            russian(&folded)
                && (self.index.has_stem(&base) || self.index.names(&folded).next().is_some())
        };
        words.len() <= 4
            && words.first().is_some_and(|it| it.is_capital())
            && words.iter().all(known)
    }

    pub(super) fn quoted(&self, text: &str) -> (Support, Option<SourcePosition>) {
        let mut answer = (Support::NotFound, None);
        for part in quote::parts(text) {
            match self.index.phrase(&quote::folded(part)) {
                Phrase::Exact(place) => answer = (Support::Supported, Some(place)),
                Phrase::Near(place) if self.has_letters(place, part) => {
                    answer = (Support::Supported, Some(place));
                }
                Phrase::Near(place) => return (Support::Contradicted, Some(place)),
                Phrase::Absent => return (Support::NotFound, None),
            }
        }
        answer
    }

    /// Whether the letters of a quote stand at a place, from the start of a word or of a line: a
    /// quote may begin inside a word that the page hyphenates.
    fn has_letters(&self, place: SourcePosition, quote: &str) -> bool {
        let text = self.index.pages[place.page].text;
        let mut from = place.span.start.saturating_sub(AROUND_BYTES);
        let mut to = (place.span.end + AROUND_BYTES).min(text.len());
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        while !text.is_char_boundary(to) {
            to += 1;
        }
        let (mut letters, mut opens) = (String::new(), Vec::new());
        let mut before = ' ';
        for it in text.get(from..to).unwrap_or_default().chars() {
            for folded in it.to_lowercase().filter(|it| it.is_alphanumeric()) {
                letters.push(folded);
                opens.resize(letters.len(), !before.is_alphanumeric());
            }
            before = it;
        }
        let sought: String =
            quote.chars().flat_map(char::to_lowercase).filter(|it| it.is_alphanumeric()).collect();
        letters.match_indices(&sought).any(|(at, _)| opens.get(at) == Some(&true))
    }

    /// Whether the words are inside a long quote that the source contains.
    pub(super) fn is_settled(&self, span: Span) -> bool {
        let after = self.settled.partition_point(|it| it.start <= span.start);
        after.checked_sub(1).is_some_and(|at| span.end <= self.settled[at].end)
    }

    /// Whether a sentence is such a quote with hardly any other word.
    pub(super) fn only_quotes(&self, sentence: &Sentence) -> bool {
        let words = self.reading.words_of(sentence);
        let own = words
            .iter()
            .filter(|it| !self.is_settled(Span { start: it.start, end: it.end }))
            .count();
        own < words.len() && own <= FRAME_WORDS
    }
}
