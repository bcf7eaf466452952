//! Reads relative periods: «за последние три месяца», «с начала года», "last week".

use jiff::ToSpan as _;
use jiff::civil::Date;
use text::numerals;

use super::{DateMatch, Period, PeriodKind, calendar, calendar_unit, year};
use crate::words::Word;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Month,
    Quarter,
    Half,
    Year,
}

/// The position of a calendar unit relative to today.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnitPosition {
    /// Counted back from today.
    Past,
    /// The whole calendar unit that is this many units before the current one.
    Previous(i32),
    /// The current unit up to today.
    Current,
}

fn unit(word: &Word) -> Option<Unit> {
    Some(match word.lower.as_str() {
        "день" | "дня" | "дней" | "дни" | "сутки" | "суток" | "day" | "days" => {
            Unit::Day
        }
        "неделя" | "неделю" | "недели" | "недель" | "неделе" | "нед" | "week" | "weeks" => {
            Unit::Week
        }
        "месяц" | "месяца" | "месяцев" | "месяце" | "месяцы" | "мес" | "month" | "months" => {
            Unit::Month
        }
        "квартал" | "квартала" | "кварталов" | "квартале" | "quarter" | "quarters" => {
            Unit::Quarter
        }
        "полугодие" | "полугодия" | "полугодии" | "полгода" => {
            Unit::Half
        }
        "год" | "года" | "году" | "годы" | "лет" | "year" | "years" => Unit::Year,
        _ => return None,
    })
}

/// «6м», "1y", "30d".
fn coded(word: &Word) -> Option<(f64, Unit)> {
    let digits = word.lower.find(|it: char| !it.is_ascii_digit())?;
    let (count, letters) = word.lower.split_at_checked(digits)?;
    let unit = match letters {
        "d" | "д" => Unit::Day,
        "w" | "н" => Unit::Week,
        "m" | "м" | "mo" => Unit::Month,
        "y" | "г" => Unit::Year,
        _ => return None,
    };
    Some((count.parse().ok()?, unit))
}

fn count(word: &Word) -> Option<f64> {
    let value = match word.lower.as_str() {
        "a" | "an" => 1.0,
        "полтора" | "полторы" => 1.5,
        "пару" | "couple" => 2.0,
        lower => match numerals::small(lower) {
            Some(value) => value as f64,
            None => word.number().filter(|_| word.percent().is_none())?,
        },
    };
    (value > 0.0 && value <= 5_000.0).then_some(value)
}

fn unit_position(word: &Word) -> Option<UnitPosition> {
    let begins = |stems: &[&str]| stems.iter().any(|it| word.lower.starts_with(it));
    if begins(&["позапрошл"]) {
        Some(UnitPosition::Previous(2))
    } else if begins(&["последн", "прошедш"]) || word.is(&["past", "recent"]) {
        Some(UnitPosition::Past)
    } else if begins(&["прошл", "предыдущ", "минувш"]) || word.is(&["last", "previous"])
    {
        Some(UnitPosition::Previous(1))
    } else if begins(&["текущ"])
        || word.is(&["этот", "этом", "этой", "эту", "this", "current", "нынешнем"])
    {
        Some(UnitPosition::Current)
    } else {
        None
    }
}

pub(super) fn at(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    since_start(words, at, today)
        .or_else(|| future_at(words, at, today))
        .or_else(|| ago_at(words, at, today))
        .or_else(|| counted_at(words, at, today))
}

