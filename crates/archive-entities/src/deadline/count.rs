//! Finds the day of a deadline's anchor. A day counts only if the text says that this very thing
//! happened on it; a deadline with no such day, or with several, stays open.

use jiff::civil::Date;

use super::anchor::{self, AnchorAct, AnchorWords};
use super::calendar;
use crate::chronology::{CaseEvent, Deadline, Due, EventKind, Precision, UncountedReason};
use crate::entity::Ground;
use crate::event::FULL_TEXT;
use crate::paper::Paper;

/// Most events that are searched for one anchor.
const EVENTS_MAX: usize = 400;

/// The day of an anchor: its event, and whether it is certain that the event is the anchor.
type AnchorDay = Result<(usize, bool), UncountedReason>;

/// The dated events of a document, with the words around each date.
pub(crate) struct Anchors<'a, 't> {
    events: &'a [CaseEvent<'t>],
    /// The clause of each event, in lower case.
    clauses: &'a [String],
    paper: &'a Paper,
}

fn says(clause: &str, word: &str) -> bool {
    clause.split(' ').any(|it| {
        if word.is_ascii() {
            it == word || it.strip_suffix('s') == Some(word)
        } else {
            it.starts_with(word)
        }
    })
}

fn says_any(clause: &str, words: &[&str]) -> bool {
    words.iter().any(|it| says(clause, it))
}

/// Whether a clause names another paper than those of `allowed`.
fn names_other(clause: &str, allowed: &[&str]) -> bool {
    clause.split(' ').filter_map(anchor::noun).any(|it| !allowed.contains(&it))
}

