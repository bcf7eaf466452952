//! Counts deadlines: finds the day of the anchor and adds the days. It knows weekends and no
//! holidays.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use crate::chronology::{
    Anchor, CaseEvent, Deadline, DeadlineUnit, Due, EventKind, Precision, UncountedReason,
};
use crate::event::FULL_TEXT;

/// Most events that are searched for the anchor that a deadline names.
const NAMED_MAX: usize = 400;
/// Most days stored for one kind of anchor.
const DAYS_MAX: usize = 16;

/// The days of the anchors in this document.
pub(crate) struct Anchors {
    /// Whether the document is itself an order or a judgment, so that its date is the anchor's.
    decides: bool,
    days: [Vec<(Date, usize)>; 7],
}

fn slot(kind: EventKind) -> Option<usize> {
    Some(match kind {
        EventKind::Served => 0,
        EventKind::Filed => 1,
        EventKind::Order => 2,
        EventKind::Dated => 3,
        EventKind::Judgment => 4,
        EventKind::Hearing => 5,
        EventKind::Agreement => 6,
        _ => return None,
    })
}

impl Anchors {
    pub(crate) fn of(events: &[CaseEvent<'_>], decides: bool) -> Self {
        let mut days: [Vec<(Date, usize)>; 7] = Default::default();
        for (place, it) in events.iter().enumerate() {
            let list = slot(it.kind).and_then(|it| days.get_mut(it));
            if let Some(list) = list.filter(|_| it.when.precision == Precision::Day)
                && list.len() < DAYS_MAX
                && !list.iter().any(|(day, _)| *day == it.when.from)
            {
                list.push((it.when.from, place));
            }
        }
        Self { decides, days }
    }

    fn list(&self, slot: usize) -> &[(Date, usize)] {
        self.days.get(slot).map(Vec::as_slice).unwrap_or_default()
    }

    fn one(&self, slots: &[usize]) -> Result<(Date, usize), UncountedReason> {
        for slot in slots {
            match self.list(*slot) {
                [one] => return Ok(*one),
                [_, _, ..] => return Err(UncountedReason::AnchorAmbiguous),
                [] => {}
            }
        }
        Err(UncountedReason::AnchorUnknown)
    }

    /// The day on which a deadline ends; `known` is the event from which its own sentence counts.
    pub(crate) fn count(
        &self,
        it: &Deadline<'_>,
        known: Option<usize>,
        events: &[CaseEvent<'_>],
    ) -> Result<Due, UncountedReason> {
        let known = known.and_then(|place| events.get(place).map(|it| (it.when.from, place)));
        let (start, from) = match known {
            Some(it) => it,
            None => self.start(it, events).or_else(|why| match why {
                UncountedReason::AnchorUnknown => named(&it.mention.quote.to_lowercase(), events),
                _ => Err(why),
            })?,
        };
        debug_assert!(from < events.len());
        let counted =
            step(start, it.count, it.unit, it.before).ok_or(UncountedReason::OutOfCalendar)?;
        let day = off_weekend(counted, it.before).ok_or(UncountedReason::OutOfCalendar)?;
        Ok(Due { day, counted, from })
    }

    fn start(
        &self,
        it: &Deadline<'_>,
        events: &[CaseEvent<'_>],
    ) -> Result<(Date, usize), UncountedReason> {
        let words = it.mention.quote.to_lowercase();
        match it.anchor {
            Anchor::Service => self.service(&words),
            Anchor::Filing => self.filing(&words, events),
            Anchor::Order if self.decides => self.decision(&[2, 3], events),
            Anchor::Order => self.one(&[2]),
            Anchor::ThisDocument if words.ends_with("today") => self.one(&[3, 5]),
            Anchor::ThisDocument => {
                let agreed = [
                    "effective",
                    "execution",
                    "agreement",
                    "contract",
                    "lease",
                    "договор",
                    "соглашен",
                ];
                let agreed = agreed.iter().any(|it| words.contains(it));
                self.one(if agreed { &[6, 3] } else { &[3, 2, 4] })
            }
            Anchor::Judgment if self.decides => self.decision(&[4, 3], events),
            Anchor::Judgment => self.one(&[4]),
            Anchor::Hearing => self.hearing(it, &words, events),
            Anchor::Unknown => Err(UncountedReason::AnchorUnknown),
        }
    }

    /// `service of this motion` is the service of this document, not of an earlier one.
    fn service(&self, words: &str) -> Result<(Date, usize), UncountedReason> {
        let served = self.list(0);
        let this = words.contains("this") || words.contains("hereof");
        if served.len() < 2 || !this {
            return self.one(&[0]);
        }
        let own = served.iter().find(|it| self.list(3).iter().any(|own| own.0 == it.0));
        own.or_else(|| served.last()).copied().ok_or(UncountedReason::AnchorUnknown)
    }

    /// The day on which the named paper was filed. A paper that is not filed yet has no day.
    fn filing(
        &self,
        words: &str,
        events: &[CaseEvent<'_>],
    ) -> Result<(Date, usize), UncountedReason> {
        const PAPERS: [&str; 6] =
            ["answer", "response", "opposition", "reply", "objection", "motion"];
        let Some(paper) = PAPERS.iter().find(|it| words.contains(**it)) else {
            return self.one(&[1]);
        };
        let of = |it: &&(Date, usize)| {
            let subject = events.get(it.1).and_then(|it| it.subject.as_deref());
            subject.is_some_and(|it| it.contains(paper))
        };
        let mut list = self.list(1).iter().filter(of);
        match (list.next(), list.next()) {
            (Some(one), None) => Ok(*one),
            (Some(_), Some(_)) => Err(UncountedReason::AnchorAmbiguous),
            _ => Err(UncountedReason::AnchorUnknown),
        }
    }

    /// The day of the decision; for a Russian decision the day of its full text.
    fn decision(
        &self,
        slots: &[usize],
        events: &[CaseEvent<'_>],
    ) -> Result<(Date, usize), UncountedReason> {
        let whole = |it: &&(Date, usize)| {
            events.get(it.1).is_some_and(|it| it.subject.as_deref() == Some(FULL_TEXT))
        };
        let written = [2, 4].iter().flat_map(|it| self.list(*it)).find(whole);
        written.map_or_else(|| self.one(slots), |it| Ok(*it))
    }

    /// The day of the hearing: the one that the deadline names, otherwise the last one mentioned.
    fn hearing(
        &self,
        it: &Deadline<'_>,
        words: &str,
        events: &[CaseEvent<'_>],
    ) -> Result<(Date, usize), UncountedReason> {
        let all = self.list(5);
        if all.len() < 2 {
            return self.one(&[5]);
        }
        let noun = words.rsplit(' ').next().unwrap_or_default();
        let mentions = |place: &(Date, usize)| {
            events.get(place.1).is_some_and(|it| it.sentence.quote.to_lowercase().contains(noun))
        };
        let named_hearings: Vec<&(Date, usize)> = all.iter().filter(|it| mentions(it)).collect();
        let list = if named_hearings.is_empty() { all.iter().collect() } else { named_hearings };
        // A deadline counts from a hearing after the date of the document.
        let ahead = |it: &&&(Date, usize)| self.list(3).iter().all(|own| own.0 < it.0);
        let coming: Vec<&(Date, usize)> = list.iter().filter(ahead).copied().collect();
        let list = if coming.is_empty() { list } else { coming };
        if let [one] = list.as_slice() {
            return Ok(**one);
        }
        let before = |place: &&&(Date, usize)| {
            events.get(place.1).is_some_and(|event| event.date.span <= it.mention.span)
        };
        list.iter().rev().find(before).map(|it| **it).ok_or(UncountedReason::AnchorAmbiguous)
    }
}

/// Named anchors, and the word stems by which a sentence mentions each.
const STEMS: [(&str, &[&str]); 30] = [
    ("publication", &["publication", "published"]),
    ("issu", &["issu"]),
    ("closing", &["closing"]),
    ("deliver", &["deliver"]),
    ("terminat", &["terminat"]),
    ("discharg", &["discharg"]),
    ("inspect", &["inspect"]),
    ("mail", &["mailed", "mailing"]),
    ("accident", &["accident", "collision", "crash"]),
    ("loss", &["date of loss", "loss occurred"]),
    ("incident", &["incident"]),
    ("injury", &["injury", "injured"]),
    ("petition", &["petition"]),
    ("invoice", &["invoice"]),
    ("completion", &["complet"]),
    ("death", &["death", "died"]),
    ("sale", &["sale", "sold"]),
    ("appointment", &["appoint", "letters of authority", "letters testamentary"]),
    ("confirm", &["confirm"]),
    ("record", &["record"]),
    ("approv", &["approv"]),
    ("accept", &["accept"]),
    ("default", &["default"]),
    ("подписания", &["подпис"]),
    ("передачи", &["передан", "передач"]),
    ("заключения", &["заключ"]),
    ("увольнения", &["увол"]),
    ("поставки", &["поставл", "поставк"]),
    ("вручения", &["вруч"]),
    ("смерти", &["умер", "смерт", "скончал"]),
];

/// The only day whose sentence has the anchor's word: `after the first publication`.
fn named(words: &str, events: &[CaseEvent<'_>]) -> Result<(Date, usize), UncountedReason> {
    let stems =
        STEMS.iter().find(|it| words.contains(it.0)).ok_or(UncountedReason::AnchorUnknown)?.1;
    let mut found: Option<(Date, usize)> = None;
    for (place, it) in events.iter().enumerate().take(NAMED_MAX) {
        let mentions = it.when.precision == Precision::Day
            && it.kind != EventKind::Deadline
            && stems.iter().any(|stem| it.sentence.quote.to_lowercase().contains(stem));
        match found.filter(|_| mentions) {
            Some((day, _)) if day != it.when.from => return Err(UncountedReason::AnchorAmbiguous),
            None if mentions => found = Some((it.when.from, place)),
            _ => {}
        }
    }
    found.ok_or(UncountedReason::AnchorUnknown)
}

fn step(start: Date, count: u16, unit: DeadlineUnit, before: bool) -> Option<Date> {
    let count = i64::from(count);
    let length: Span = match unit {
        DeadlineUnit::Days => count.days(),
        DeadlineUnit::Weeks => count.weeks(),
        DeadlineUnit::Months => count.months(),
        DeadlineUnit::Years => count.years(),
        DeadlineUnit::BusinessDays => return business(start, count, before),
    };
    if before { start.checked_sub(length).ok() } else { start.checked_add(length).ok() }
}

fn business(start: Date, count: i64, before: bool) -> Option<Date> {
    let mut day = start;
    let mut left = count;
    while left > 0 {
        day = if before { day.yesterday().ok()? } else { day.tomorrow().ok()? };
        if !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) {
            left -= 1;
        }
    }
    Some(day)
}

/// The day itself, or the nearest working day in the direction of the count.
fn off_weekend(day: Date, before: bool) -> Option<Date> {
    let move_by = match (day.weekday(), before) {
        (Weekday::Saturday, false) => 2,
        (Weekday::Sunday, false) => 1,
        (Weekday::Saturday, true) => -1,
        (Weekday::Sunday, true) => -2,
        _ => 0,
    };
    day.checked_add(move_by.days()).ok()
}
