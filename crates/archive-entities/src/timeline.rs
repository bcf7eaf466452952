//! Turns dates into events, counts deadlines from them, and finds contradicting days.

use std::collections::BTreeMap;

use crate::chronology::{
    CaseEvent, Conflict, Deadline, Due, EventKind, Precision, UncountedReason,
};
use crate::date;
use crate::deadline::{self, AnchorWords, DeadlineMatch};
use crate::entity::Ground;
use crate::event;
use crate::paper::Paper;
use crate::sentence;
use crate::text::TokenText;
use crate::{CONFLICTS_MAX, DEADLINES_MAX, EVENTS_MAX, SENTENCE_TOKENS_MAX};

/// Most tokens of an event's clause on either side of its date.
const CLAUSE_TOKENS: usize = 30;

#[derive(Default)]
pub(crate) struct TimelineBuilder<'t> {
    pub(crate) events: Vec<CaseEvent<'t>>,
    pub(crate) deadlines: Vec<Deadline<'t>>,
    pub(crate) conflicts: Vec<Conflict>,
    pub(crate) truncated: bool,
    /// For each event, the words around its date, in lower case.
    clauses: Vec<String>,
    /// For each deadline, the words of its anchor and the event that its own sentence names.
    anchors: Vec<(Option<AnchorWords>, Option<NearEvent>)>,
}

/// The event that a deadline's own sentence names.
#[derive(Debug, Clone, Copy)]
enum NearEvent {
    /// It is counted from this event, certainly or not.
    From(usize, bool),
    /// Its last day is stated: «то есть не позднее 05.04.2024».
    Stated(usize),
    /// The text gives several anchors to choose from.
    Several,
}

impl<'t> TimelineBuilder<'t> {
    /// Reads one piece; `cited` marks the tokens of citations, whose dates are not events.
    pub(crate) fn read(&mut self, text: &TokenText<'t>, cited: &[bool]) {
        let starts = sentence::starts(text);
        let mut dates: Vec<(usize, date::DateMatch)> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let open = !cited.get(at).copied().unwrap_or_default();
            if let Some(found) = open.then(|| date::at(text, at)).flatten() {
                dates.push((at, found));
                at = found.end.max(at + 1);
            } else {
                at += 1;
            }
        }
        let first = self.events.len();
        // Which event each date became: some become two.
        let mut places = Vec::with_capacity(dates.len());
        for (place, (at, found)) in dates.iter().enumerate() {
            if self.events.len() >= EVENTS_MAX {
                self.truncated = true;
                break;
            }
            let before = place.checked_sub(1).and_then(|it| dates.get(it)).map_or(0, |it| it.1.end);
            let after = dates.get(place + 1).map_or(text.len(), |it| it.0);
            places.push(self.events.len());
            let (event, clause) = event_of(text, &starts, (before, after), *at, found);
            if event.kind == EventKind::Served && event::is_filed_too(text, *at) {
                self.events.push(CaseEvent { kind: EventKind::Filed, ..event.clone() });
                self.clauses.push(clause.clone());
            }
            self.events.push(event);
            self.clauses.push(clause);
        }
        debug_assert!(places.first().is_none_or(|it| *it == first));
        self.read_deadlines(text, &starts, &dates, &places);
    }

    fn read_deadlines(
        &mut self,
        text: &TokenText<'t>,
        starts: &[usize],
        dates: &[(usize, date::DateMatch)],
        places: &[usize],
    ) {
        let is_date = |at: usize| {
            let place = dates.binary_search_by_key(&at, |it| it.0).ok();
            place.and_then(|it| dates.get(it)).is_some_and(|it| is_day(&it.1))
        };
        for at in 0..text.len() {
            let Some(found) = deadline::at(text, at, is_date) else { continue };
            if self.deadlines.len() >= DEADLINES_MAX {
                self.truncated = true;
                break;
            }
            let DeadlineMatch { end, mut deadline, words, chooses } = found;
            let (first, last) = around(starts, at, end);
            deadline.sentence = text.mention(first, last);
            let near = near(text, (at, end), starts, dates, words.as_ref(), |it| {
                places.get(it).and_then(|it| self.events.get(*it)).map(|it| it.kind)
            });
            let near = match near {
                Some(NearEvent::From(it, certain)) => {
                    places.get(it).map(|it| NearEvent::From(*it, certain))
                }
                Some(NearEvent::Stated(it)) => places.get(it).map(|it| NearEvent::Stated(*it)),
                _ if chooses => Some(NearEvent::Several),
                _ => None,
            };
            self.deadlines.push(deadline);
            self.anchors.push((words, near));
        }
    }

    /// Counts the deadlines and looks for contradictions.
    pub(crate) fn finish(&mut self, paper: &Paper) {
        let anchors = deadline::Anchors::new(&self.events, &self.clauses, paper);
        for (it, (words, near)) in self.deadlines.iter_mut().zip(&self.anchors) {
            it.due = match near {
                Some(NearEvent::Several) => Err(UncountedReason::AnchorAmbiguous),
                Some(NearEvent::From(at, certain)) => {
                    anchors.count(it, words.as_ref(), Some((*at, *certain)))
                }
                Some(NearEvent::Stated(at)) => stated(it, &self.events, *at),
                None => anchors.count(it, words.as_ref(), None),
            };
        }
        self.conflicts = self.contradictions();
    }

    /// Events that happen once and for which the text gives two days. A text with several days of
    /// such an event speaks of several of them, so it is left alone, and so is one whose sentence
    /// says that it means another.
    fn contradictions(&self) -> Vec<Conflict> {
        let mut days: BTreeMap<(EventKind, &str), Vec<usize>> = BTreeMap::new();
        for (place, it) in self.events.iter().enumerate() {
            let Some(subject) = it.subject.as_deref() else { continue };
            if it.when.precision != Precision::Day || !happens_once(it.kind, subject) {
                continue;
            }
            let list = days.entry((it.kind, subject)).or_default();
            let known =
                list.iter().any(|at| self.events.get(*at).is_some_and(|e| e.when == it.when));
            // One event for each day suffices to show that the days differ.
            if !known && list.len() < 3 {
                list.push(place);
            }
        }
        let is_another = |at: &usize| self.events.get(*at).is_some_and(|it| names_another(it));
        let differing = days.into_iter().filter(|(_, list)| list.len() == 2);
        let differing = differing.filter(|(_, list)| !list.iter().any(is_another));
        differing
            .take(CONFLICTS_MAX)
            .map(|((kind, subject), events)| Conflict { kind, subject: subject.to_owned(), events })
            .collect()
    }
}

