//! Reads single days, weekdays, and ranges of days within a month.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};

use super::calendar::{month, year};
use super::{DateMatch, Period, PeriodKind};
use crate::words::{Word, WordKind};

/// Returns the date; without a year, the last such day up to today. `None` if no such day exists.
fn resolve_date(day: i8, month: i8, year: Option<i16>, today: Date) -> Option<Date> {
    let date = Date::new(year.unwrap_or(today.year()), month, day).ok();
    match (year, date) {
        (None, Some(date)) if date > today => Date::new(today.year() - 1, month, day).ok(),
        // 29 February without a year means the last one if this year has none.
        (None, None) if (month, day) == (2, 29) => {
            (1..=8).find_map(|back| Date::new(today.year() - back, month, day).ok())
        }
        (_, date) => date,
    }
}

fn impossible(len: usize, today: Date) -> DateMatch {
    DateMatch::new(Period::day(today), len, true).with_kind(PeriodKind::Impossible)
}

/// Returns the number of words of a year that begins here, and the year.
fn year_from(words: &[Word], at: usize) -> (usize, Option<i16>) {
    let of = usize::from(words.get(at).is_some_and(|it| it.is(&["of"]) || it.is_mark(&[','])));
    let Some(year) = words.get(at + of).and_then(year) else { return (0, None) };
    let is_year_word = |it: &Word| it.is(&["год", "года", "году", "г"]);
    (of + 1 + usize::from(words.get(at + of + 1).is_some_and(is_year_word)), Some(year))
}

/// «3 по 10 февраля 2025», «3-10 февраля», "February 3 to 10", "3rd to 10th of February".
pub(super) fn range_at(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    let joins = |at: usize| {
        words.get(at).is_some_and(|it| {
            it.is(&["по", "до", "и", "to", "till", "until", "through", "and"])
                || it.is_mark(&['-', '–', '—'])
        })
    };
    let day_of = |at: usize| words.get(at).and_then(day_number);
    let month_of = |at: usize| words.get(at).and_then(month);
    let of = |at: usize| usize::from(words.get(at).is_some_and(|it| it.is(&["of"])));
    let (first, last, month, len) =
        if let (Some(first), true, Some(last)) = (day_of(at), joins(at + 1), day_of(at + 2)) {
            let skip = of(at + 3);
            (first, last, month_of(at + 3 + skip)?, 4 + skip)
        } else {
            let month = month_of(at)?;
            (day_of(at + 1)?, day_of(at + 3).filter(|_| joins(at + 2))?, month, 4)
        };
    let (more, year) = year_from(words, at + len);
    let len = len + more;
    let (Some(from), Some(to)) =
        (resolve_date(first, month, year, today), resolve_date(last, month, year, today))
    else {
        return Some(impossible(len, today));
    };
    // Both days are in one year, even if one of them is in the future.
    let from = Date::new(to.year(), from.month(), from.day()).unwrap_or(from);
    let kind = if from > to { PeriodKind::Reversed } else { PeriodKind::Closed };
    let (from, to) = (from.min(to), from.max(to));
    Some(DateMatch::new(Period { from, to }, len, year.is_some()).with_kind(kind))
}

fn weekday(word: &Word) -> Option<Weekday> {
    let begins = |stem: &str| word.lower.starts_with(stem);
    Some(match word.lower.as_str() {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        "среда" | "среду" | "среды" => Weekday::Wednesday,
        _ if begins("понедельник") => Weekday::Monday,
        _ if begins("вторник") => Weekday::Tuesday,
        _ if begins("четверг") => Weekday::Thursday,
        _ if begins("пятниц") => Weekday::Friday,
        _ if begins("суббот") => Weekday::Saturday,
        _ if begins("воскресень") => Weekday::Sunday,
        _ => return None,
    })
}

