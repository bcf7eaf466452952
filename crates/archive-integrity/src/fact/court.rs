//! Checks what an insight says about the case itself against the court facts of the source: who
//! wrote the opinion, which law governs, which court decided, who claims from whom, and whether a
//! date is that of filing or of service.

use super::{ClaimKind, FactCheck, SentencePair, Support};
use crate::Span;
use crate::court_facts::{self, CourtFact, is_same};
use crate::index::SourcePosition;
use crate::reading::Value;
use crate::text::{Word, clauses};

/// Words for a service of papers, and for the other acts that a date of a paper can mean.
const SERVED: [&str; 7] =
    ["served", "service", "вручил", "вручен", "получил", "получен", "delivered"];
const FILED: [&str; 17] = [
    "filed",
    "entered",
    "signed",
    "issued",
    "decided",
    "dated",
    "rendered",
    "docketed",
    "submitted",
    "lodged",
    "adopted",
    "подан",
    "подал",
    "вынес",
    "оглас",
    "изготов",
    "объявлен",
];
/// Verbs of a claimant, by their beginnings.
const CLAIMS_RU: [&str; 6] = ["взыскива", "требу", "суди", "хоч", "иск", "просит"];

fn is_any(list: &[&str], folded: &str) -> bool {
    list.iter().any(|it| {
        let russian = it.starts_with(|it: char| it > '\u{7f}');
        if russian { folded.starts_with(it) } else { folded == *it }
    })
}

