//! Reads the amounts in a question: percentages, fractions, share counts or money. The `weights`
//! module converts them to portfolio weights once the names are resolved.

use text::{months, numerals};

use super::risk_terms::is_about_confidence;
use super::vocabulary::begins;
use crate::words::{Word, WordKind};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    Percent(f64),
    /// A number without a unit.
    Plain(f64),
    Pieces(f64),
    Lots(f64),
    Money(f64),
    /// The rest after all other amounts.
    Rest,
}

impl Amount {
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Percent(it) => Self::Percent(-it),
            Self::Plain(it) => Self::Plain(-it),
            Self::Pieces(it) => Self::Pieces(-it),
            Self::Lots(it) => Self::Lots(-it),
            Self::Money(it) => Self::Money(-it),
            Self::Rest => Self::Rest,
        }
    }

    pub(crate) fn value(self) -> Option<f64> {
        match self {
            Self::Percent(it)
            | Self::Plain(it)
            | Self::Pieces(it)
            | Self::Lots(it)
            | Self::Money(it) => Some(it),
            Self::Rest => None,
        }
    }
}

/// One amount, or a ratio: `60/40`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AmountMatch {
    One(Amount),
    /// The numbers of a ratio: one amount per name, or one fraction.
    Ratio(Vec<f64>),
}

/// The largest number that counts as an amount.
const VALUE_MAX: f64 = 1e12;

fn is(words: &[Word], at: usize, list: &[&str]) -> bool {
    words.get(at).is_some_and(|it| it.is(list))
}

fn starts(words: &[Word], at: usize, stems: &[&str]) -> bool {
    words.get(at).is_some_and(|it| stems.iter().any(|stem| it.lower.starts_with(stem)))
}

/// Returns the amount at this word and its word count. `near` means that a name is next to it.
pub(super) fn at(
    words: &[Word],
    at: usize,
    portfolio: bool,
    near: bool,
) -> Option<(AmountMatch, usize)> {
    let around = words.get(at.saturating_sub(2)..words.len().min(at + 4)).unwrap_or_default();
    let word = words.get(at)?;
    if word.percent().is_some() && around.iter().any(is_about_confidence) {
        return None;
    }
    if let Some((amount, len)) = in_words(words, at, portfolio) {
        return Some((AmountMatch::One(amount), len));
    }
    if let Some((list, len)) = ratio(words, at) {
        return Some((AmountMatch::Ratio(list), len));
    }
    if let Some(percent) = word.percent() {
        return Some((AmountMatch::One(Amount::Percent(percent)), 2));
    }
    let (value, mut len, money) = number(words, at)?;
    if value > VALUE_MAX {
        return None;
    }
    let currency = ["руб", "₽", "rub", "долл", "usd", "евро", "юан"];
    if starts(words, at + len, &currency) || is(words, at + len, &["р", "$", "€"]) {
        len += 1;
        return Some((AmountMatch::One(Amount::Money(value)), len));
    }
    if starts(words, at + len, &["лот", "lot"]) {
        return Some((AmountMatch::One(Amount::Lots(value)), len + 1));
    }
    if starts(words, at + len, &["акци", "штук", "бумаг", "share", "piece"])
        || is(words, at + len, &["шт"])
    {
        return Some((AmountMatch::One(Amount::Pieces(value)), len + 1));
    }
    // "250 Magnit shares"
    let named = words.get(at + len).is_some_and(Word::is_letters);
    if named && near && starts(words, at + len + 1, &["share", "акци"]) {
        return Some((AmountMatch::One(Amount::Pieces(value)), len));
    }
    if money {
        return Some((AmountMatch::One(Amount::Money(value)), len));
    }
    let part = value.fract() > 0.0 && value < 1.0;
    if part {
        return Some((AmountMatch::One(Amount::Percent((value * 1e10).round() / 1e8)), len));
    }
    let marked = |at: usize| words.get(at).is_some_and(|it| it.is_mark(&['=', ':']));
    let joined = at.checked_sub(1).is_some_and(marked) || marked(at + len);
    (near && (portfolio || joined)).then_some((AmountMatch::One(Amount::Plain(value)), len))
}

