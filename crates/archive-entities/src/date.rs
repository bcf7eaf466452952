//! Reads English and Russian dates in legal texts. A day without a year is not read as a date.

use std::sync::LazyLock;

use text::{Pattern, dates};

use crate::chronology::{DateRange, Precision};
use crate::entity::Ground;
use crate::text::TokenText;

/// A date and the token after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DateMatch {
    pub(crate) end: usize,
    pub(crate) when: DateRange,
    pub(crate) ground: Ground,
}

fn found(end: usize, when: Option<DateRange>) -> Option<DateMatch> {
    Some(DateMatch { end, when: when?, ground: Ground::Form })
}

/// The date that begins at this token, ranges first.
pub(crate) fn at(text: &TokenText<'_>, at: usize) -> Option<DateMatch> {
    // This runs for each token, so tokens that cannot begin a date are rejected first.
    if !dates::may_begin(text, at) {
        return None;
    }
    range(text, at).or_else(|| single(text, at)).or_else(|| year_alone(text, at))
}

fn single(text: &TokenText<'_>, at: usize) -> Option<DateMatch> {
    let (date, end) = dates::date(text, at)?;
    let (year, month) = (date.year?, i8::try_from(date.month).ok()?);
    let when = match date.day {
        Some(day) => DateRange::day(year, month, i8::try_from(day).ok()?),
        None => DateRange::month(year, month),
    };
    found(end, when)
}

fn day_of_month(text: &TokenText<'_>, at: usize) -> Option<(i8, usize)> {
    let (day, end) = dates::day_of_month(text, at)?;
    Some((i8::try_from(day).ok()?, end))
}

fn month(text: &TokenText<'_>, at: usize) -> Option<i8> {
    dates::month(text, at).and_then(|it| i8::try_from(it).ok())
}

/// `March 3-5, 2024`
static DAYS_OF_MONTH: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "{month} {first} (to | through | until | and | – | — | - | по | до) {last} [,] {year}",
        &[
            ("month", |row, at| dates::month(row, at).map(|_| at + 1)),
            ("first", |row, at| dates::day_of_month(row, at).map(|it| it.1)),
            ("last", |row, at| dates::day_of_month(row, at).map(|it| it.1)),
            ("year", |row, at| dates::year(row, at).map(|_| at + 1)),
        ],
    )
});

fn days_of_month(text: &TokenText<'_>, at: usize) -> Option<DateMatch> {
    let found_days = DAYS_OF_MONTH.at(text, at)?;
    let start = |slot: &str| found_days.slot(slot).map(|it| it.start);
    let month = month(text, start("month")?)?;
    let year = dates::year(text, start("year")?)?;
    let day = |slot: &str| DateRange::day(year, month, day_of_month(text, start(slot)?)?.0);
    found(found_days.end, DateRange::range(day("first")?, day("last")?))
}

/// `March 3-5, 2024`, `from March 3 to April 5, 2024`, `с 1 марта по 15 апреля 2024 года`
fn range(text: &TokenText<'_>, at: usize) -> Option<DateMatch> {
    if let Some(first) = single(text, at) {
        let next = link(text, first.end)?;
        let last = single(text, next)?;
        // `March 3, 2024 and …` joins two events unless `between` precedes.
        let and = text.is(first.end, "and") && !(at > 0 && text.is(at - 1, "between"));
        // `до` and `to` follow other things as well.
        let towards = matches!(text.low(first.end), "to" | "по" | "до");
        let opened = at > 0
            && matches!(
                text.low(at - 1),
                "from" | "с" | "со" | "between" | "of" | "за" | "for" | "period" | "период"
            );
        if and || (towards && !opened) {
            return None;
        }
        return found(last.end, DateRange::range(first.when, last.when));
    }
    if let Some(month) = month(text, at) {
        if let Some(days) = days_of_month(text, at) {
            return Some(days);
        }
        let (day, after) = day_of_month(text, at + 1)?;
        let next = link(text, after)?;
        let last = single(text, next).filter(|it| it.when.precision == Precision::Day)?;
        let first = DateRange::day(last.when.to.year(), month, day)?;
        return found(last.end, DateRange::range(first, last.when));
    }
    let (day, _) = day_of_month(text, at).filter(|it| it.1 == at + 1)?;
    let month_at = month(text, at + 1);
    let next = link(text, if month_at.is_some() { at + 2 } else { at + 1 })?;
    let in_words = month(text, next).is_none() && !matches!(text.low(next + 1), "/" | "-" | ".");
    let last = single(text, next).filter(|_| in_words)?;
    let month = month_at.unwrap_or_else(|| last.when.to.month());
    let first = DateRange::day(last.when.to.year(), month, day)?;
    found(last.end, DateRange::range(first, last.when))
}

/// The token after the word that joins the ends of a range.
fn link(text: &TokenText<'_>, at: usize) -> Option<usize> {
    match text.low(at) {
        "to" | "through" | "until" | "and" | "–" | "—" | "-" | "по" | "до" => Some(at + 1),
        _ => None,
    }
}

/// `in 2019`, `since 2019`, `from 2019 to 2021`, `2019 год`
fn year_alone(text: &TokenText<'_>, at: usize) -> Option<DateMatch> {
    let first = dates::year(text, at)?;
    let before = at.checked_sub(1).map(|it| text.low(it)).unwrap_or_default();
    let end = dates::after_year(text, at + 1);
    let shaped = |when| DateMatch { end, when, ground: Ground::Shape };
    if end > at + 1 {
        return DateRange::year(first).map(shaped);
    }
    if matches!(before, "from" | "between" | "с")
        && let Some(next) = link(text, at + 1)
        && let Some(last) = dates::year(text, next)
    {
        let when = DateRange::range(DateRange::year(first)?, DateRange::year(last)?)?;
        return Some(DateMatch {
            end: dates::after_year(text, next + 1),
            when,
            ground: Ground::Shape,
        });
    }
    let introduced = matches!(
        before,
        "in" | "since" | "during" | "until" | "early" | "late" | "mid" | "year" | "of"
    );
    // `of 2019` needs a word of time before it: `the summer of 2019`.
    let season = before != "of"
        || (at > 1
            && matches!(
                text.low(at - 2),
                "spring" | "summer" | "fall" | "autumn" | "winter" | "end" | "beginning"
            ));
    let counted = text.is_word(at + 1)
        && matches!(
            text.low(at + 1),
            "dollars" | "shares" | "units" | "people" | "employees" | "pages" | "square" | "miles"
        );
    if introduced && season && !counted { DateRange::year(first).map(shaped) } else { None }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_pattern_is_right() {
        assert_eq!(super::DAYS_OF_MONTH.problem(), None);
    }
}
