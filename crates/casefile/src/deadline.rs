//! Deadlines given as a count from something: found, and counted when that something has a day.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use crate::entity::Ground;
use crate::text::Text;
use crate::when::{Anchor, Deadline, Due, Event, EventKind, Precision, Uncounted, Unit};
use crate::words;

/// How far after the count its anchor is looked for.
const ANCHOR_TOKENS: usize = 9;

/// The deadline whose opening words stand at this token, and the token after it.
pub(crate) fn at<'t>(text: &Text<'t>, at: usize) -> Option<(usize, Deadline<'t>)> {
    let (count_at, must_say) = opening(text, at)?;
    let (count, next) = count(text, count_at)?;
    let (unit, next) = unit(text, next)?;
    let (end, before, anchor) = anchor(text, next);
    if must_say && end == next {
        return None;
    }
    let label = if anchor == Anchor::Unknown { Ground::Layout } else { Ground::Label };
    let mention = text.mention(at, end);
    let due = Err(Uncounted::AnchorUnknown);
    let found =
        Deadline { count, unit, before, anchor, due, mention, sentence: mention, ground: label };
    Some((end, found))
}

/// The place of the count, and whether an anchor must follow for it to be a deadline.
fn opening(text: &Text<'_>, at: usize) -> Option<(usize, bool)> {
    match text.low(at) {
        "within" => Some((at + 1, false)),
        "have" | "has" | "due" => Some((at + 1, true)),
        "no" | "not" if text.run(at + 1, &["later", "than"]) => Some((at + 3, true)),
        "no" | "not" if text.run(at + 1, &["less", "than"]) => Some((at + 3, true)),
        "no" | "not" if text.run(at + 1, &["more", "than"]) => Some((at + 3, true)),
        "at" if text.is(at + 1, "least") => Some((at + 2, true)),
        "в" if text.is(at + 1, "течение") => Some((at + 2, false)),
        "не" if text.is(at + 1, "позднее") && text.is(at + 2, "чем") => {
            Some((at + 4, true))
        }
        "не" if text.is(at + 1, "позднее") => Some((at + 2, true)),
        _ => None,
    }
}

/// `21`, `twenty-one (21)`, `(21)`, `a`; in Russian the one month may go without.
fn count(text: &Text<'_>, at: usize) -> Option<(u16, usize)> {
    let small = |it: u64| u16::try_from(it).ok().filter(|it| (1..=3650).contains(it));
    let (spelled, mut next) = match text.number(at) {
        Some((value, _)) => (Some(value), at + 1),
        None => match words::number(text, at) {
            Some((value, next)) => (Some(value), next),
            None if text.is(at, "a") || text.is(at, "an") => (Some(1), at + 1),
            None => (None, at),
        },
    };
    let mut value = spelled;
    if text.is(next, "(") {
        if let Some((digits, _)) = text.number(next + 1).filter(|_| text.is(next + 2, ")")) {
            value = Some(digits);
            next += 3;
        } else if let Some(close) = (next + 1..next + 6).find(|it| text.is(*it, ")")) {
            next = close + 1;
        }
    }
    if value.is_none() && matches!(text.low(at), "месяца" | "месяц" | "года" | "недели")
    {
        value = Some(1);
    }
    Some((small(value?)?, next))
}

fn unit(text: &Text<'_>, at: usize) -> Option<(Unit, usize)> {
    let (qualified, at) = match text.low(at) {
        "business" | "working" | "court" | "рабочих" | "рабочего" | "банковских" => {
            (true, at + 1)
        }
        "calendar" | "consecutive" | "календарных" => (false, at + 1),
        _ => (false, at),
    };
    let unit = match text.low(at) {
        "day" | "days" | "дней" | "дня" | "день" if qualified => Unit::BusinessDays,
        "day" | "days" | "дней" | "дня" | "день" => Unit::Days,
        "week" | "weeks" | "недель" | "недели" => Unit::Weeks,
        "month" | "months" | "месяца" | "месяцев" | "месяц" => Unit::Months,
        "year" | "years" | "года" | "лет" => Unit::Years,
        _ => return None,
    };
    // `within 30 days' time`
    Some((unit, at + 1))
}

/// The end of the anchor's words, whether it counts back, and what it is.
fn anchor(text: &Text<'_>, at: usize) -> (usize, bool, Anchor) {
    let before = matches!(text.low(at), "before" | "prior" | "preceding" | "до");
    let opens = before
        || matches!(text.low(at), "of" | "after" | "from" | "following" | "с" | "со" | "после");
    if !opens {
        return (at, false, Anchor::Unknown);
    }
    for step in at + 1..at + ANCHOR_TOKENS {
        if text.breaks(step) >= 2 || matches!(text.low(step), "." | ";" | ",") {
            return (step, before, Anchor::Unknown);
        }
        if let Some(anchor) = noun(text, step) {
            return anchored(text, at, step, before, anchor);
        }
    }
    ((at + ANCHOR_TOKENS).min(text.len()), before, Anchor::Unknown)
}

