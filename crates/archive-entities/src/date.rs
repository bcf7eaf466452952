//! Reads English and Russian dates in legal texts. A day without a year is not read as a date.

use crate::chronology::{DateRange, Precision};
use crate::entity::Ground;
use crate::text::{TokenKind, TokenText};

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
    let token = text.at(at)?;
    // This runs for each token, so tokens that cannot begin a date are rejected first.
    let opens = match token.kind {
        TokenKind::Number => true,
        TokenKind::Mark => matches!(text.low(at), "«" | "\"" | "“"),
        TokenKind::Word => may_be_month(text.low(at), token.capital),
    };
    if !opens {
        return None;
    }
    let follows_digits = token.glued && at > 0 && (text.is_number(at - 1) || joins(text, at - 1));
    if follows_digits {
        return None;
    }
    range(text, at).or_else(|| single(text, at)).or_else(|| year_alone(text, at))
}

/// Whether a word begins with the first letter of a month; English months also need a capital.
fn may_be_month(word: &str, capital: bool) -> bool {
    match word.chars().next() {
        Some('j' | 'f' | 'm' | 'a' | 's' | 'o' | 'n' | 'd') => capital,
        Some('я' | 'ф' | 'м' | 'а' | 'и' | 'с' | 'о' | 'н' | 'д') => true,
        _ => false,
    }
}

fn joins(text: &TokenText<'_>, at: usize) -> bool {
    matches!(text.low(at), "/" | "-" | ":" | "." | "$" | "№" | "§")
}

fn single(text: &TokenText<'_>, at: usize) -> Option<DateMatch> {
    if text.is_number(at) {
        return numeric(text, at).or_else(|| day_first(text, at));
    }
    if text.is(at, "«") || text.is(at, "\"") || text.is(at, "“") {
        return day_first(text, at);
    }
    month_first(text, at)
}

fn year(text: &TokenText<'_>, at: usize) -> Option<i16> {
    let (value, digits) = text.number(at)?;
    // `2024-05` and `1999/2` are numbers of something else.
    let longer = text.glued(at + 1) && matches!(text.low(at + 1), "-" | "/");
    let fits = digits == 4 && (1700..=2199).contains(&value) && !longer;
    fits.then(|| i16::try_from(value).ok()).flatten()
}

fn day(text: &TokenText<'_>, at: usize) -> Option<i8> {
    let (value, digits) = text.number(at)?;
    (digits <= 2 && (1..=31).contains(&value)).then(|| i8::try_from(value).ok()).flatten()
}

/// The word of the year after a Russian date: `г.`, `года`.
fn after_year(text: &TokenText<'_>, at: usize) -> usize {
    match text.low(at) {
        "года" | "год" | "году" | "годом" => at + 1,
        "г" if text.is(at + 1, ".") => at + 2,
        "г" => at + 1,
        _ => at,
    }
}

/// `12/31/2024`, `2024-12-31`, `31.12.2024`
fn numeric(text: &TokenText<'_>, at: usize) -> Option<DateMatch> {
    let mark = text.low(at + 1);
    let tight = (at + 1..at + 5).all(|it| text.glued(it)) && text.low(at + 3) == mark;
    if !tight || !matches!(mark, "/" | "-" | ".") {
        return None;
    }
    let (first, width) = text.number(at)?;
    let (second, _) = text.number(at + 2)?;
    let (third, last) = text.number(at + 4)?;
    let more =
        text.glued(at + 5) && (text.is_number(at + 5) || matches!(text.low(at + 5), "/" | "-"));
    if more || text.word(at + 2).len() > 2 {
        return None;
    }
    let small = |it: u64| i8::try_from(it).ok();
    let whole = |it: u64| i16::try_from(it).ok().filter(|it| (1700..=2199).contains(it));
    if width == 4 && mark == "-" && last <= 2 {
        return found(at + 5, DateRange::day(whole(first)?, small(second)?, small(third)?));
    }
    if width > 2 {
        return None;
    }
    let third = match last {
        4 => whole(third)?,
        2 if mark == "/" => whole(if third < 70 { 2000 + third } else { 1900 + third })?,
        _ => return None,
    };
    let end = after_year(text, at + 5);
    if mark == "." {
        return found(end, DateRange::day(third, small(second)?, small(first)?));
    }
    // Thirteen and above cannot be a month, so such a date has its day first.
    let american = DateRange::day(third, small(first)?, small(second)?);
    found(end, american.or_else(|| DateRange::day(third, small(second)?, small(first)?)))
}