/// Whether a case has one such event: its first pleading is filed once. Hearings, orders and
/// decisions of several instances each have their own day.
fn happens_once(kind: EventKind, subject: &str) -> bool {
    match kind {
        EventKind::Filed => matches!(subject, "complaint" | "lawsuit" | "иск"),
        EventKind::Incident => true,
        EventKind::Agreement => matches!(subject, "agreement" | "lease" | "договор"),
        _ => false,
    }
}

/// Whether a sentence says that its event belongs to something else: another docket, another
/// court, another one of the kind.
fn names_another(event: &CaseEvent<'_>) -> bool {
    const WORDS: [&str; 24] = [
        "amended",
        "second",
        "another",
        "other",
        "prior",
        "earlier",
        "later",
        "separate",
        "related",
        "supplemental",
        "third-party",
        "renewed",
        "refiled",
        "re-filed",
        "no",
        "nos",
        "subsequent",
        "federal",
        "state",
        "№",
        "дополнительн",
        "встречн",
        "уточнен",
        "друг",
    ];
    let lower = event.sentence.quote.to_lowercase();
    let mut words = lower.split(|it: char| it.is_whitespace() || matches!(it, ',' | '.' | '('));
    words.any(|word| {
        WORDS.iter().any(|it| if it.is_ascii() { word == *it } else { word.starts_with(it) })
    })
}

fn is_day(date: &date::DateMatch) -> bool {
    date.when.precision == Precision::Day
}