impl<'a, 't> Anchors<'a, 't> {
    pub(crate) fn new(
        events: &'a [CaseEvent<'t>],
        clauses: &'a [String],
        paper: &'a Paper,
    ) -> Self {
        Self { events, clauses, paper }
    }

    /// Counts a deadline from the day of its anchor. `known` is the event that its own words name.
    /// An anchor that is not certain lowers the deadline's ground.
    pub(crate) fn count(
        &self,
        it: &mut Deadline<'t>,
        words: Option<&AnchorWords>,
        known: Option<(usize, bool)>,
    ) -> Result<Due, UncountedReason> {
        let unknown = Err(UncountedReason::AnchorUnknown);
        let (from, is_certain) = match (known, words) {
            (Some(known), _) => known,
            (None, Some(words)) => self.day_of(words)?,
            (None, None) => return unknown,
        };
        let Some(event) = self.events.get(from) else { return unknown };
        let private = words.is_some_and(|it| {
            it.qualifiers.contains(&"effective")
                || matches!(
                    it.noun,
                    "agreement"
                        | "contract"
                        | "lease"
                        | "note"
                        | "letter"
                        | "demand"
                        | "accident"
                        | "претензи"
                        | "письм"
                        | "договор"
                        | "соглашени"
                        | "требовани"
                )
        });
        let rule = self.paper.rule(!private);
        let counted = calendar::count(event.when.from, it.count, it.unit, it.before, rule)
            .ok_or(UncountedReason::OutOfCalendar)?;
        let limit = if is_certain && !counted.doubtful { event.ground } else { Ground::Shape };
        it.ground = it.ground.min(limit).min(Ground::Label);
        Ok(Due { day: counted.day, counted: counted.counted, from, rule: Some(rule) })
    }

    fn day_of(&self, words: &AnchorWords) -> AnchorDay {
        if !words.known {
            return Err(UncountedReason::AnchorUnknown);
        }
        match words.act {
            AnchorAct::Service => self.service(words),
            AnchorAct::Receipt => self.receipt(words),
            AnchorAct::Filing => self.filing(words),
            AnchorAct::Mailing => self.done(words, &["mailed", "mailing"]),
            AnchorAct::Publication => self.done(words, &["published", "publication"]),
            AnchorAct::Issue if words.this => self.own(true),
            AnchorAct::Issue => self.done(words, &["issued", "issuance"]),
            AnchorAct::Signing => self.signing(words),
            AnchorAct::Entry | AnchorAct::None => self.paper_or_event(words),
        }
    }

    fn paper_or_event(&self, words: &AnchorWords) -> AnchorDay {
        if words.qualifiers.contains(&"effective") {
            return self.effective(words);
        }
        match words.noun {
            "hearing" | "trial" | "conference" | "deposition" | "mediation" | "argument"
            | "заседани" => self.hearing(words),
            "accident" => self.one(|at| self.is(at, EventKind::Incident), false),
            "agreement" | "contract" | "lease" | "договор" | "соглашени" => {
                self.agreement(words)
            }
            "решени" | "определени" | "постановлени" | "приговор" => {
                self.russian_act(words)
            }
            "" if words.this => self.own(true),
            "" => Err(UncountedReason::AnchorUnknown),
            noun if words.this && (self.paper.is(noun) || self.paper.kind.is_none()) => {
                self.own_decision(words.act)
            }
            _ if words.this => Err(UncountedReason::AnchorUnknown),
            "order" | "decree" | "opinion" | "decision" | "ruling" | "award" | "judgment" => {
                self.decision(words)
            }
            _ => Err(UncountedReason::AnchorUnknown),
        }
    }

    fn is(&self, at: usize, kind: EventKind) -> bool {
        self.events.get(at).is_some_and(|it| it.kind == kind)
    }

    fn clause(&self, at: usize) -> &str {
        self.clauses.get(at).map(String::as_str).unwrap_or_default()
    }

    /// The only day of the events that fit.
    fn one(&self, fits: impl Fn(usize) -> bool, is_certain: bool) -> AnchorDay {
        let mut found: Option<(Date, usize)> = None;
        for (at, it) in self.events.iter().enumerate().take(EVENTS_MAX) {
            if it.when.precision != Precision::Day || it.kind == EventKind::Deadline || !fits(at) {
                continue;
            }
            match found {
                Some((day, _)) if day != it.when.from => {
                    return Err(UncountedReason::AnchorAmbiguous);
                }
                None => found = Some((it.when.from, at)),
                _ => {}
            }
        }
        found.map(|it| (it.1, is_certain)).ok_or(UncountedReason::AnchorUnknown)
    }

    /// The day of the paper itself. A letter has it at its head, before any other.
    fn own(&self, is_certain: bool) -> AnchorDay {
        let dated = |at: usize| self.is(at, EventKind::Dated);
        if matches!(self.paper.kind, Some("letter" | "e-mail")) {
            let first = (0..self.events.len()).find(|at| dated(*at));
            return first.map(|it| (it, is_certain)).ok_or(UncountedReason::AnchorUnknown);
        }
        self.one(dated, is_certain)
    }

    /// The day of this order: of its entry where that is said, otherwise of its signature, which
    /// may be earlier than the entry.
    fn own_decision(&self, act: AnchorAct) -> AnchorDay {
        let entered = |at: usize| {
            self.is(at, EventKind::Dated) && says_any(self.clause(at), &["entered", "enter"])
        };
        let decided = |at: usize| says(self.clause(at), "decided");
        if act == AnchorAct::None
            && let Ok(found) = self.one(decided, true)
        {
            return Ok(found);
        }
        if act == AnchorAct::Entry {
            return self.one(entered, true).or_else(|why| match why {
                UncountedReason::AnchorUnknown => self.own(false),
                _ => Err(why),
            });
        }
        self.own(true)
    }

    /// Another order or judgment, whose entry the text gives a day for.
    fn decision(&self, words: &AnchorWords) -> AnchorDay {
        const ENTERED: [&str; 6] = ["entered", "issued", "dated", "filed", "decided", "rendered"];
        let fits = |at: usize| {
            let clause = self.clause(at);
            let kind = matches!(
                self.events.get(at).map(|it| it.kind),
                Some(EventKind::Order | EventKind::Judgment | EventKind::Filed)
            );
            kind && says(clause, words.noun) && says_any(clause, &ENTERED)
        };
        // The paper is such a decision too, so `the order` may be this one or the other.
        match self.one(fits, true) {
            Ok(_) if self.paper.is(words.noun) => Err(UncountedReason::AnchorAmbiguous),
            found => found,
        }
    }

    /// The day of a Russian act: that of its full text where the paper gives it.
    fn russian_act(&self, words: &AnchorWords) -> AnchorDay {
        if !self.paper.is(words.noun) {
            return Err(UncountedReason::AnchorUnknown);
        }
        let whole = |at: usize| {
            self.events.get(at).is_some_and(|it| it.subject.as_deref() == Some(FULL_TEXT))
                && says_any(self.clause(at), &["изготовлен", "мотивированн", "окончательн"])
        };
        match self.one(whole, true) {
            // The full text is later than the act that is read out.
            Err(UncountedReason::AnchorUnknown) if words.whole => {
                Err(UncountedReason::AnchorUnknown)
            }
            Err(UncountedReason::AnchorUnknown) => self.own(true),
            found => found,
        }
    }

    fn service(&self, words: &AnchorWords) -> AnchorDay {
        const PLEADINGS: [&str; 4] = ["summons", "complaint", "petition", ""];
        // The act must be told as done: `was served`, `date of service`, not `within 15 days of service`.
        let served = |at: usize| {
            let clause = self.clause(at);
            let done = says(clause, "served")
                || says(clause, "service")
                    && says_any(clause, &["made", "effected", "completed", "accepted", "date"]);
            let future = ["shall", "must", "will", "may", "within", "be"];
            self.is(at, EventKind::Served) && done && !says_any(clause, &future)
        };
        if self.paper.is_russian() {
            return self.receipt(words);
        }
        let certain = |found: AnchorDay| {
            found.map(|(at, is_certain)| (at, is_certain && !says(self.clause(at), "mail")))
        };
        if words.this {
            let this = |at: usize| {
                served(at)
                    && (says_any(self.clause(at), &["foregoing", "this", "above", "certify"])
                        || says(self.clause(at), words.noun))
            };
            return certain(self.one(this, true));
        }
        let named = |at: usize| served(at) && says(self.clause(at), words.noun);
        if !words.noun.is_empty() {
            let found = certain(self.one(named, true));
            let pleading = PLEADINGS.contains(&words.noun);
            if !matches!(found, Err(UncountedReason::AnchorUnknown)) || !pleading {
                return found;
            }
            let plain = |at: usize| served(at) && !names_other(self.clause(at), &PLEADINGS);
            return certain(self.one(plain, true));
        }
        certain(self.one(served, true))
    }

    /// Receipt of this very paper is never in the paper.
    fn receipt(&self, words: &AnchorWords) -> AnchorDay {
        const WORDS: [&str; 6] = ["received", "receipt", "получил", "получен", "вручен", "вручил"];
        if words.this || words.noun.is_empty() {
            return Err(UncountedReason::AnchorUnknown);
        }
        let fits =
            |at: usize| says(self.clause(at), words.noun) && says_any(self.clause(at), &WORDS);
        self.one(fits, true)
    }

    fn filing(&self, words: &AnchorWords) -> AnchorDay {
        let filed = |at: usize| self.is(at, EventKind::Filed);
        if words.noun.is_empty() || words.this {
            // The clerk's stamp: `FILED: March 3, 2024`.
            let stamp = |at: usize| filed(at) && self.clause(at).starts_with("filed");
            return self.one(stamp, words.this);
        }
        let fits = |at: usize| {
            let clause = self.clause(at);
            (filed(at) || says(clause, "filed")) && says(clause, words.noun)
        };
        self.one(fits, true)
    }

    /// A clause that has the paper and one of the words for what happened to it.
    fn done(&self, words: &AnchorWords, verbs: &[&str]) -> AnchorDay {
        let noun =
            |at: usize| words.noun.is_empty() || words.this || says(self.clause(at), words.noun);
        let fits = |at: usize| says_any(self.clause(at), verbs) && noun(at);
        self.one(fits, !words.noun.is_empty() && !words.this)
    }

    fn signing(&self, words: &AnchorWords) -> AnchorDay {
        if words.noun.is_empty() && !words.this {
            return Err(UncountedReason::AnchorUnknown);
        }
        self.agreement(words)
    }

    /// The day of this agreement, or of the only one that the paper is about.
    fn agreement(&self, words: &AnchorWords) -> AnchorDay {
        const MADE: [&str; 9] = [
            "made",
            "entered",
            "dated",
            "executed",
            "signed",
            "this",
            "заключен",
            "подписан",
            "от",
        ];
        let made = |at: usize| {
            let clause = self.clause(at);
            self.is(at, EventKind::Agreement)
                && !says_any(clause, &["amended", "amendment", "effective", "expire", "prior"])
                && (says(clause, words.noun) || words.noun.is_empty())
                && says_any(clause, &MADE)
        };
        let of_paper = self.paper.kind == Some("contract");
        if words.this && !of_paper && self.paper.kind.is_some() {
            return Err(UncountedReason::AnchorUnknown);
        }
        if !of_paper {
            // An agreement that is only spoken of: `the date of the Agreement`.
            return self.one(made, false);
        }
        if !words.this && words.act == AnchorAct::None {
            return Err(UncountedReason::AnchorUnknown);
        }
        let own = |at: usize| self.is(at, EventKind::Dated) || made(at);
        self.one(own, true)
    }

    /// The day that the paper calls effective.
    fn effective(&self, words: &AnchorWords) -> AnchorDay {
        let fits = |at: usize| {
            let clause = self.clause(at);
            says(clause, "effective") && !says_any(clause, &["plan", "amendment", "law"])
        };
        if words.noun.is_empty() || words.this {
            return self.one(fits, true);
        }
        Err(UncountedReason::AnchorUnknown)
    }

    /// The hearing that the words name; of several only the one with their qualifiers.
    fn hearing(&self, words: &AnchorWords) -> AnchorDay {
        let own = self.own(true).ok().and_then(|it| self.events.get(it.0)).map(|it| it.when.from);
        let fits = |at: usize| {
            let clause = self.clause(at);
            let ahead =
                self.events.get(at).is_some_and(|it| own.is_none_or(|own| own < it.when.from));
            self.is(at, EventKind::Hearing)
                && says(clause, words.noun)
                && ahead
                && words.qualifiers.iter().all(|it| says(clause, it))
        };
        self.one(fits, true)
    }
}
