//! The clauses of a sentence as content words, and whether two clauses say the same or the opposite.

use crate::Span;
use crate::holding::{Polarity, is_opposed};
use crate::reading::{Reading, Sentence};
use crate::text::{Word, clauses, is_stop, stem};

/// The share of common words from which two clauses are about the same thing.
const SAME_CLAUSE: f64 = 0.75;
/// Words that introduce a statement and are no part of it.
const FRAME: &str = "court judge board panel find found hold conclud determin rul суд";

/// One clause: its content words, and the negated ones.
pub(super) struct ClauseStems {
    pub(super) stems: Vec<String>,
    negated: Vec<String>,
    pub(super) span: Span,
}

/// The most clauses compared in one sentence; a sentence with more is a list.
const CLAUSES_MAX: usize = 12;

pub(super) fn clause_stems(reading: &Reading<'_>, sentence: &Sentence) -> Vec<ClauseStems> {
    let words = reading.words_of(sentence);
    let all = clauses(reading.text, words).into_iter().take(CLAUSES_MAX);
    all.filter_map(|clause| {
        let (first, last) = (clause.first()?, clause.last()?);
        let span = Span { start: first.start, end: last.end };
        let stems: Vec<String> = clause
            .iter()
            .map(Word::fold)
            .filter(|it| !is_stop(it))
            .map(|it| stem(&it))
            .filter(|it| !FRAME.split(' ').any(|frame| frame == it))
            .collect();
        let Polarity { heads, .. } = &sentence.polarity;
        let inside = heads.iter().filter(|it| it.1.start >= span.start && it.1.end <= span.end);
        let negated = inside.map(|it| it.0.clone()).collect();
        (stems.len() >= 2).then_some(ClauseStems { stems, negated, span })
    })
    .collect()
}

impl ClauseStems {
    /// The similarity of two clauses, and whether both assert or both negate. `None` where they are
    /// about different things.
    pub(super) fn against(&self, other: &Self) -> Option<(f64, bool)> {
        let shared = self.stems.iter().filter(|it| other.stems.contains(it)).count();
        let opposed = |it: &String| {
            !other.stems.contains(it) && other.stems.iter().any(|at| is_opposed(it, at))
        };
        let opposed = self.stems.iter().any(opposed);
        let shared = shared + usize::from(opposed);
        let count = |it: usize| f64::from(u32::try_from(it).unwrap_or(u32::MAX));
        let shortest = self.stems.len().min(other.stems.len());
        let score = count(shared) / count(shortest.max(1));
        if shared < 2 || score < SAME_CLAUSE {
            return None;
        }
        let score = score + 0.01 * count(shared);
        if opposed {
            return Some((score, self.negated.is_empty() != other.negated.is_empty()));
        }
        match (self.negated.is_empty(), other.negated.is_empty()) {
            (true, true) | (false, false) => Some((score, true)),
            (false, true) => {
                self.negated.iter().any(|it| other.stems.contains(it)).then_some((score, false))
            }
            (true, false) => {
                other.negated.iter().any(|it| self.stems.contains(it)).then_some((score, false))
            }
        }
    }
}
