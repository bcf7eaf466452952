//! Reads the period of a question: days, months, quarters, years and periods up to today, in
//! Russian and in English, relative to the current day.

mod calendar;
mod day;
mod relative;
#[cfg(test)]
mod tests;

use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::note::Note;
use crate::words::Word;
use calendar::{calendar_unit, quarter_at, year, year_at};

/// A range of days, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    pub from: Date,
    pub to: Date,
}

/// The tools return ten years at most.
const YEARS_MAX: i32 = 10;

impl Period {
    pub(crate) fn day(date: Date) -> Self {
        Self { from: date, to: date }
    }

    pub(crate) fn months_before(today: Date, months: i32) -> Self {
        Self { from: today.saturating_sub(months.months()), to: today }
    }

    pub fn is_day(&self) -> bool {
        self.from == self.to
    }

    /// Limits the period to today at the latest and to `YEARS_MAX` years.
    fn bounded(self, today: Date, notes: &mut Vec<Note>) -> Self {
        let to = self.to.min(today);
        let earliest = to.saturating_sub(YEARS_MAX.years());
        if self.from < earliest {
            notes.push(Note::TenYears);
        }
        Self { from: self.from.min(to).max(earliest), to }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeriodKind {
    /// A period that can be one end of a longer one.
    Open,
    /// A period with both ends given.
    Closed,
    /// A period with both ends given in reverse order.
    Reversed,
    /// A past day to compare with today.
    Ago,
    /// A period in the future.
    Future,
    /// A date that does not exist.
    Impossible,
}

/// A period read at one position of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DateMatch {
    pub(crate) period: Period,
    /// The number of words.
    pub(crate) len: usize,
    /// Whether the question gives the year.
    pub(crate) has_year: bool,
    pub(crate) kind: PeriodKind,
}

impl DateMatch {
    pub(super) fn new(period: Period, len: usize, has_year: bool) -> Self {
        Self { period, len, has_year, kind: PeriodKind::Open }
    }

    pub(super) fn with_kind(self, kind: PeriodKind) -> Self {
        Self { kind, ..self }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Dates {
    pub(crate) period: Option<Period>,
    /// Marks the words about time, so that the name search skips them.
    pub(crate) used: Vec<bool>,
    /// Whether to compare the day with today: «год назад».
    pub(crate) compare_with_today: bool,
    pub(crate) notes: Vec<Note>,
    /// A period in the future.
    pub(crate) future: Option<Period>,
    /// Whether the question gives no year, so that the year was guessed.
    pub(crate) guessed: bool,
}

pub(crate) fn read(words: &[Word], today: Date) -> Dates {
    let mut dates = Dates { used: vec![false; words.len()], ..Dates::default() };
    let mut date_matches: Vec<(usize, DateMatch)> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some(matched) = match_at(words, at, today) else {
            at += 1;
            continue;
        };
        dates.used.iter_mut().skip(at).take(matched.len).for_each(|it| *it = true);
        match matched.kind {
            PeriodKind::Impossible => {
                let date_words = words.get(at..at + matched.len).unwrap_or_default();
                let date_words: Vec<&str> = date_words.iter().map(|it| it.text.as_str()).collect();
                dates.notes.push(Note::NoSuchDay(date_words.join(" ")));
            }
            kind if kind == PeriodKind::Future || matched.period.from > today => {
                dates.notes.push(Note::Future);
                dates.future = dates.future.or(Some(matched.period));
            }
            kind => {
                dates.notes.extend((kind == PeriodKind::Reversed).then_some(Note::Reversed));
                date_matches.push((at, matched));
            }
        }
        at += matched.len.max(1);
    }
    dates.notes.dedup();
    dates.guessed = date_matches.first().is_some_and(|it| !it.1.has_year);
    dates.compare_with_today = date_matches.first().is_some_and(|it| it.1.kind == PeriodKind::Ago);
    if let Some(period) = join(words, &date_matches, today, &mut dates.notes) {
        dates.period = Some(period.bounded(today, &mut dates.notes));
    }
    dates
}

fn match_at(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    relative::at(words, at, today)
        .or_else(|| day::range_at(words, at, today))
        .or_else(|| day::weekday_at(words, at, today))
        .or_else(|| day::day_at(words, at, today))
        .or_else(|| quarter_at(words, at, today))
        .or_else(|| calendar::month_at(words, at, today))
        .or_else(|| year_at(words, at))
}

/// Joins the first two dates into a period. One date after «с» or "since" is the start of a period
/// up to today.
fn join(
    words: &[Word],
    date_matches: &[(usize, DateMatch)],
    today: Date,
    notes: &mut Vec<Note>,
) -> Option<Period> {
    let (at, first) = *date_matches.first()?;
    let before = |at: usize| at.checked_sub(1).and_then(|at| words.get(at));
    let since = before(at).is_some_and(|it| it.is(&["с", "со", "от", "since", "from", "between"]));
    if let Some((then, second)) = date_matches.get(1) {
        let between = words.get(at + first.len..*then).unwrap_or_default();
        let joins = |it: &Word| {
            it.is(&["по", "до", "to", "till", "until", "through", "и", "and"])
                || it.is_mark(&['-', '–', '—'])
        };
        let near = between.len() <= 2 && between.iter().any(joins);
        if near {
            let from = if first.has_year || !second.has_year {
                first.period.from
            } else {
                with_year(first.period.from, second.period.from.year(), second.period.to)
            };
            let to = second.period.to;
            if from <= to {
                return Some(Period { from, to });
            }
            notes.push(Note::Reversed);
            return Some(Period { from: second.period.from, to: first.period.to });
        }
    }
    let open = first.kind == PeriodKind::Open;
    Some(if since && open { Period { from: first.period.from, to: today } } else { first.period })
}

/// Returns the date in the given year, or in the year before if the period would end before it
/// begins.
fn with_year(date: Date, year: i16, end: Date) -> Date {
    let on = |year: i16| Date::new(year, date.month(), date.day()).unwrap_or(date);
    if on(year) <= end { on(year) } else { on(year.saturating_sub(1)) }
}
