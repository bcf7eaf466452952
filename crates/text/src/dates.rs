//! Days and months as people write them: `2021-03-04`, `03/04/2021`, `04.03.2021`, `March 4, 2021`,
//! `4th day of March 2021`, `March 2021`, `4 марта 2021 г.`. Relative dates are not read here.

use std::sync::LazyLock;

use crate::months;
use crate::pattern::{Pattern, PatternMatch, Slot};
use crate::tokens::TokenRow;

/// A number outside these years is not read as a year.
const YEARS: std::ops::RangeInclusive<i16> = 1700..=2199;

/// A date as it is written; it has a year or a day, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenDate {
    /// The year, with its century.
    pub year: Option<i16>,
    /// From 1.
    pub month: u8,
    /// From 1.
    pub day: Option<u8>,
    /// Whether day and month may be the other way round, as in `03/04/2021`.
    pub ambiguous: bool,
}

const SLOTS: [(&str, Slot); 5] = [
    ("day", |row, at| day_of_month(row, at).map(|it| it.1)),
    ("month", |row, at| month(row, at).map(|_| at + 1)),
    ("year", |row, at| year(row, at).map(|_| at + 1)),
    ("open", |row, at| matches!(row.lower(at), "«" | "\"" | "“").then_some(at + 1)),
    ("close", |row, at| matches!(row.lower(at), "»" | "\"" | "”").then_some(at + 1)),
];

/// `March 3, 2024`, `Mar. 3rd 2024`, `March of 2024`, `январь 2024 года`
static MONTH_FIRST: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new("{month} [.] {day} [,] {year} | {month} [.] [, | of] {year}", &SLOTS)
});
/// `3 March 2024`, `24th day of June, A.D. 2013`, `«15» января 2024 г.`
static DAY_FIRST: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(
        "({day} | {open} {day} {close}) [[day] of] {month} [.] [, | of] [a . d .] {year} \
         | {day} - {month} - {year}",
        &SLOTS,
    )
});
/// `March 3`, `3rd of March`, `3 марта`
static WITHOUT_YEAR: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::new("{month} [.] {day} | {day} [[day] of] {month}", &SLOTS));
/// The word for year that may follow a Russian date: `года`, `г.`
static YEAR_WORD: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::new("год | года | году | годом | г [.]", &[]));

/// Whether a date may begin at this token: a number, a quotation mark or a month that no number is
/// joined to, as in `1.03.04.2021`.
#[must_use]
pub fn may_begin(row: &dyn TokenRow, at: usize) -> bool {
    let opens =
        row.is_number(at) || matches!(row.lower(at), "«" | "\"" | "“") || month(row, at).is_some();
    let before = at.checked_sub(1).filter(|_| row.is_glued(at));
    let joined = |it: usize| {
        row.is_number(it) || matches!(row.lower(it), "/" | "-" | ":" | "." | "$" | "№" | "§")
    };
    opens && !before.is_some_and(joined)
}

/// The date with a year that begins at this token, and the token after it.
///
/// ```
/// use text::{TokenList, dates};
///
/// let (date, end) = dates::date(&TokenList::new("4th day of March, 2021"), 0).expect("a date");
/// assert_eq!((date.year, date.month, date.day, end), (Some(2021), 3, Some(4), 7));
/// ```
#[must_use]
pub fn date(row: &dyn TokenRow, at: usize) -> Option<(WrittenDate, usize)> {
    if row.is_number(at)
        && let Some((date, end)) = in_figures(row, at)
    {
        return Some((date, after_year(row, end)));
    }
    let month_first = !row.is_number(at) && month(row, at).is_some();
    let pattern = if month_first { &MONTH_FIRST } else { &DAY_FIRST };
    let found = pattern.at(row, at)?;
    let date = written(row, &found)?;
    // `March 3, 2024` has no Russian word after its year.
    let russian = !month_first || date.day.is_none();
    Some((date, if russian { after_year(row, found.end) } else { found.end }))
}

/// The day and month without a year that begin at this token, and the token after them.
#[must_use]
pub fn without_year(row: &dyn TokenRow, at: usize) -> Option<(WrittenDate, usize)> {
    let found = WITHOUT_YEAR.at(row, at)?;
    Some((written(row, &found)?, found.end))
}

