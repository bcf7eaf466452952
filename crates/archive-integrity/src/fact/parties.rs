//! Checks the agent, the patient and their roles against the source: the same, swapped, or another
//! person in the same role.

use super::{ClaimKind, FactCheck, SentencePair, Support};
use crate::actors;
use crate::reading::{Reading, Sentence};
use crate::text::{Word, clauses, is_stop, stem};

/// Whether a sentence has «we» or «your client», so that the person is unknown.
fn is_personal(page: &Reading<'_>, sentence: &Sentence) -> bool {
    let people = ["i", "we", "our", "us", "my", "me", "you", "your", "he", "she"];
    page.words_of(sentence).iter().any(|it| people.contains(&it.fold().as_str()))
}

impl FactCheck<'_, '_, '_> {
    pub(super) fn roles(&mut self, pair: &SentencePair<'_>) {
        let actors = &self.index.actors;
        for (role, actor, span) in actors.roles_in(self.reading, pair.sentence) {
            let Some(holders) = actors.holders(role) else { continue };
            let support = match holders.contains(&actor) {
                true => Support::Supported,
                false if actors.has_other_role(actor, role) => Support::Contradicted,
                // Other holders of a role prove nothing about an actor without any role.
                false => continue,
            };
            let place = pair.best().map(|it| {
                let (_, there) = self.index.sentence(it.sentence);
                self.index.place_in(it.sentence, there.span)
            });
            self.push(ClaimKind::Party, span, (support, place));
        }
    }

    /// One party here, and only another one in the source sentence that says the same.
    pub(super) fn lone_party(&mut self, pair: &SentencePair<'_>) {
        let actors = &self.index.actors;
        let ours = actors.parties(self.reading, pair.sentence);
        let Some((actor, span)) = ours.first().copied() else { return };
        let Some(best) = pair.plain.first().filter(|it| it.score >= 0.35) else { return };
        if ours.iter().any(|it| it.0 != actor) {
            return;
        }
        let near = pair.plain.iter().filter(|it| it.score >= 0.7 * best.score);
        let mut rival = None;
        for it in near {
            let (page, there) = self.index.sentence(it.sentence);
            let theirs = actors.parties(page, there);
            let Some((other, at)) = theirs.first().copied() else { continue };
            let alone = theirs.iter().all(|it| it.0 == other) && !is_personal(page, there);
            if theirs.iter().any(|it| it.0 == actor) || !actors::comparable(actor, other) {
                return;
            }
            if alone && it.sentence == best.sentence {
                rival = Some(self.index.place_in(it.sentence, at));
            }
        }
        if rival.is_some() {
            self.push(ClaimKind::Party, span, (Support::Contradicted, rival));
        }
    }

    /// Two clauses with one party each, which the source has the other way round.
    pub(super) fn swapped_clauses(&mut self, pair: &SentencePair<'_>) {
        let actors = &self.index.actors;
        let ours = actors.parties(self.reading, pair.sentence);
        let words = self.reading.words_of(pair.sentence);
        let (mut found, mut same) = (None, None);
        for clause in clauses(self.reading.text, words).into_iter().take(12) {
            let (Some(first), Some(last)) = (clause.first(), clause.last()) else { continue };
            let mut inside =
                ours.iter().filter(|it| it.1.start >= first.start && it.1.end <= last.end);
            let (Some((actor, span)), None) = (inside.next(), inside.next()) else { continue };
            let own = clause.iter().filter(|it| it.start < span.start || it.end > span.end);
            let stems: Vec<String> =
                own.map(Word::fold).filter(|it| !is_stop(it)).map(|it| stem(&it)).collect();
            let near = self.index.align(&stems);
            let Some(best) = near.first().filter(|it| it.score >= 0.5 && stems.len() >= 2) else {
                continue;
            };
            let (page, there) = self.index.sentence(best.sentence);
            let theirs = actors.parties(page, there);
            let Some((other, at)) = theirs.first().copied() else { continue };
            if theirs.iter().any(|it| it.0 == *actor) {
                same = Some((*span, self.index.place_in(best.sentence, at)));
            }
            let alone = theirs.iter().all(|it| it.0 == other)
                && other != *actor
                && !is_personal(page, there);
            if alone && actors::comparable(*actor, other) && ours.iter().any(|it| it.0 == other) {
                found = Some((*span, self.index.place_in(best.sentence, at)));
            }
        }
        if let Some((span, place)) = found {
            self.push(ClaimKind::Party, span, (Support::Contradicted, Some(place)));
        } else if let Some((span, place)) = same {
            self.push(ClaimKind::Party, span, (Support::Supported, Some(place)));
        }
    }

    /// Whether the check of the agent reached a verdict.
    pub(super) fn relations(
        &mut self,
        pair: &SentencePair<'_>,
        slot_verdict: Option<Support>,
    ) -> bool {
        let is_supported = slot_verdict == Some(Support::Supported);
        let mut settled = false;
        for ours in self.index.actors.relations(self.reading, pair.sentence) {
            let Some(list) = self.index.relations.get(&ours.class) else { continue };
            // The text in quotation marks is another person's sentence.
            if self.reading.in_quote(ours.span.start) {
                continue;
            }
            // Counsel for one side is not counsel for the other.
            let taken = ours.class == "for" && list.iter().any(|it| it.0.agents == ours.agents);
            let support = list.iter().find(|(it, _)| it.agrees(&ours));
            if let Some((it, id)) = support {
                let place = self.index.place_in(*id, it.span);
                self.push(ClaimKind::Party, ours.span, (Support::Supported, Some(place)));
                settled = true;
                continue;
            }
            let conflict = list
                .iter()
                .filter(|(it, id)| {
                    let loose = matches!(it.class.as_str(), "from" | "for");
                    // What was not done by one was not done by another either.
                    it.denied == ours.denied
                        && ((!loose || pair.score_of(*id) > 0.0) && it.mirrors(&ours)
                            || (taken && it.patient == ours.patient)
                            || (!is_supported && pair.score_of(*id) >= 0.35 && it.conflicts(&ours)))
                })
                .max_by(|one, other| pair.score_of(one.1).total_cmp(&pair.score_of(other.1)));
            if let Some((_, id)) = conflict {
                let (_, there) = self.index.sentence(*id);
                let place = self.index.place_in(*id, there.span);
                self.push(ClaimKind::Party, ours.span, (Support::Contradicted, Some(place)));
                settled = true;
            }
        }
        settled
    }
}