/// The day that the text itself states as the last one.
fn stated(
    it: &mut Deadline<'_>,
    events: &[CaseEvent<'_>],
    from: usize,
) -> Result<Due, UncountedReason> {
    let event = events.get(from).ok_or(UncountedReason::AnchorUnknown)?;
    it.ground = event.ground.min(Ground::Label);
    Ok(Due { day: event.when.to, counted: event.when.to, from, rule: None })
}

/// The date that the deadline's own sentence names: the last day itself («то есть не позднее
/// 05.04.2024»), the day it is counted from (`30 days after March 3, 2024`, `within 7 days
/// thereafter`, `of the summons, which was issued on`), or the day on which the thing was handed
/// over whose receipt counts («вручила претензию … со дня её получения»).
fn near(
    text: &TokenText<'_>,
    (at, end): (usize, usize),
    starts: &[usize],
    dates: &[(usize, date::DateMatch)],
    words: Option<&AnchorWords>,
    kind: impl Fn(usize) -> Option<EventKind>,
) -> Option<NearEvent> {
    let next = dates.partition_point(|it| it.0 < at);
    let start = |token: usize| starts.get(token).copied();
    let day = |place: &usize| dates.get(*place).is_some_and(|it| is_day(&it.1));
    if let Some(date) = words.and_then(|it| it.date) {
        let place = dates.binary_search_by_key(&date, |it| it.0).ok();
        return place.map(|it| NearEvent::From(it, true));
    }
    let after = dates.get(next).filter(|it| start(it.0) == start(at) && is_day(&it.1));
    if let Some((date, _)) = after.filter(|it| it.0 <= end + 12) {
        if is_restated(text, end.saturating_sub(1), *date) {
            return Some(NearEvent::Stated(next));
        }
        let has_which = (end.min(*date)..*date).any(|it| text.is(it, "which"));
        if has_which && words.is_some_and(|it| it.known) {
            return Some(NearEvent::From(next, true));
        }
    }
    let before = next.checked_sub(1).filter(day)?;
    let (date, found) = dates.get(before)?;
    // Another count between the date and this one is what `thereafter` goes on from.
    let counted = (found.end..at).any(|it| matches!(text.low(it), "days" | "дней" | "months"));
    // `On May 1 the court granted leave, giving plaintiff 21 days to amend`
    let gives = |it: usize| matches!(text.low(it), "giving" | "gave" | "allowing" | "granting");
    let given = (at.saturating_sub(4)..at).any(gives) && words.is_none();
    let back = words.is_some_and(|it| it.back);
    if (given || back) && !counted && start(*date) == start(at) {
        return (at - date < SENTENCE_TOKENS_MAX / 2).then_some(NearEvent::From(before, true));
    }
    // `its receipt` is the receipt of the thing that the sentence says was handed over.
    let received = (at..end + 1).any(|it| matches!(text.low(it), "получения" | "вручения"))
        && (at..end + 1).any(|it| matches!(text.low(it), "её" | "ее" | "его"));
    let handed = matches!(kind(before), Some(EventKind::Notice | EventKind::Served));
    let given = (*date..at).any(|it| text.low(it).starts_with("вруч"));
    (received && handed && given && start(*date) == start(at))
        .then_some(NearEvent::From(before, false))
}

/// Whether a date after a count restates it as a day: `that is, no later than`, «то есть не
/// позднее», `(i.e., by`.
fn is_restated(text: &TokenText<'_>, from: usize, date: usize) -> bool {
    let says = |it: usize| {
        text.run(it, &["то", "есть"])
            || text.run(it, &["т", ".", "е", "."])
            || text.run(it, &["that", "is"])
            || text.run(it, &["i", ".", "e", "."])
            || text.is(it, "namely")
    };
    (from..date).any(says)
}

/// The sentence around some tokens, cut on both sides.
fn around(starts: &[usize], at: usize, end: usize) -> (usize, usize) {
    let half = SENTENCE_TOKENS_MAX / 2;
    let first = starts.get(at).copied().unwrap_or(at).max(at.saturating_sub(half));
    let last = sentence::end(starts, end.max(at + 1) - 1, half);
    (first, last)
}

fn event_of<'t>(
    text: &TokenText<'t>,
    starts: &[usize],
    (before, after): (usize, usize),
    at: usize,
    found: &date::DateMatch,
) -> (CaseEvent<'t>, String) {
    let (first, last) = around(starts, at, found.end);
    // Words that belong to a neighbouring date or precede `and on` are left out.
    let joined = at > 1 && text.is(at - 1, "on") && text.is(at - 2, "and");
    let before = if joined { before.max(at - 2) } else { before };
    let (from, to) = (first.max(before), last.min(after.max(found.end)));
    let (kind, kind_ground) = if event::is_loss(text, at) {
        (EventKind::Incident, Ground::Label)
    } else if let Some(kind) = event::row(text, at, found.end) {
        (kind, Ground::Layout)
    } else if event::is_own(text, at, found.end) {
        (EventKind::Dated, Ground::Form)
    } else if let Some(ground) = event::due_ground(text, first, at, found.end) {
        (EventKind::Deadline, ground)
    } else {
        match event::kind(text, from, to, at, found.end) {
            Some(kind) => (kind, Ground::Label),
            // A date in a list shares the words of the one before it.
            None => event::kind(text, first, last, at, found.end)
                .map_or((EventKind::Other, Ground::Form), |kind| (kind, Ground::Layout)),
        }
    };
    let event = CaseEvent {
        when: found.when,
        kind,
        subject: event::subject(text, kind, from, to),
        date: text.mention(at, found.end),
        sentence: text.mention(first, last),
        ground: found.ground.min(kind_ground),
    };
    (event, clause(text, (from, to), at, found.end))
}

/// The words around a date that are about it, in lower case: all before it, and after it those up
/// to an `and` that may lead to the next date.
fn clause(text: &TokenText<'_>, (from, to): (usize, usize), at: usize, end: usize) -> String {
    let words = |range: std::ops::Range<usize>| {
        range.filter(|it| text.is_word(*it)).map(|it| text.low(it)).collect::<Vec<_>>().join(" ")
    };
    let before = words(from.max(at.saturating_sub(CLAUSE_TOKENS))..at);
    let stop = to.min(end + CLAUSE_TOKENS);
    let ends = |it: &usize| {
        matches!(text.low(*it), "and" | ";" | "и")
            || text.breaks(*it) > 0
                && (text.capital(*it) && !text.low(*it).is_ascii() || !text.wraps(*it))
    };
    let stop = (end..stop).find(ends).unwrap_or(stop);
    format!("{before} {}", words(end..stop.max(end)))
}