impl FactCheck<'_, '_, '_> {
    pub(super) fn court_facts(&mut self, pair: &SentencePair<'_>) {
        let found = court_facts::read(self.reading, pair.sentence);
        let mut answers: Vec<(ClaimKind, Span, SourcePosition)> = Vec::new();
        for ours in &found {
            let fact = self.claimed_fact(pair, &ours.fact, ours.span);
            let kind = match fact {
                CourtFact::GoverningLaw | CourtFact::Incorporation | CourtFact::Court(_) => {
                    ClaimKind::Name
                }
                _ => ClaimKind::Party,
            };
            if let Some(place) = self.other_value(&fact, &ours.value) {
                answers.push((kind, ours.span, place));
            }
        }
        answers.extend(self.claimant(pair).map(|(span, place)| (ClaimKind::Party, span, place)));
        answers.extend(self.served(pair).map(|(span, place)| (ClaimKind::Date, span, place)));
        for (kind, span, place) in answers {
            self.push(kind, span, (Support::Contradicted, Some(place)));
        }
    }

    /// The fact that a judge's name states in a claim: the clause of the name shows the act.
    fn claimed_fact(&self, pair: &SentencePair<'_>, fact: &CourtFact, span: Span) -> CourtFact {
        let judge = matches!(
            fact,
            CourtFact::Judge | CourtFact::Author | CourtFact::SeparateOpinion | CourtFact::Dissent
        );
        if !judge {
            return fact.clone();
        }
        let parts = clauses(self.reading.text, self.reading.words_of(pair.sentence));
        let own = parts.iter().find(|it| it.iter().any(|it| it.start == span.start));
        let clause: Vec<String> =
            own.map(|it| it.iter().map(Word::fold).collect()).unwrap_or_default();
        let has = |list: &str| clause.iter().any(|it| list.split(' ').any(|word| word == it));
        let russian = self.reading.slice(span).starts_with(|it: char| it > '\u{7f}');
        if russian {
            return CourtFact::Presiding;
        }
        if has("separately concurred concurring concurrence") || has("result") {
            CourtFact::SeparateOpinion
        } else if has("dissented dissenting dissents dissent") {
            CourtFact::Dissent
        } else if has("wrote writing authored delivered") {
            CourtFact::Author
        } else {
            CourtFact::Judge
        }
    }

    /// The place of another value where the source states the fact and never with ours.
    fn other_value(&self, fact: &CourtFact, value: &str) -> Option<SourcePosition> {
        let facts = &self.index.court_facts;
        let states = |fact: &CourtFact| facts.of(fact).any(|it| is_same(it.0, value));
        if states(fact) {
            return None;
        }
        match fact {
            // A judge who only sat is no rival of another one.
            CourtFact::Judge | CourtFact::Claimant | CourtFact::Respondent => return None,
            // The presiding judge may be named as a judge elsewhere in the source.
            CourtFact::Presiding if states(&CourtFact::Judge) => return None,
            // Where several judges wrote, or none of the named ones is known, the role is open.
            CourtFact::Author | CourtFact::SeparateOpinion | CourtFact::Dissent => {
                let all = [
                    CourtFact::Judge,
                    CourtFact::Author,
                    CourtFact::SeparateOpinion,
                    CourtFact::Dissent,
                ];
                let mut known = all.iter().any(states);
                known |= self.index.word(value).is_none();
                if !known {
                    return None;
                }
            }
            _ => {}
        }
        facts.of(fact).next().map(|it| it.1)
    }

    /// «А взыскивает с Б», where the source has Б as the claimant.
    fn claimant(&self, pair: &SentencePair<'_>) -> Option<(Span, SourcePosition)> {
        let words = self.reading.words_of(pair.sentence);
        let verb = words.iter().position(|it| is_any(&CLAIMS_RU, &it.fold()))?;
        let verb = &words[verb];
        let names = || {
            self.reading.marks_of(pair.sentence).iter().filter_map(|it| match &it.value {
                Value::Name { tokens, .. } => Some((tokens, it.span)),
                _ => None,
            })
        };
        let facts = &self.index.court_facts;
        let holds = |fact: &CourtFact, tokens: &[String]| {
            let mut all = facts.of(fact);
            all.find(|it| tokens.iter().any(|token| is_same(it.0, token))).map(|it| it.1)
        };
        let agent = names().rfind(|it| it.1.end <= verb.start)?;
        let patient = names().find(|it| it.1.start >= verb.end)?;
        let swapped = holds(&CourtFact::Respondent, agent.0);
        let other = holds(&CourtFact::Claimant, patient.0);
        let own = holds(&CourtFact::Claimant, agent.0);
        let place = swapped.or(other).filter(|_| own.is_none())?;
        Some((agent.1, place))
    }

    /// A date of service here that is only a date of filing in the source, or the reverse.
    fn served(&self, pair: &SentencePair<'_>) -> Option<(Span, SourcePosition)> {
        let acts = |words: &[Word<'_>]| {
            let folded: Vec<String> = words.iter().map(Word::fold).collect();
            let has = |list: &[&str]| {
                folded.iter().enumerate().any(|(at, it)| {
                    // «Served as president».
                    let office = folded.get(at + 1).is_some_and(|next| next == "as");
                    is_any(list, it) && !office
                })
            };
            (has(&SERVED), has(&FILED))
        };
        let parts = clauses(self.reading.text, self.reading.words_of(pair.sentence));
        let marks = self.reading.marks_of(pair.sentence);
        let dates = marks.iter().filter(|it| matches!(it.value, Value::Date { .. })).count();
        for mark in marks {
            let Value::Date { date, .. } = mark.value else { continue };
            date.day?;
            let holds = |it: &&&[Word<'_>]| {
                it.first().is_some_and(|it| it.start <= mark.span.start)
                    && it.last().is_some_and(|it| mark.span.start < it.end)
            };
            let Some(clause) = parts.iter().find(holds) else { continue };
            // A date within commas, «On May 4, 2020, it was served», takes the whole sentence.
            let (serves, files) = match acts(clause) {
                (false, false) if dates == 1 => acts(self.reading.words_of(pair.sentence)),
                found => found,
            };
            if serves == files {
                continue;
            }
            let mut other = None;
            let mut same = false;
            for place in self.index.dates(date).iter().take(64) {
                let (page, there) = self.index.sentence(place.sentence);
                let (served, filed) = acts(page.words_of(there));
                same |= (serves && served) || (files && filed) || !(served || filed);
                other = other.or(Some(*place));
            }
            if let Some(place) = other.filter(|_| !same) {
                return Some((mark.span, place));
            }
        }
        None
    }
}