fn noun(text: &Text<'_>, at: usize) -> Option<Anchor> {
    Some(match text.low(at) {
        "service" | "served" | "receipt" | "receiving" | "получения" | "вручения" => {
            Anchor::Service
        }
        "filing" | "filed" | "подачи" => Anchor::Filing,
        "order" | "opinion" | "decision" | "ruling" | "award" | "определения" | "постановления" => {
            Anchor::Order
        }
        "judgment" | "решения" => Anchor::Judgment,
        "hearing" | "trial" | "conference" | "заседания" => Anchor::Hearing,
        "letter" | "email" | "e-mail" | "notice" | "agreement" | "demand" | "претензии"
        | "письма" => Anchor::ThisDocument,
        _ => return None,
    })
}

/// `the date of this order` is the document's own day, whatever the noun.
fn anchored(
    text: &Text<'_>,
    at: usize,
    step: usize,
    before: bool,
    anchor: Anchor,
) -> (usize, bool, Anchor) {
    let this = (at..step).any(|it| matches!(text.low(it), "this" | "настоящего" | "настоящей"));
    let mut end = step + 1;
    if anchor == Anchor::Service {
        // `receipt of this letter` is not the service of a pleading.
        let letter = (step..step + 4).find(|it| {
            matches!(text.low(*it), "letter" | "e-mail" | "email" | "претензии" | "письма")
        });
        if let Some(place) = letter {
            return (place + 1, before, Anchor::Unknown);
        }
    }
    if anchor == Anchor::Filing && text.is(end, "of") {
        end = (end + 3).min(text.len());
    }
    let anchor = match anchor {
        // `after this summons is served` is counted from its service.
        Anchor::Service | Anchor::Filing | Anchor::Hearing => anchor,
        _ if this => Anchor::ThisDocument,
        // Another notice than this one: `after the notice was mailed`, `after written notice`.
        Anchor::ThisDocument if text.low(step).is_ascii() && !dated(text, at, step) => {
            Anchor::Unknown
        }
        _ => anchor,
    };
    (end, before, anchor)
}

/// `the date of the letter`
fn dated(text: &Text<'_>, at: usize, step: usize) -> bool {
    (at..step).any(|it| text.run(it, &["date", "of"]))
}

/// The days that anchors have in this document.
pub(crate) struct Anchors {
    /// The document is itself an order or a judgment, so that its date is theirs.
    decides: bool,
    days: [Vec<(Date, usize)>; 7],
}

impl Anchors {
    pub(crate) fn of(events: &[Event<'_>], decides: bool) -> Self {
        let mut days: [Vec<(Date, usize)>; 7] = Default::default();
        for (place, it) in events.iter().enumerate() {
            let slot = match it.kind {
                EventKind::Served => 0,
                EventKind::Filed => 1,
                EventKind::Order => 2,
                EventKind::Dated => 3,
                EventKind::Judgment => 4,
                EventKind::Hearing => 5,
                EventKind::Agreement => 6,
                _ => continue,
            };
            if it.when.precision != Precision::Day {
                continue;
            }
            if let Some(list) = days.get_mut(slot)
                && list.len() < 2
                && !list.iter().any(|(day, _)| *day == it.when.from)
            {
                list.push((it.when.from, place));
            }
        }
        Self { decides, days }
    }

    fn one(&self, slots: &[usize]) -> Result<(Date, usize), Uncounted> {
        for slot in slots {
            match self.days.get(*slot).map(Vec::as_slice) {
                Some([one]) => return Ok(*one),
                Some([_, _, ..]) => return Err(Uncounted::AnchorAmbiguous),
                _ => {}
            }
        }
        Err(Uncounted::AnchorUnknown)
    }

    pub(crate) fn count(&self, it: &Deadline<'_>, events: &[Event<'_>]) -> Result<Due, Uncounted> {
        let (start, from) = match it.anchor {
            Anchor::Service => self.one(&[0])?,
            Anchor::Filing => self.one(&[1])?,
            Anchor::Order if self.decides => self.one(&[2, 3])?,
            Anchor::Order => self.one(&[2])?,
            Anchor::ThisDocument => self.one(&[3, 2, 4, 6])?,
            Anchor::Judgment if self.decides => self.one(&[4, 3])?,
            Anchor::Judgment => self.one(&[4])?,
            Anchor::Hearing => self.one(&[5])?,
            Anchor::Unknown => return Err(Uncounted::AnchorUnknown),
        };
        debug_assert!(from < events.len());
        let counted = step(start, it.count, it.unit, it.before).ok_or(Uncounted::OutOfCalendar)?;
        let day = off_weekend(counted, it.before).ok_or(Uncounted::OutOfCalendar)?;
        Ok(Due { day, counted, from })
    }
}

fn step(start: Date, count: u16, unit: Unit, before: bool) -> Option<Date> {
    let count = i64::from(count);
    let length: Span = match unit {
        Unit::Days => count.days(),
        Unit::Weeks => count.weeks(),
        Unit::Months => count.months(),
        Unit::Years => count.years(),
        Unit::BusinessDays => return business(start, count, before),
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
