//! Reads calendar months, quarters, half-years and years.

use jiff::ToSpan as _;
use jiff::civil::Date;
use text::months as month_names;

use super::{DateMatch, Period};
use crate::words::Word;

/// Returns the number of a month from its name in any grammatical case.
pub(super) fn month(word: &Word) -> Option<i8> {
    let month = month_names::month(&word.lower).filter(|_| word.is_letters())?;
    i8::try_from(month).ok()
}

pub(super) fn year(word: &Word) -> Option<i16> {
    let value = word.number().filter(|value| value.fract() == 0.0 && word.text.len() == 4)?;
    let percent = word.percent().is_some();
    ((1990.0..2100.0).contains(&value) && !percent).then_some(value as i16)
}

/// Reads «за 22 год»: two digits before the singular «год» are a year, not a count.
pub(super) fn short_year(words: &[Word], at: usize) -> Option<i16> {
    let value = words.get(at).filter(|it| it.percent().is_none())?;
    let singular = words.get(at + 1).is_some_and(|it| it.is(&["год", "году"]));
    let two = value.text.len() == 2 && singular;
    value.number().filter(|it| two && (10.0..=40.0).contains(it)).map(|it| 2_000 + it as i16)
}

/// «2023 году», «2023», "in 2023".
pub(super) fn year_at(words: &[Word], at: usize) -> Option<DateMatch> {
    let year = short_year(words, at).or_else(|| words.get(at).and_then(year))?;
    // «2000 рублей» and «2000 акций» are amounts.
    let amounts =
        ["руб", "тыс", "млн", "акци", "шт", "лот", "долл", "share", "lot", "rub", "piece"];
    let is_amount_unit =
        |it: &Word| amounts.iter().any(|stem| it.lower.starts_with(stem)) || it.lower == "₽";
    if words.get(at + 1).is_some_and(is_amount_unit) {
        return None;
    }
    let is_year_word = |it: &Word| it.is(&["год", "года", "году", "г"]);
    let len = 1 + usize::from(words.get(at + 1).is_some_and(is_year_word));
    let period = Period { from: Date::new(year, 1, 1).ok()?, to: Date::new(year, 12, 31).ok()? };
    Some(DateMatch::new(period, len, true))
}

/// «в марте 2024», «за март», "March 2024".
pub(super) fn month_at(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    let word = words.get(at)?;
    let number = month(word)?;
    let given_year = words.get(at + 1).and_then(year);
    // Lower-case "may" without a year is usually a verb.
    if given_year.is_none() && word.lower == "may" && !word.text.starts_with('M') {
        return None;
    }
    let guessed = if number > today.month() { today.year() - 1 } else { today.year() };
    let from = Date::new(given_year.unwrap_or(guessed), number, 1).ok()?;
    let len = 1 + year_len(words, at + 1);
    Some(DateMatch::new(months(from, 1), len, given_year.is_some()))
}

fn year_len(words: &[Word], at: usize) -> usize {
    year_at(words, at).map_or(0, |matched| matched.len)
}

fn months(from: Date, count: i32) -> Period {
    let next = from.saturating_add(count.months());
    Period { from, to: next.saturating_sub(1.day()) }
}