/// «с начала года», "year to date", "since the start of last year", «с начала марта», "YTD".
fn since_start(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    let is = |offset: usize, list: &[&str]| words.get(at + offset).is_some_and(|it| it.is(list));
    let unit_at = |offset: usize| words.get(at + offset).and_then(unit);
    let to_date = |unit: Unit, len: usize| {
        let period = Period { from: calendar_unit(today, unit, 0).from, to: today };
        Some(DateMatch::new(period, len, true).with_kind(PeriodKind::Closed))
    };
    if is(0, &["ytd"]) {
        return to_date(Unit::Year, 1);
    } else if is(0, &["mtd"]) {
        return to_date(Unit::Month, 1);
    } else if is(1, &["to"]) && is(2, &["date"]) {
        return to_date(unit_at(0)?, 3);
    }
    let skip = usize::from(is(0, &["с", "со", "since", "from"]));
    let mut len = skip + usize::from(is(skip, &["the"]));
    if !is(len, &["начала", "beginning", "start"]) {
        return None;
    }
    len += 1;
    while is(len, &["the", "of"]) {
        len += 1;
    }
    let back = match words.get(at + len).and_then(unit_position) {
        Some(UnitPosition::Previous(back)) => Some(back),
        Some(UnitPosition::Current) => Some(0),
        _ if is(len, &["этого", "текущего", "этой"]) => Some(0),
        _ => None,
    };
    len += usize::from(back.is_some());
    let (from, more) = match unit_at(len) {
        Some(unit) => (calendar_unit(today, unit, back.unwrap_or(0)).from, 1),
        None => {
            let named = calendar::quarter_at(words, at + len, today)
                .or_else(|| calendar::month_at(words, at + len, today))
                .or_else(|| calendar::year_at(words, at + len))?;
            (named.period.from, named.len)
        }
    };
    let period = Period { from, to: today.max(from) };
    Some(DateMatch::new(period, len + more, true).with_kind(PeriodKind::Closed))
}

/// Reads a future period: «завтра», «через месяц», «на следующей неделе», "next year".
fn future_at(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    let first = words.get(at)?;
    let unit_at = |offset: usize| words.get(at + offset).and_then(unit);
    let has_count = words.get(at + 1).and_then(count).is_some();
    let next = ["следующ", "будущ", "предстоящ"].iter().any(|it| first.lower.starts_with(it))
        || first.is(&["next"]);
    let after = |unit: Unit, count: f64| {
        let back = past(today, unit, count.max(1.0)).from;
        let days = if unit == Unit::Day { count as i32 } else { (today - back).get_days() };
        Period::day(today.saturating_add(days.days()))
    };
    let (period, len) = if first.is(&["завтра", "tomorrow"]) {
        (after(Unit::Day, 1.0), 1)
    } else if first.is(&["послезавтра"]) {
        (after(Unit::Day, 2.0), 1)
    } else if first.is(&["через"]) && has_count && unit_at(2).is_some() {
        let count = words.get(at + 1).and_then(count).unwrap_or(1.0);
        (after(unit_at(2)?, count), 3)
    } else if first.is(&["через"]) && unit_at(1).is_some() {
        (after(unit_at(1)?, 1.0), 2)
    } else if next && unit_at(1).is_some() {
        (calendar_unit(today, unit_at(1)?, -1), 2)
    } else {
        return None;
    };
    Some(DateMatch::new(period, len, true).with_kind(PeriodKind::Future))
}

/// Reads «год назад», "two weeks ago" as one day to compare with today, and "the year before last"
/// as a period.
fn ago_at(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    let is = |offset: usize, list: &[&str]| words.get(at + offset).is_some_and(|it| it.is(list));
    let number = words.get(at).filter(|it| year(it).is_none()).and_then(count);
    let mut len = usize::from(number.is_some());
    len += usize::from(is(len, &["of", "ровно"]));
    let unit = words.get(at + len).and_then(unit)?;
    len += 1;
    if number.is_none() && is(len, &["before"]) && is(len + 1, &["last"]) {
        return Some(DateMatch::new(calendar_unit(today, unit, 2), len + 2, true));
    }
    len += usize::from(is(len, &["тому"]));
    if !is(len, &["назад", "ago"]) {
        return None;
    }
    let day = match (unit, number.unwrap_or(1.0)) {
        (Unit::Day, count) if count <= 1.0 => today.saturating_sub(1.day()),
        (unit, count) => past(today, unit, count).from,
    };
    Some(DateMatch::new(Period::day(day), len + 1, true).with_kind(PeriodKind::Ago))
}

