//! Decides whether the source confirms a sentence as a whole: its words stand together in one
//! passage, its act is there, and its parties have the same slots. Shared words alone do not.

use super::{ClaimKind, FactCheck, SentencePair, Support};
use crate::actors;
use crate::index::SourcePosition;
use crate::reading::{Reading, Sentence};
use crate::text::{Word, is_past, is_same_stem, is_stop, stem};
use crate::triples;

/// The weighted share of a sentence's words that one passage must have.
const CONFIRMED_SHARE: f64 = 0.5;
/// The share where the insight quotes the passage verbatim.
const QUOTED_SHARE: f64 = 0.3;
/// The weight of a word that stands only in the sentence before or after.
const NEIGHBOUR_WEIGHT: f64 = 0.7;
/// The weight of a word that the source lacks: it may be the writer's own.
const ABSENT_WEIGHT: f64 = 0.6;
/// Words that make a statement wider, and more words by which a passage confirms them.
const WIDE: [(&str, &str); 6] = [
    ("every each all каждый каждая каждое все всех", "any no whole любой любая"),
    ("always invariably never whenever всегда", "not no every any"),
    ("solely exclusively only лишь исключительно только", "alone sole exclusive unless until"),
    (
        "must shall required obliged obligated обязан обязана обязаны должен должна должны",
        "requires require will duty ordered directed agrees agreed keep keeps necessary to may \
         необходимо требует",
    ),
    ("entirely wholly completely fully полностью целиком", "whole full all entire полном"),
    ("unanimously unanimous единогласно", "all"),
];
/// Content words from which a sentence states something.
const STATES_FROM: usize = 2;

