//! The actors of one sentence, and the relations that its words state.

use super::tables::{BOTH, FILED, NOUNS};
use super::{Actor, Relation, class};
use crate::Span;
use crate::reading::{Reading, Sentence};
use crate::text::{Word, stem};

pub(super) struct SentenceActors<'a, 't> {
    pub(super) page: &'a Reading<'t>,
    pub(super) sentence: &'a Sentence,
    pub(super) actors: Vec<(usize, usize, Actor)>,
}

/// The most words between a verb and its actor.
const AGENT_REACH: usize = 14;
const PATIENT_REACH: usize = 4;

impl SentenceActors<'_, '_> {
    fn folded(&self, at: usize) -> String {
        let inside = at >= self.sentence.words.0 && at < self.sentence.words.1;
        self.page.words.get(at).filter(|_| inside).map(Word::fold).unwrap_or_default()
    }

    /// The last actors before the word; actors joined by «and» count together.
    fn before(&self, at: usize) -> Vec<Actor> {
        let after = self.actors.partition_point(|it| it.1 <= at);
        let mut list = Vec::new();
        let mut from = at;
        for (start, end, actor) in self.actors[..after].iter().rev().take(4) {
            let joined = from - end <= 1 && (from == *end || self.folded(*end) == "and");
            if (list.is_empty() && at - end > AGENT_REACH) || (!list.is_empty() && !joined) {
                break;
            }
            list.push(*actor);
            from = *start;
        }
        list
    }

    fn after(&self, at: usize, reach: usize) -> Option<Actor> {
        let next = self.actors.partition_point(|it| it.0 <= at);
        self.actors.get(next).filter(|it| it.0 - at <= reach).map(|it| it.2)
    }

    pub(super) fn relation(&self, at: usize) -> Option<Relation> {
        // `Winifred` ends like a verb but is a name.
        let named = self.actors.partition_point(|it| it.0 <= at).checked_sub(1);
        if named.and_then(|it| self.actors.get(it)).is_some_and(|it| at < it.1) {
            return None;
        }
        let folded = self.folded(at);
        let word = self.page.words.get(at)?;
        let span = Span { start: word.start, end: word.end };
        if let Some(found) = self.side(at, &folded, span).or_else(|| self.owned(at, &folded, span))
        {
            return Some(found);
        }
        if BOTH.contains(&folded.as_str()) && !self.is_verb(at) {
            return None;
        }
        let verb = self.is_verb(at) && folded.len() > 3 && !self.folded(at).ends_with("ing");
        let mut class = class(&folded).or_else(|| verb.then(|| stem(&folded)))?;
        if matches!(folded.as_str(), "filed" | "files" | "brought" | "commenced" | "brings") {
            class = self.filed(at).unwrap_or(class);
        }
        if matches!(folded.as_str(), "made" | "makes" | "make") {
            class = self.act_of_light_verb(at).unwrap_or(class);
        }
        let by = (1..=8).find(|it| self.folded(at + it) == "by").map(|it| at + it);
        let be = self.is_passive(at);
        let agent = by.filter(|it| be || it - at <= 2).and_then(|it| self.after(it, PATIENT_REACH));
        if let Some(agent) = agent {
            let patient = self.before(at).first().copied();
            return Some(Relation { class, agents: vec![agent], patient, span, denied: false });
        }
        if be {
            let patient = self.before(at).first().copied();
            return patient.map(|it| Relation {
                class,
                agents: Vec::new(),
                patient: Some(it),
                span,
                denied: false,
            });
        }
        if !self.has_subject(at) {
            return None;
        }
        // A second verb after «and» has the subject of the first.
        let second = at.checked_sub(1).is_some_and(|it| self.folded(it) == "and");
        let opened = self.clause(at);
        let first = self.actors.iter().find(|it| it.0 >= opened);
        let first = first.filter(|it| second && it.1 <= at);
        let agents = first.map_or_else(|| self.before(at), |it| vec![it.2]);
        let patient = self.after(at, PATIENT_REACH);
        // «I arrested Vale» names the patient, although not the agent.
        let first_person =
            at.checked_sub(1).is_some_and(|it| matches!(self.folded(it).as_str(), "i" | "we"));
        let known = !agents.is_empty() || (first_person && patient.is_some());
        known.then_some(Relation { class, agents, patient, span, denied: false })
    }

    /// The start of a word's clause: after the last «when», «that» or the like.
    fn clause(&self, at: usize) -> usize {
        let opens = |it: &usize| {
            matches!(
                self.folded(*it).as_str(),
                "when" | "while" | "because" | "although" | "after" | "that" | "which" | "where"
            )
        };
        (self.sentence.words.0..at).rev().find(opens).unwrap_or(self.sentence.words.0)
    }

    /// `Orr for Vale` and `bought it from Vale`: the actors on either side of the word.
    pub(super) fn between(&self, at: usize) -> Option<Relation> {
        let folded = self.folded(at);
        let word = self.page.words.get(at)?;
        let span = Span { start: word.start, end: word.end };
        let after = self.actors.partition_point(|it| it.1 <= at);
        let (from, end, agent) = *self.actors.get(after.checked_sub(1)?)?;
        let patient = self.after(at, 3)?;
        let near = match folded.as_str() {
            "for" => at - end <= 1,
            "from" => at - end <= AGENT_REACH && from == self.actors.first()?.0,
            _ => false,
        };
        (near && agent != patient).then_some(Relation {
            class: folded,
            agents: vec![agent],
            patient: Some(patient),
            span,
            denied: false,
        })
    }

