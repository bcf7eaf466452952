//! Decides whether the source confirms a sentence as a whole: its words stand together in one
//! passage, its act is there, and its parties have the same slots. Shared words alone do not.

use super::{ClaimKind, FactCheck, SentencePair, Support};
use crate::actors;
use crate::index::SourcePosition;
use crate::reading::{Reading, Sentence};
use crate::text::{Word, is_past, is_stop, stem};

/// The weighted share of a sentence's words that one passage must have.
const CONFIRMED_SHARE: f64 = 0.5;
/// The share where the insight quotes the passage verbatim.
const QUOTED_SHARE: f64 = 0.3;
/// The weight of a word that stands only in the sentence before or after.
const NEIGHBOUR_WEIGHT: f64 = 0.7;
/// The weight of a word that the source lacks: it may be the writer's own.
const ABSENT_WEIGHT: f64 = 0.6;
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
            Some(place) => (Support::Supported, Some(place)),
            None => (Support::NotFound, None),
        };
        self.push(ClaimKind::Statement, pair.sentence.span, answer);
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