fn written(row: &dyn TokenRow, found: &PatternMatch) -> Option<WrittenDate> {
    let start = |name: &str| found.slot(name).map(|it| it.start);
    let month = month(row, start("month")?)?;
    let day = start("day").and_then(|it| day_of_month(row, it)).map(|it| it.0);
    let year = start("year").and_then(|it| year(row, it));
    // Without a year, 29 February is a day.
    let exists = day.is_none_or(|it| is_day(year.unwrap_or(2000), month, it));
    exists.then_some(WrittenDate { year, month, day, ambiguous: false })
}

/// A number of at most nine digits, and how many it has.
fn number(row: &dyn TokenRow, at: usize) -> Option<(u32, usize)> {
    let digits = row.is_number(at).then(|| row.lower(at)).filter(|it| it.len() <= 9)?;
    Some((digits.parse().ok()?, digits.len()))
}

/// `12/31/2024`, `12/31/24`, `2024-12-31`, `31.12.2024`
fn in_figures(row: &dyn TokenRow, at: usize) -> Option<(WrittenDate, usize)> {
    let mark = row.lower(at + 1);
    let tight = (at + 1..at + 5).all(|it| row.is_glued(it)) && row.lower(at + 3) == mark;
    if !tight || !matches!(mark, "/" | "-" | ".") {
        return None;
    }
    let (first, width) = number(row, at)?;
    let (second, middle) = number(row, at + 2)?;
    let (third, last) = number(row, at + 4)?;
    let end = at + 5;
    let more = row.is_glued(end) && (row.is_number(end) || matches!(row.lower(end), "/" | "-"));
    if more || middle > 2 {
        return None;
    }
    let read = |year: u32, month: u32, day: u32, ambiguous: bool| {
        let year = i16::try_from(year).ok().filter(|it| YEARS.contains(it))?;
        let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
        let date = WrittenDate { year: Some(year), month, day: Some(day), ambiguous };
        is_day(year, month, day).then_some((date, end))
    };
    if width == 4 && mark == "-" && last <= 2 {
        return read(first, second, third, false);
    }
    let year = match last {
        _ if width > 2 => return None,
        4 => third,
        2 if mark == "/" && third < 70 => 2000 + third,
        2 if mark == "/" => 1900 + third,
        _ => return None,
    };
    if mark == "." {
        return read(year, second, first, false);
    }
    // Thirteen and above cannot be a month, so such a date has its day first.
    let both = first <= 12 && second <= 12;
    read(year, first, second, both).or_else(|| read(year, second, first, both))
}