    /// A form of «be» shortly before the word, unless «to» stands between them.
    fn is_passive(&self, at: usize) -> bool {
        let before = (1..=3).filter_map(|it| at.checked_sub(it)).map(|it| self.folded(it));
        for word in before {
            match word.as_str() {
                // «It was Vale that sued»: the verb is active.
                "to" | "that" | "who" | "which" => return false,
                "was" | "were" | "been" | "is" | "are" | "be" | "being" => return true,
                _ => {}
            }
        }
        false
    }

    /// In `a contract signed on` the word before is the patient, not the agent.
    fn has_subject(&self, at: usize) -> bool {
        let Some(last) = at.checked_sub(1).filter(|it| *it >= self.sentence.words.0) else {
            return false;
        };
        let gap = self.page.words[at].start - self.page.words[last].end;
        let named = self.actors.iter().any(|it| it.1 == at);
        let before = self.folded(last);
        let small = [
            "and",
            "also",
            "then",
            "never",
            "has",
            "had",
            "have",
            "did",
            "does",
            "not",
            "to",
            "who",
            "that",
            "which",
            "later",
            "first",
            "only",
            "will",
            "shall",
            "must",
            "may",
            "would",
            "could",
            "again",
            "but",
            "or",
            "stopped",
            "therefore",
            "thus",
            "he",
            "she",
            "it",
            "they",
            "i",
            "we",
        ];
        named || gap > 1 || before.ends_with("ly") || small.contains(&before.as_str())
    }

    /// After «to», a modal or a negation even such a word is a verb.
    fn is_verb(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|it| self.folded(it)).unwrap_or_default();
        // In «is not responsible» the following word describes a person and not an act.
        if before == "not" && self.is_passive(at) {
            return false;
        }
        matches!(
            before.as_str(),
            "to" | "did" | "not" | "will" | "shall" | "may" | "can" | "must" | "would"
        )
    }

    /// The act that «made a payment» stands for.
    fn act_of_light_verb(&self, at: usize) -> Option<String> {
        let meant = (1..=3).find_map(|it| match self.folded(at + it).as_str() {
            "payment" | "payments" => Some("pay"),
            "delivery" | "deliveries" => Some("deliver"),
            "purchase" => Some("buy"),
            "sale" => Some("sell"),
            "loan" => Some("lend"),
            "request" => Some("seek"),
            _ => None,
        });
        meant.map(str::to_owned)
    }

    /// The filed document: the noun after the word, or before it in the passive.
    fn filed(&self, at: usize) -> Option<String> {
        let around = (1..=6).map(|it| at + it).chain((2..=4).filter_map(|it| at.checked_sub(it)));
        let words = around.map(|it| self.folded(it));
        words.into_iter().find_map(|word| {
            let meant = FILED.iter().find(|it| it.0 == word).map(|it| it.1.to_owned());
            let base = stem(&word);
            meant.or_else(|| {
                let noun = NOUNS.iter().any(|it| stem(it) == base);
                noun.then(|| class(&word).unwrap_or(base))
            })
        })
    }

    /// The party for or against whom a decision was made.
    fn side(&self, at: usize, folded: &str, span: Span) -> Option<Relation> {
        let judged = |reach: usize| {
            (1..=reach).any(|it| {
                at.checked_sub(it).is_some_and(|at| {
                    matches!(
                        self.folded(at).as_str(),
                        "judgment" | "verdict" | "ruled" | "found" | "ruling" | "decided"
                    )
                })
            })
        };
        let class = match folded {
            "favor" | "favour" => "favor",
            "with" if self.is_siding(at) => "favor",
            "against" if judged(10) || self.is_siding(at) => "against",
            "for" if judged(3) => "favor",
            _ => return None,
        };
        let patient = self.after(at, 5)?;
        Some(Relation {
            class: class.to_owned(),
            agents: Vec::new(),
            patient: Some(patient),
            span,
            denied: false,
        })
    }

    fn is_siding(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|it| self.folded(it)).unwrap_or_default();
        matches!(before.as_str(), "sided" | "sides" | "siding")
    }

    /// `Vale's motion`, `the defendant's motion`.
    fn owned(&self, at: usize, folded: &str, span: Span) -> Option<Relation> {
        let base = stem(folded);
        NOUNS.iter().find(|it| stem(it) == base)?;
        let of = self.folded(at + 1) == "of";
        if let Some(actor) = self.after(at + 1, 2).filter(|_| of) {
            let class = class(folded).unwrap_or(base);
            return Some(Relation {
                class,
                agents: vec![actor],
                patient: None,
                span,
                denied: false,
            });
        }
        let after = self.actors.partition_point(|it| it.1 <= at);
        let (start, end, actor) = self.actors.get(after.checked_sub(1)?)?;
        // A person is the agent of the act for which the person is sued.
        let accused = start.checked_sub(1).is_some_and(|it| self.folded(it) == "against");
        if accused && at - end <= 3 && matches!(folded, "breach" | "negligence" | "fraud") {
            return Some(Relation {
                class: base,
                agents: vec![*actor],
                patient: None,
                span,
                denied: false,
            });
        }
        let owner = self.page.words.get(end.checked_sub(1)?)?;
        let tail = &self.page.text[owner.end..];
        let owns = owner.text.ends_with("'s")
            || owner.text.ends_with("’s")
            || (owner.text.ends_with('s') && tail.starts_with(['\'', '’']));
        let class = class(folded).unwrap_or(base);
        (owns && at - end <= 2).then(|| Relation {
            class,
            agents: vec![*actor],
            patient: None,
            span,
            denied: false,
        })
    }
}