/// «в прошлый четверг», "last Thursday", «пятницу 7 июня».
pub(super) fn weekday_at(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    let first = words.get(at)?;
    let begins = |stems: &[&str]| stems.iter().any(|it| first.lower.starts_with(it));
    let previous = begins(&["прошл", "прошедш", "минувш"]) || first.is(&["last", "past"]);
    let next = begins(&["следующ", "будущ", "ближайш"]) || first.is(&["next"]);
    let this = first.is(&["этот", "эту", "this"]);
    let skip = usize::from(previous || next || this);
    let day = words.get(at + skip).and_then(weekday)?;
    let mut len = skip + 1;
    if next {
        let days_ahead = i32::from(day.since(today.weekday()));
        let days_ahead = if days_ahead == 0 { 7 } else { days_ahead };
        let period = Period::day(today.saturating_add(days_ahead.days()));
        return Some(DateMatch::new(period, len, true).with_kind(PeriodKind::Future));
    }
    // A date next to the weekday decides which day it is.
    let comma = usize::from(words.get(at + len).is_some_and(|it| it.is_mark(&[',', '('])));
    if let Some(matched) = day_at(words, at + len + comma, today) {
        len += comma + matched.len;
        return Some(DateMatch { len, ..matched });
    }
    let back = i32::from(today.weekday().since(day));
    let back = if back == 0 && previous { 7 } else { back };
    Some(DateMatch::new(Period::day(today.saturating_sub(back.days())), len, true))
}

pub(super) fn day_at(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    let word = words.get(at)?;
    let day = |date: Date, len: usize| Some(DateMatch::new(Period::day(date), len, true));
    let next = |more: usize, list: &[&str]| words.get(at + more).is_some_and(|it| it.is(list));
    match word.kind {
        WordKind::Date(date) => return day(date, 1),
        WordKind::InvalidDate => return Some(impossible(1, today)),
        _ => {}
    }
    if word.is(&["day"]) && next(1, &["before"]) && next(2, &["yesterday"]) {
        return day(today.saturating_sub(2.days()), 3);
    }
    let back = match word.lower.as_str() {
        "сегодня" | "today" => Some(0),
        "вчера" | "yesterday" => Some(1),
        "позавчера" => Some(2),
        it if it.starts_with("сегодняшн") => Some(0),
        it if it.starts_with("вчерашн") => Some(1),
        _ => None,
    };
    if let Some(back) = back {
        return day(today.saturating_sub(back.days()), 1);
    }
    if let Some((day_of, month)) = short_date(words, at) {
        let date = resolve_date(day_of, month, None, today);
        return Some(
            date.map_or(impossible(1, today), |date| DateMatch::new(Period::day(date), 1, false)),
        );
    }
    let month_of = |at: usize| words.get(at).and_then(month);
    let day_of = |at: usize| words.get(at).and_then(day_number);
    // «1 марта 2024», "1 March 2024" or "March 1, 2024".
    let of = usize::from(words.get(at + 1).is_some_and(|it| it.is(&["of"])));
    let (day, month, len) = match (day_of(at), month_of(at + 1 + of)) {
        (Some(day), Some(month)) => (day, month, 2 + of),
        _ => match (month_of(at), day_of(at + 1)) {
            (Some(month), Some(day)) => (day, month, 2),
            _ => return None,
        },
    };
    let (more, year) = year_from(words, at + len);
    let len = len + more;
    let Some(date) = resolve_date(day, month, year, today) else {
        return Some(impossible(len, today));
    };
    Some(DateMatch::new(Period::day(date), len, year.is_some()))
}

/// Reads a short date: «с 03.02 по 10.02». Without a preposition before it, it is a number.
fn short_date(words: &[Word], at: usize) -> Option<(i8, i8)> {
    let before = at.checked_sub(1).and_then(|at| words.get(at))?;
    let near = ["с", "со", "по", "до", "от", "на", "за", "from", "since", "to", "on", "until"];
    let (day, month) = words.get(at).filter(|it| it.percent().is_none())?.text.split_once('.')?;
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|it| it.is_ascii_digit());
    if !before.is(&near) || !digits(day) || !digits(month) {
        return None;
    }
    let (day, month) = (day.parse().ok()?, month.parse().ok()?);
    ((1..=31).contains(&day) && (1..=12).contains(&month)).then_some((day, month))
}

/// Returns a number from 1 to 99; one above 31 makes an impossible date.
fn day_number(word: &Word) -> Option<i8> {
    let text = ["st", "nd", "rd", "th", "-го", "го", "-е"]
        .iter()
        .find_map(|it| word.lower.strip_suffix(it))
        .unwrap_or(&word.lower);
    let percent = word.percent().is_some();
    text.parse().ok().filter(|day| (1..=99).contains(day) && !percent)
}
