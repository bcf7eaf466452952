//! Who does what to whom: the acts of each sentence with the participants on both sides of them,
//! read from word order, the passive, prepositions and possessives by the phrases of `acts.txt` and
//! `acts_ru.txt`. A side that is not certain stays open, and an open side proves nothing.

mod english;
mod lexicon;
mod participants;
mod references;
mod russian;

use crate::actors::ActorIndex;
use crate::reading::{Reading, Sentence};
use crate::text::{is_stop, stem};

pub(crate) use participants::{Participants, Who};
use references::Reference;

/// One side of an act.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Filler {
    /// The sentence does not name it.
    #[default]
    Absent,
    /// The sentence names a person or a thing that we cannot tell.
    Unknown,
    Known(Who),
}

impl Filler {
    pub(crate) fn known(&self) -> Option<&Who> {
        match self {
            Self::Known(who) => Some(who),
            _ => None,
        }
    }
}

/// One act with its two sides.
#[derive(Debug, Clone)]
pub(crate) struct Triple {
    /// The name of the act in the data file.
    pub(crate) act: &'static str,
    /// The one who acts, and the one acted on.
    pub(crate) sides: [Filler; 2],
    pub(crate) denied: bool,
    /// The first word and the word after the last, of the page.
    pub(crate) words: (usize, usize),
    /// Content words of the clause without its participants and its verb.
    pub(crate) context: Vec<String>,
}

/// The acts of a sentence.
pub(crate) fn of(
    page: &Reading<'_>,
    sentence: &Sentence,
    actors: &ActorIndex,
    participants: &Participants,
) -> Vec<Triple> {
    let references = references::of(page, sentence, actors, participants);
    if references.iter().all(|it| it.who.is_none()) {
        return Vec::new();
    }
    let mut list = english::triples(page, sentence, &references);
    list.extend(russian::triples(page, sentence, &references));
    list
}

/// The participants of a sentence that we can tell.
pub(crate) fn people(
    page: &Reading<'_>,
    sentence: &Sentence,
    actors: &ActorIndex,
    participants: &Participants,
) -> Vec<Who> {
    let all = references::of(page, sentence, actors, participants);
    all.into_iter().filter_map(|it| it.who).collect()
}

/// Content words of a range without the participants in it and without one word.
fn context(
    page: &Reading<'_>,
    (from, to): (usize, usize),
    references: &[Reference],
    verb: usize,
) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for at in from..to {
        let named = references.iter().any(|it| it.from <= at && at < it.to);
        let Some(word) = page.words.get(at).filter(|_| at != verb && !named) else { continue };
        let folded = word.fold();
        if is_stop(&folded) {
            continue;
        }
        let base = stem(&folded);
        if !list.contains(&base) {
            list.push(base);
        }
    }
    list
}

#[cfg(test)]
mod tests;