/// Reads a count with a unit, or a unit with a word for its position.
fn counted_at(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    let before = |list: &[&str]| {
        at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|it| it.is(list))
    };
    let first = words.get(at)?;
    if let Some((count, unit)) = coded(first) {
        return Some(DateMatch::new(past(today, unit, count), 1, true));
    }
    if let Some(unit) = genitive_unit(words, at) {
        let len = if first.is(&["of"]) { 3 } else { 1 };
        return Some(DateMatch::new(past(today, unit, 1.0), len, true));
    }
    let preposition = usize::from(first.is(&["за", "for", "over", "during", "in", "within"]));
    let the = usize::from(words.get(at + preposition).is_some_and(|it| it.is(&["the"])));
    let mut len = preposition + the;
    let unit_position = words.get(at + len).and_then(unit_position);
    len += usize::from(unit_position.is_some());
    if calendar::short_year(words, at + len).is_some() {
        return None;
    }
    let number = words.get(at + len).filter(|it| year(it).is_none()).and_then(count);
    len += usize::from(number.is_some());
    len += usize::from(words.get(at + len).is_some_and(|it| it.is(&["of", "торговых", "trading"])));
    let unit = words.get(at + len).and_then(unit)?;
    len += 1;
    // «на 10 дней» is in the future, and a unit alone is not a period.
    let is_period =
        preposition > 0 || unit_position.is_some() || (number.is_some() && unit != Unit::Day);
    if before(&["на"]) && unit_position.is_none() || !(is_period || first.lower == "полгода")
    {
        return None;
    }
    // «за первый квартал» is a calendar quarter; `calendar::quarter_at` reads it.
    if number.is_some_and(|it| it <= 4.0)
        && matches!(unit, Unit::Quarter | Unit::Half)
        && unit_position.is_none()
    {
        let cardinal = words.get(at + len - 1).is_some_and(|it| it.is(&["квартала", "quarters"]));
        if !cardinal {
            return None;
        }
    }
    let rolling = the > 0 || number.is_some();
    let period = match unit_position {
        Some(UnitPosition::Previous(back)) if !rolling => calendar_unit(today, unit, back),
        Some(UnitPosition::Current) => {
            Period { from: calendar_unit(today, unit, 0).from, to: today }
        }
        _ => past(today, unit, number.unwrap_or(1.0)),
    };
    Some(DateMatch::new(period, len, true))
}

/// Reads a unit in the genitive: «лидеры недели», «итоги месяца», "gainers of the week".
fn genitive_unit(words: &[Word], at: usize) -> Option<Unit> {
    let word = words.get(at)?;
    let before = at.checked_sub(1).and_then(|at| words.get(at))?;
    if word.is(&["of"]) {
        let part = before.is(&["end", "start", "beginning", "rest", "middle", "half"]);
        let the = words.get(at + 1).is_some_and(|it| it.is(&["the"]));
        return words.get(at + 2).and_then(unit).filter(|_| the && !part);
    }
    let governing_stems = [
        "лидер",
        "аутсайдер",
        "лучш",
        "худш",
        "бумаг",
        "акци",
        "рост",
        "паден",
        "итог",
        "движен",
        "дивиденд",
    ];
    let genitive = word.is(&["дня", "недели", "месяца", "квартала", "полугодия", "года"])
        && governing_stems.iter().any(|it| before.lower.starts_with(it));
    unit(word).filter(|_| genitive)
}

fn past(today: Date, unit: Unit, count: f64) -> Period {
    let whole = |each: f64| (count * each).round().min(40_000.0) as i32;
    let from = match unit {
        Unit::Day if count <= 1.0 => today,
        Unit::Day => today.saturating_sub(whole(1.0).days()),
        Unit::Week => today.saturating_sub(whole(7.0).days()),
        Unit::Month => today.saturating_sub(whole(1.0).months()),
        Unit::Quarter => today.saturating_sub(whole(3.0).months()),
        Unit::Half => today.saturating_sub(whole(6.0).months()),
        Unit::Year => today.saturating_sub(whole(12.0).months()),
    };
    Period { from, to: today }
}
