//! Turns dates into events, counts deadlines from them, and finds contradicting days.

use std::collections::BTreeMap;

use crate::chronology::{CaseEvent, Conflict, Deadline, EventKind, Precision};
use crate::date;
use crate::deadline;
use crate::entity::Ground;
use crate::event;
use crate::sentence;
use crate::text::TokenText;
use crate::{CONFLICTS_MAX, DEADLINES_MAX, EVENTS_MAX, SENTENCE_TOKENS_MAX};

#[derive(Default)]
pub(crate) struct TimelineBuilder<'t> {
    pub(crate) events: Vec<CaseEvent<'t>>,
    pub(crate) deadlines: Vec<Deadline<'t>>,
    pub(crate) conflicts: Vec<Conflict>,
    pub(crate) truncated: bool,
    /// Whether the document has words that only an order or a judgment has.
    decides: bool,
    /// For each deadline, the event from which its own sentence counts.
    near: Vec<Option<usize>>,
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
            let event = event_of(text, &starts, (before, after), *at, found);
            if event.kind == EventKind::Served && event::is_filed_too(text, *at) {
                self.events.push(CaseEvent { kind: EventKind::Filed, ..event.clone() });
            }
            self.events.push(event);
        }
        debug_assert!(places.first().is_none_or(|it| *it == first));
        self.decides |= (0..text.len()).any(|at| {
            (text.at(at).is_some_and(|it| it.all_caps) || text.is(at + 1, ":"))
                && matches!(
                    text.low(at),
                    "ordered" | "решил" | "определил" | "постановил" | "приговорил"
                )
        });
        for at in 0..text.len() {
            let Some((end, mut found)) = deadline::at(text, at) else { continue };
            if self.deadlines.len() >= DEADLINES_MAX {
                self.truncated = true;
                break;
            }
            let (first, last) = around(&starts, at, end);
            found.sentence = text.mention(first, last);
            self.deadlines.push(found);
            let near = near(text, (at, end), &starts, &dates, |it| {
                places.get(it).and_then(|it| self.events.get(*it)).map(|it| it.kind)
            });
            self.near.push(near.and_then(|it| places.get(it).copied()));
        }
    }

    /// Counts the deadlines and looks for contradictions.
    pub(crate) fn finish(&mut self) {
        let anchors = deadline::Anchors::of(&self.events, self.decides);
        for (it, near) in self.deadlines.iter_mut().zip(&self.near) {
            it.due = anchors.count(it, *near, &self.events);
        }
        let mut days: BTreeMap<(EventKind, &str), Vec<usize>> = BTreeMap::new();
        for (place, it) in self.events.iter().enumerate() {
            let Some(subject) = it.subject.as_deref() else { continue };
            if it.when.precision == Precision::Day {
                let list = days.entry((it.kind, subject)).or_default();
                // One event for each day suffices to show that the days differ.
                let known =
                    list.iter().any(|at| self.events.get(*at).is_some_and(|e| e.when == it.when));
                if !known && list.len() < 16 {
                    list.push(place);
                }
            }
        }
        let differing = days.into_iter().filter(|(_, list)| list.len() > 1).take(CONFLICTS_MAX);
        self.conflicts = differing
            .map(|((kind, subject), events)| Conflict { kind, subject: subject.to_owned(), events })
            .collect();
    }
}

/// The date in the deadline's own words, from which it is counted: `30 days after March 3, 2024`,
/// `within 7 days thereafter`, `of the summons, which was issued on`, «вручила претензию … со дня
/// её получения».
fn near(
    text: &TokenText<'_>,
    (at, end): (usize, usize),
    starts: &[usize],
    dates: &[(usize, date::DateMatch)],
    kind: impl Fn(usize) -> Option<EventKind>,
) -> Option<usize> {
    let next = dates.partition_point(|it| it.0 < at);
    let start = |token: usize| starts.get(token).copied();
    let day =
        |place: &usize| dates.get(*place).is_some_and(|it| it.1.when.precision == Precision::Day);
    let after = dates.get(next).filter(|it| start(it.0) == start(at)).map(|it| it.0);
    if let Some(date) = after.filter(|it| *it <= end + 12) {
        let led =
            date < end && (at..date).any(|it| matches!(text.low(it), "after" | "from" | "of"));
        let has_which = (end.min(date)..date).any(|it| text.is(it, "which"));
        if led || has_which {
            return Some(next).filter(day);
        }
    }
    let before = next.checked_sub(1).filter(day)?;
    let date = dates.get(before)?.0;
    // `within 30 days of that date`
    let that = (at..end).any(|it| {
        matches!(text.low(it), "that" | "such") && matches!(text.low(it + 1), "date" | "day")
    });
    // `On May 1 the court granted leave, giving plaintiff 21 days to amend`
    let gives = |it: usize| matches!(text.low(it), "giving" | "gave" | "allowing" | "granting");
    let given = (at.saturating_sub(4)..at).any(gives) && start(date) == start(at);
    if given || that || matches!(text.low(end - 1), "thereafter" | "afterwards" | "thereof") {
        return (at - date < SENTENCE_TOKENS_MAX / 2).then_some(before);
    }
    // `its receipt` is the receipt of the thing that the sentence says was handed over.
    let received = (at..end + 1).any(|it| matches!(text.low(it), "получения" | "вручения"))
        && (at..end + 1).any(|it| matches!(text.low(it), "её" | "ее" | "его"));
    let handed = matches!(kind(before), Some(EventKind::Notice | EventKind::Served));
    (received && handed && start(date) == start(at)).then_some(before)
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
) -> CaseEvent<'t> {
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
    } else if event::is_due(text, at) {
        (EventKind::Deadline, Ground::Label)
    } else {
        match event::kind(text, from, to, at, found.end) {
            Some(kind) => (kind, Ground::Label),
            // A date in a list shares the words of the one before it.
            None => event::kind(text, first, last, at, found.end)
                .map_or((EventKind::Other, Ground::Form), |kind| (kind, Ground::Layout)),
        }
    };
    CaseEvent {
        when: found.when,
        kind,
        subject: event::subject(text, kind, from, to),
        date: text.mention(at, found.end),
        sentence: text.mention(first, last),
        ground: found.ground.min(kind_ground),
    }
}