/// «первый квартал 2024», «1 кв. 2024», "Q1 2024", "1Q24", «первое полугодие», "H1".
pub(super) fn quarter_at(words: &[Word], at: usize, today: Date) -> Option<DateMatch> {
    let word = words.get(at)?;
    let next = words.get(at + 1);
    let unit =
        |stems: &[&str]| next.is_some_and(|it| stems.iter().any(|s| it.lower.starts_with(s)));
    let point = usize::from(words.get(at + 2).is_some_and(|it| it.is_mark(&['.'])));
    let (index, months_each, len, coded_year) = if let Some((index, each, year)) = coded(word) {
        (index, each, 1, year)
    } else if unit(&["квартал", "quarter"]) {
        (ordinal(word)?, 3, 2, None)
    } else if next.is_some_and(|it| it.is(&["кв"])) {
        (ordinal(word)?, 3, 2 + point, None)
    } else if unit(&["полугоди"]) || unit(&["половин", "half"]) && of_year(words, at + 2)
    {
        (ordinal(word)?, 6, 2, None)
    } else {
        return None;
    };
    if !(1..=12 / months_each).contains(&index) {
        return None;
    }
    let len = len + usize::from(words.get(at + len).is_some_and(|it| it.is(&["of"])));
    let given_year = coded_year.or_else(|| words.get(at + len).and_then(year));
    let month = i8::try_from((index - 1) * months_each + 1).ok()?;
    let guessed = if month > today.month() { today.year() - 1 } else { today.year() };
    let from = Date::new(given_year.unwrap_or(guessed), month, 1).ok()?;
    let period = months(from, i32::try_from(months_each).ok()?);
    let bare = |it: &Word| it.is(&["год", "года", "year"]);
    let more = match year_len(words, at + len) {
        0 => usize::from(words.get(at + len).is_some_and(bare)),
        more => more,
    };
    Some(DateMatch::new(period, len + more, given_year.is_some()))
}

/// Reports whether a year follows, because a half can be of anything.
fn of_year(words: &[Word], at: usize) -> bool {
    let at = at + usize::from(words.get(at).is_some_and(|it| it.is(&["of"])));
    let at = at + usize::from(words.get(at).is_some_and(|it| it.is(&["the", "this"])));
    words.get(at).is_some_and(|it| year(it).is_some() || it.is(&["года", "год", "year"]))
}

/// Reads `Q1`, `H2`, `1Q`, `1Q24`, `1кв`, `1П2024`: returns its number, its length in months and
/// the year.
fn coded(word: &Word) -> Option<(u32, u32, Option<i16>)> {
    let mut chars = word.lower.chars();
    let (first, second) = (chars.next()?, chars.next()?);
    let rest: String = chars.collect();
    let (index, letter) = match (first.to_digit(10), second.to_digit(10)) {
        (Some(index), None) => (index, second),
        (None, Some(index)) => (index, first),
        _ => return None,
    };
    let rest = if letter == 'к' { rest.strip_prefix('в').unwrap_or(&rest) } else { &rest };
    let each = match letter {
        'q' | 'к' => 3,
        'h' | 'п' => 6,
        _ => return None,
    };
    let year = match (rest.len(), rest.parse::<i16>()) {
        (0, _) => None,
        (2, Ok(year)) => Some(2_000 + year),
        (4, Ok(year)) => Some(year),
        _ => return None,
    };
    Some((index, each, year))
}

fn ordinal(word: &Word) -> Option<u32> {
    let words = [
        (1, ["перв", "first", "i", "1"]),
        (2, ["втор", "second", "ii", "2"]),
        (3, ["трет", "third", "iii", "3"]),
        (4, ["четверт", "fourth", "iv", "4"]),
    ];
    let named = |names: &[&str; 4]| {
        let digits = word.lower.split('-').next().unwrap_or_default();
        word.lower.starts_with(names[0])
            || word.lower == names[1]
            || word.lower == names[2]
            || digits == names[3]
    };
    words.iter().find(|(_, names)| named(names)).map(|(index, _)| *index)
}

/// Returns the calendar unit that is `back` units before the unit that contains `today`.
pub(super) fn calendar_unit(today: Date, unit: super::relative::Unit, back: i32) -> Period {
    use super::relative::Unit;
    let month = today.first_of_month();
    match unit {
        Unit::Day => Period::day(today.saturating_sub(back.days())),
        Unit::Week => {
            let since = i32::from(today.weekday().to_monday_zero_offset());
            let from = today.saturating_sub((since + back * 7).days());
            Period { from, to: from.saturating_add(6.days()) }
        }
        Unit::Month => months(month.saturating_sub(back.months()), 1),
        Unit::Quarter => {
            let into = i32::from((today.month() - 1) % 3);
            months(month.saturating_sub((into + back * 3).months()), 3)
        }
        Unit::Half => {
            let into = i32::from((today.month() - 1) % 6);
            months(month.saturating_sub((into + back * 6).months()), 6)
        }
        Unit::Year => months(today.first_of_year().saturating_sub((back * 12).months()), 12),
    }
}