/// Reads an amount in words: «половина», «две трети», «четверть», "the rest".
fn in_words(words: &[Word], at: usize, portfolio: bool) -> Option<(Amount, usize)> {
    let part = |at: usize| -> Option<f64> {
        let whole = if starts(words, at, &["половин"]) || is(words, at, &["half", "пополам"])
        {
            2.0
        } else if starts(words, at, &["трет"]) || is(words, at, &["third", "thirds"]) {
            3.0
        } else if starts(words, at, &["четверт"]) || is(words, at, &["quarter", "quarters"])
        {
            4.0
        } else if starts(words, at, &["пят"]) && starts(words, at + 1, &["част", "дол"])
            || is(words, at, &["пятых", "fifth", "fifths"])
        {
            5.0
        } else if starts(words, at, &["десят"]) && starts(words, at + 1, &["част", "дол"])
            || is(words, at, &["десятых", "tenth", "tenths"])
        {
            10.0
        } else {
            return None;
        };
        Some(100.0 / whole)
    };
    let rest = starts(words, at, &["остальн", "остат", "оставш"])
        || is(words, at, &["rest", "remainder", "remaining"]);
    // «сильнее остальных» means other securities, not the rest of a portfolio.
    if rest && !is(words, at, &["остальных", "остальным"]) {
        return Some((Amount::Rest, 1));
    }
    let times = match words.get(at)?.lower.as_str() {
        "две" | "двум" | "two" => 2.0,
        "три" | "three" => 3.0,
        "четыре" | "four" => 4.0,
        "одна" | "одну" | "one" | "a" => 1.0,
        _ => 0.0,
    };
    // "Third" and "quarter" can also be a rank or a period; they are amounts only next to other
    // amount words.
    let time = |at: usize| {
        starts(words, at, &["квартал", "год", "месяц", "недел"])
            || is(words, at, &["year", "last", "this", "past"])
            || is(words, at, &["of"])
                && (starts(words, at + 1, &["19", "20"])
                    || is(words, at + 1, &["the", "last", "this"]))
            || is(words, at.wrapping_sub(1), &["last", "this", "past", "за", "the", "per"])
    };
    if times > 0.0 {
        let found = part(at + 1).filter(|_| !time(at + 2))?;
        return Some((Amount::Percent(found * times), 2));
    }
    let found = part(at).filter(|_| !time(at + 1))?;
    (portfolio || found >= 25.0).then_some((Amount::Percent(found), 1))
}

/// Reads a ratio: `60/40`, `40/30/30`, `1/3`, «70 на 30», «2:1», «2 к 1».
fn ratio(words: &[Word], at: usize) -> Option<(Vec<f64>, usize)> {
    let whole = |at: usize| words.get(at).and_then(Word::number);
    let mut list = vec![whole(at)?];
    let mut len = 1;
    let joins = |at: usize| {
        let apart = is(words, at, &["на", "к"]);
        apart || words.get(at).is_some_and(|it| it.is_mark(&['/', ':', '-']) && it.glued)
    };
    while joins(at + len) {
        let Some(next) = whole(at + len + 1) else { break };
        list.push(next);
        len += 2;
    }
    let sum: f64 = list.iter().sum();
    // Only a slash is certain; dashes and prepositions also join other numbers, so their sum must
    // be 100 or at most 12.
    let sure = words.get(at + 1).is_some_and(|it| it.is_mark(&['/']));
    let fits = (sum - 100.0).abs() < 1e-9 || (sum - 10.0).abs() < 1e-9 || sum <= 12.0;
    let dated = words
        .get(at + len)
        .is_some_and(|it| it.kind == WordKind::Cyrillic && months::month(&it.lower).is_some());
    let percent = words.get(at + len).is_some_and(|it| it.is_mark(&['%']));
    (list.len() > 1 && (sure || fits) && !dated).then_some((list, len + usize::from(percent)))
}

/// Returns a number scaled by its words for thousands or millions, its word count, and whether it
/// has such words.
fn number(words: &[Word], at: usize) -> Option<(f64, usize, bool)> {
    let scale = |text: &str| match text {
        "к" | "k" => Some(1e3),
        "м" | "m" => Some(1e6),
        word => numerals::scale(word).filter(|it| *it >= 1_000).map(|it| it as f64),
    };
    let word = words.get(at)?;
    // «300к»
    if word.is_letters() {
        let digits = word.lower.find(|it: char| !it.is_ascii_digit())?;
        let (count, letters) = word.lower.split_at_checked(digits)?;
        let count: f64 = count.parse().ok()?;
        // «6м» means six months, not six million.
        return scale(letters).filter(|it| *it == 1e3).map(|it| (count * it, 1, true));
    }
    let mut value = word.number()?;
    let mut len = 1;
    while value >= 1.0
        && words.get(at + len).is_some_and(|it| {
            it.text.len() == 3 && it.number().is_some() && !it.glued && word.text.len() <= 3
        })
    {
        value = value * 1_000.0 + words.get(at + len).and_then(Word::number)?;
        len += 1;
    }
    let Some(by) = words.get(at + len).and_then(|it| scale(&it.lower)) else {
        return Some((value, len, false));
    };
    let point = words.get(at + len + 1).is_some_and(|it| it.is_mark(&['.']));
    Some((value * by, len + 1 + usize::from(point), true))
}

/// Reports whether a word is a number with its scale: «300к».
pub(super) fn is_scaled(word: &Word) -> bool {
    word.is_letters()
        && word.text.starts_with(|it: char| it.is_ascii_digit())
        && number(std::slice::from_ref(word), 0).is_some()
}

/// Returns a ratio as one fraction, if it is one: `1/3`.
pub(super) fn fraction(list: &[f64]) -> Option<Amount> {
    match list {
        [part, whole] if part < whole && *part >= 1.0 && *whole <= 20.0 => {
            Some(Amount::Percent(part / whole * 100.0))
        }
        _ => None,
    }
}

/// Reports whether any number has a unit, so that the others may omit it.
pub(super) fn has_units(words: &[Word]) -> bool {
    let units = ["акци", "штук", "лот", "руб", "тыс", "share", "lot"];
    words.windows(2).any(|it| {
        it[0].number().is_some()
            && it[0].percent().is_none()
            && (units.iter().any(|unit| it[1].lower.starts_with(unit)) || it[1].is(&["шт", "₽"]))
    })
}

pub(super) fn is_portfolio(words: &[Word]) -> bool {
    begins(words, &["портфел", "portfolio", "портфол"])
}