impl FactCheck<'_, '_, '_> {
    /// Adds the claim that the sentence makes as a whole, unless a part of it is already in doubt.
    /// `before` is the number of claims in front of this sentence, `parties` the verdict on its
    /// parties.
    pub(super) fn statement(
        &mut self,
        pair: &SentencePair<'_>,
        before: usize,
        parties: Option<Support>,
    ) {
        let own = &self.claims[before..];
        if own.iter().any(|it| it.support != Support::Supported) {
            return;
        }
        let decided = own.iter().any(|it| it.kind == ClaimKind::Holding);
        if pair.sentence.stems.len() < STATES_FROM {
            return;
        }
        let answer = match self.confirmed(pair, parties, decided) {
            Some(place)
                if self.is_wider(pair, place)
                    || self.is_open(pair, parties)
                    || self.is_denied(pair, place) =>
            {
                (Support::NotFound, None)
            }
            Some(place) => (Support::Supported, Some(place)),
            None => (Support::NotFound, None),
        };
        self.push(ClaimKind::Statement, pair.sentence.span, answer);
    }

    /// Whether our sentence says «every», «always» or «must», and the passage does not.
    fn is_wider(&self, pair: &SentencePair<'_>, place: SourcePosition) -> bool {
        let (page, there) = self.index.sentence(place.sentence);
        let theirs: Vec<String> = page.words_of(there).iter().map(Word::fold).collect();
        let has = |row: &str, word: &str| row.split(' ').any(|it| it == word);
        let words = self.reading.words_of(pair.sentence).iter().map(Word::fold);
        words.into_iter().any(|word| {
            let row = WIDE.iter().find(|row| has(row.0, &word));
            row.is_some_and(|row| !theirs.iter().any(|it| has(row.0, it) || has(row.1, it)))
        })
    }

    /// Whether our sentence sets one participant against another, while no act of the source has
    /// both on the same sides.
    fn is_open(&self, pair: &SentencePair<'_>, parties: Option<Support>) -> bool {
        if parties == Some(Support::Supported) {
            return false;
        }
        let index = self.index;
        let people = &index.participants;
        let mut ours = triples::people(self.reading, pair.sentence, &index.actors, people);
        ours.retain(|it| people.is_party(it));
        ours.iter()
            .enumerate()
            .any(|(at, one)| ours.iter().skip(at + 1).any(|other| people.is_opposed(one, other)))
    }

    /// Whether the passage negates a word that we assert.
    fn is_denied(&self, pair: &SentencePair<'_>, place: SourcePosition) -> bool {
        let (_, there) = self.index.sentence(place.sentence);
        let ours = &pair.sentence.polarity;
        ours.heads.is_empty()
            && there
                .polarity
                .heads
                .iter()
                .any(|it| pair.sentence.stems.iter().any(|one| is_same_stem(one, &it.0)))
    }

    fn confirmed(
        &self,
        pair: &SentencePair<'_>,
        parties: Option<Support>,
        decided: bool,
    ) -> Option<SourcePosition> {
        let stems = &pair.sentence.stems;
        let acts = self.acts_of(pair);
        let weigh = |it: &String| {
            let known = self.index.has_stem(it);
            self.index.weight(it) * if known { 1.0 } else { ABSENT_WEIGHT }
        };
        let total: f64 = stems.iter().map(weigh).sum();
        let mut best: Option<(f64, SourcePosition)> = None;
        let quoted = self.quoted_sentences.iter().copied();
        let near = pair.aligned.iter().chain(&pair.plain).map(|it| it.sentence);
        for id in near.chain(quoted) {
            let (page, there) = self.index.sentence(id);
            let around = self.index.neighbours(id);
            let has = |it: &String| there.stems.contains(it);
            let beside = |it: &String| around.iter().any(|at| at.stems.contains(it));
            let found = |it: &String| match (has(it), beside(it)) {
                (true, _) => 1.0,
                (_, true) => NEIGHBOUR_WEIGHT,
                _ => 0.0,
            };
            // What a party argues confirms nothing else.
            if argues(page, there) && !argues(self.reading, pair.sentence) {
                continue;
            }
            let share = stems.iter().map(|it| weigh(it) * found(it)).sum::<f64>() / total.max(0.1);
            let is_quoted = self.quoted_sentences.contains(&id);
            let floor = if is_quoted { QUOTED_SHARE } else { CONFIRMED_SHARE };
            let acted = decided
                || is_quoted
                || acts.is_empty()
                || acts.iter().any(|it| has(it) || beside(it));
            let placed = is_quoted || self.parties_fit(pair, parties, page, there);
            if share >= floor && acted && placed && best.is_none_or(|it| it.0 < share) {
                best = Some((share, self.index.place_in(id, there.span)));
            }
        }
        best.map(|it| it.1)
    }

    /// Whether the passage has our parties in the same order and voice, first agent first, or the
    /// check of the slots found them supported.
    fn parties_fit(
        &self,
        pair: &SentencePair<'_>,
        verdict: Option<Support>,
        page: &Reading<'_>,
        there: &Sentence,
    ) -> bool {
        if verdict == Some(Support::Supported) {
            return true;
        }
        let order = |page: &Reading<'_>, sentence: &Sentence| {
            let mut list: Vec<actors::Actor> = Vec::new();
            for (actor, _) in self.index.actors.parties(page, sentence) {
                if !list.contains(&actor) {
                    list.push(actor);
                }
            }
            list
        };
        let ours = order(self.reading, pair.sentence);
        let mut theirs = order(page, there);
        let first = theirs.first().copied();
        theirs.retain(|it| ours.contains(it));
        let same = ours == theirs && ours.first().copied() == first;
        let voice = |page: &Reading<'_>, it: &Sentence| {
            page.words_of(it).iter().any(|it| matches!(it.text, "by" | "от"))
        };
        ours.is_empty() || (same && voice(self.reading, pair.sentence) == voice(page, there))
    }

    /// The stems of the verbs of a sentence, without verbs of saying and «be».
    fn acts_of(&self, pair: &SentencePair<'_>) -> Vec<String> {
        let words = self.reading.words_of(pair.sentence).iter().map(Word::fold);
        words
            .filter(|it| is_past(it) && !is_stop(it) && !actors::is_saying(it))
            .map(|it| stem(&it))
            .collect()
    }
}

/// Whether a sentence gives what a party argues.
fn argues(page: &Reading<'_>, it: &Sentence) -> bool {
    let list = "argues argued argue contends contended contend alleges alleged asserts asserted \
        maintains maintained claims claimed insists insisted";
    let verbs = |it: &Word<'_>| {
        let folded = it.fold();
        list.split_ascii_whitespace().any(|it| it == folded)
            || ["утвержда", "полага", "довод"].iter().any(|it| folded.starts_with(it))
    };
    page.words_of(it).iter().any(verbs)
}