/// `March 3, 2024`, `Mar. 3rd 2024`, `March 2024`, `январь 2024 года`
fn month_first(text: &TokenText<'_>, at: usize) -> Option<DateMatch> {
    let month = month(text, at)?;
    let mut next = at + 1;
    if text.is(next, ".") {
        next += 1;
    }
    if let Some((day, after)) = day_of_month(text, next)
        && let Some(year) = year(text, comma(text, after))
    {
        return found(comma(text, after) + 1, DateRange::day(year, month, day));
    }
    let year_at = if text.is(comma(text, next), "of") { next + 1 } else { comma(text, next) };
    let year = year(text, year_at)?;
    let end = after_year(text, year_at + 1);
    found(end, DateRange::month(year, month))
}

fn comma(text: &TokenText<'_>, at: usize) -> usize {
    if text.is(at, ",") { at + 1 } else { at }
}

/// `3`, `3rd`
fn day_of_month(text: &TokenText<'_>, at: usize) -> Option<(i8, usize)> {
    let day = day(text, at)?;
    let ordinal = text.glued(at + 1) && matches!(text.low(at + 1), "st" | "nd" | "rd" | "th");
    let after = if ordinal { at + 2 } else { at + 1 };
    // `March 3.5` is no day.
    let fraction = text.is(after, ".")
        && text.glued(after)
        && text.glued(after + 1)
        && text.is_number(after + 1);
    (!fraction).then_some((day, after))
}

/// `3 March 2024`, `24th day of June, 2013`, `«15» января 2024 г.`
fn day_first(text: &TokenText<'_>, at: usize) -> Option<DateMatch> {
    let quoted = !text.is_number(at);
    let from = if quoted { at + 1 } else { at };
    let (day, mut next) = day_of_month(text, from)?;
    if quoted {
        if !matches!(text.low(next), "»" | "\"" | "”") {
            return None;
        }
        next += 1;
    }
    if text.run(next, &["day", "of"]) {
        next += 2;
    } else if text.is(next, "of") {
        next += 1;
    }
    let month = month(text, next)?;
    next += 1;
    if text.is(next, ".") {
        next += 1;
    }
    next = comma(text, next);
    // `the 23rd day of January, A.D. 2024`
    next += if text.run(next, &["a", ".", "d", "."]) { 4 } else { 0 };
    let year = year(text, next)?;
    found(after_year(text, next + 1), DateRange::day(year, month, day))
}

/// The month that a word names. `May` and `march` are words too, so English ones need a capital.
fn month(text: &TokenText<'_>, at: usize) -> Option<i8> {
    let word = text.low(at);
    let english = match word {
        "january" | "jan" => 1,
        "february" | "feb" => 2,
        "march" | "mar" => 3,
        "april" | "apr" => 4,
        "may" => 5,
        "june" | "jun" => 6,
        "july" | "jul" => 7,
        "august" | "aug" => 8,
        "september" | "sept" | "sep" => 9,
        "october" | "oct" => 10,
        "november" | "nov" => 11,
        "december" | "dec" => 12,
        _ => 0,
    };
    if english > 0 {
        return text.capital(at).then_some(english);
    }
    const RUSSIAN: [&str; 12] = [
        "январ",
        "феврал",
        "март",
        "апрел",
        "ма",
        "июн",
        "июл",
        "август",
        "сентябр",
        "октябр",
        "ноябр",
        "декабр",
    ];
    let place = RUSSIAN.iter().position(|stem| {
        word.strip_prefix(stem).is_some_and(|end| match *stem {
            "ма" => matches!(end, "я" | "й" | "е"),
            "март" | "август" => matches!(end, "а" | "" | "е"),
            _ => matches!(end, "я" | "ь" | "е"),
        })
    })?;
    i8::try_from(place + 1).ok()
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
        let (day, after) = day_of_month(text, at + 1)?;
        let next = link(text, after)?;
        if let Some((last, after)) = day_of_month(text, next)
            && let Some(year) = year(text, comma(text, after))
        {
            let ends = DateRange::range(
                DateRange::day(year, month, day)?,
                DateRange::day(year, month, last)?,
            );
            return found(comma(text, after) + 1, ends);
        }
        let last = single(text, next).filter(|it| it.when.precision == Precision::Day)?;
        let first = DateRange::day(last.when.to.year(), month, day)?;
        return found(last.end, DateRange::range(first, last.when));
    }
    let day = day(text, at)?;
    let month_at = month(text, at + 1);
    let next = link(text, if month_at.is_some() { at + 2 } else { at + 1 })?;
    let last = day_first(text, next)?;
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
    let first = year(text, at)?;
    let before = at.checked_sub(1).map(|it| text.low(it)).unwrap_or_default();
    let end = after_year(text, at + 1);
    let shaped = |when| DateMatch { end, when, ground: Ground::Shape };
    if end > at + 1 {
        return DateRange::year(first).map(shaped);
    }
    if matches!(before, "from" | "between" | "с")
        && let Some(next) = link(text, at + 1)
        && let Some(last) = year(text, next)
    {
        let when = DateRange::range(DateRange::year(first)?, DateRange::year(last)?)?;
        return Some(DateMatch { end: after_year(text, next + 1), when, ground: Ground::Shape });
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