impl actors::Relation {
    /// Whether the two share an agent, and also the patient where both name one.
    fn agrees(&self, other: &Self) -> bool {
        let agents = if self.agents.is_empty() || other.agents.is_empty() {
            self.agents.is_empty() && other.agents.is_empty()
                || (self.patient.is_some() && self.patient == other.patient)
        } else {
            other.agents.iter().any(|it| self.agents.contains(it))
        };
        let patients = match (self.patient, other.patient) {
            (Some(one), Some(two)) => one == two || !actors::comparable(one, two),
            _ => true,
        };
        agents && patients && self.denied == other.denied
    }

    /// The same two actors with swapped slots.
    fn mirrors(&self, other: &Self) -> bool {
        let turned =
            |one: &Self, two: &Self| one.patient.is_some_and(|it| two.agents.as_slice() == [it]);
        turned(self, other) && turned(other, self)
    }

    fn conflicts(&self, other: &Self) -> bool {
        // A court has many names.
        if other.agents.iter().any(|it| actors::is_court(*it)) {
            return false;
        }
        let agents = self.agents.first().zip(other.agents.first()).is_some_and(|(one, two)| {
            actors::comparable(*one, *two)
                && !other.agents.iter().any(|it| self.agents.contains(it))
        });
        let patients = self
            .patient
            .zip(other.patient)
            .is_some_and(|(one, two)| actors::comparable(one, two) && one != two);
        agents || patients
    }
}