/// Whether the calendar has the day.
fn is_day(year: i16, month: u8, day: u8) -> bool {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// The year at this token: four digits that no dash or stroke continues.
#[must_use]
pub fn year(row: &dyn TokenRow, at: usize) -> Option<i16> {
    let (value, digits) = number(row, at)?;
    // `2024-05` and `1999/2` are numbers of something else.
    let longer = row.is_glued(at + 1) && matches!(row.lower(at + 1), "-" | "/");
    let year = i16::try_from(value).ok().filter(|it| YEARS.contains(it))?;
    (digits == 4 && !longer).then_some(year)
}

/// The index after the word for year, `г.` or `года`, that may stand at this token after a Russian
/// date; `at` if it does not.
#[must_use]
pub fn after_year(row: &dyn TokenRow, at: usize) -> usize {
    YEAR_WORD.at(row, at).map_or(at, |it| it.end)
}

/// The day `3` or `3rd` at this token, and the token after it.
#[must_use]
pub fn day_of_month(row: &dyn TokenRow, at: usize) -> Option<(u8, usize)> {
    let (value, digits) = number(row, at)?;
    let day = u8::try_from(value).ok().filter(|it| digits <= 2 && (1..=31).contains(it))?;
    let ordinal = row.is_glued(at + 1) && matches!(row.lower(at + 1), "st" | "nd" | "rd" | "th");
    let after = if ordinal { at + 2 } else { at + 1 };
    // `March 3.5` is no day.
    let fraction = row.lower(after) == "."
        && row.is_glued(after)
        && row.is_glued(after + 1)
        && row.is_number(after + 1);
    (!fraction).then_some((day, after))
}

/// The month that this token names. `May` and `march` are words too, so English ones need a
/// capital.
#[must_use]
pub fn month(row: &dyn TokenRow, at: usize) -> Option<u8> {
    let word = row.lower(at);
    let month = months::month(word)?;
    (!word.is_ascii() || row.is_capital(at)).then_some(month)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::TokenList;

    #[track_caller]
    fn check(text: &str, expected: Option<(i16, u8, u8)>) {
        let found = date(&TokenList::new(text), 0)
            .map(|(it, _)| (it.year.unwrap_or(0), it.month, it.day.unwrap_or(0)));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn dates_are_read() {
        for text in [
            "March 4, 2021",
            "Mar. 4, 2021",
            "Mar. 4th 2021",
            "4 March 2021",
            "4th day of March, 2021",
            "4th day of March, A.D. 2021",
            "4th of March 2021",
            "2021-03-04",
            "4-Mar-2021",
            "03/04/2021",
            "3/4/21",
            "04.03.2021",
            "4 марта 2021 года",
            "«4» марта 2021 г.",
        ] {
            check(text, Some((2021, 3, 4)));
        }
        check("March 2021", Some((2021, 3, 0)));
        check("March of 2021", Some((2021, 3, 0)));
        check("январь 2024 года", Some((2024, 1, 0)));
        check("31/12/1999", Some((1999, 12, 31)));
        check("12/31/71", Some((1971, 12, 31)));
        for text in [
            "may 3, 2021",
            "March 3.5 2021",
            "30.02.2021",
            "February 30, 2021",
            "2021-03-04-05",
            "March 4",
            "«4 марта 2021",
            "4/5/2",
            "March 4, 2021-05",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn the_end_includes_the_word_for_year() {
        for (text, expected) in [
            ("4 марта 2021 г. суд", 5),
            ("4 марта 2021 суд", 3),
            ("March 4, 2021 г.", 4),
            ("04.03.2021 года", 6),
        ] {
            assert_eq!(date(&TokenList::new(text), 0).map(|it| it.1), Some(expected), "{text}");
        }
    }

    #[test]
    fn days_without_a_year_are_read_apart() {
        for text in ["March 4 and", "4 марта", "4th of March", "4th day of March,"] {
            let (found, _) = without_year(&TokenList::new(text), 0).unwrap();
            assert_eq!((found.year, found.month, found.day), (None, 3, Some(4)), "{text}");
        }
        assert_eq!(without_year(&TokenList::new("march 4"), 0), None);
        assert_eq!(without_year(&TokenList::new("March 2021"), 0), None);
    }

    #[test]
    fn the_patterns_are_right() {
        for pattern in [&MONTH_FIRST, &DAY_FIRST, &WITHOUT_YEAR, &YEAR_WORD] {
            assert_eq!(pattern.problem(), None);
        }
    }

    proptest! {
        #[test]
        fn a_date_is_read_as_it_is_written(
            year in 1700_i16..2200, month in 1_u8..13, day in 1_u8..32, form in 0..6,
        ) {
            let (english, russian) = (months::english(month).unwrap(), months::russian(month).unwrap());
            let text = match form {
                0 => format!("{year}-{month:02}-{day:02}"),
                1 => format!("{day:02}.{month:02}.{year}"),
                2 => format!("{english} {day}, {year}"),
                3 => format!("{day} {english} {year}"),
                4 => format!("{day} {russian} {year} года"),
                _ => format!("{month}/{day}/{year}"),
            };
            let list = TokenList::new(&text);
            let found = date(&list, 0);
            prop_assert_eq!(found.is_some(), is_day(year, month, day), "{}", text);
            if let Some((it, end)) = found {
                prop_assert_eq!((it.year, it.month, it.day), (Some(year), month, Some(day)), "{}", text);
                prop_assert_eq!(end, list.tokens().len());
            }
        }

        #[test]
        fn odd_rows_do_not_panic(text in "([0-9]{1,10}|[./\\-«» ,]|March|мая|of|day|г){0,12}") {
            let list = TokenList::new(&text);
            for at in 0..list.tokens().len() + 2 {
                let ends = [date(&list, at), without_year(&list, at)];
                for (_, end) in ends.into_iter().flatten() {
                    prop_assert!(end > at && end <= list.tokens().len());
                }
            }
        }
    }
}
