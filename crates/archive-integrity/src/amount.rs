//! Numbers with their units: figures and words, thousands and millions, money, percent and
//! measures. The module only reads numbers; it does not verify sums that the writer computed.

use text::numerals;

use crate::Span;
use crate::text::{Word, stem};

/// Four decimal places are kept.
const ONE: u128 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    Money(char),
    Percent,
    /// One of `UNITS`.
    Named(usize),
    Bare,
}

impl Amount {
    /// The same length of time in another unit: two weeks are fourteen days.
    pub(crate) fn converted(&self) -> Vec<Self> {
        const LENGTHS: [(&str, u128); 13] = [
            ("minut", 1),
            ("hour", 60),
            ("day", 1_440),
            ("week", 10_080),
            ("month", 0),
            ("year", 0),
            ("час", 60),
            ("день", 1_440),
            ("дн", 1_440),
            ("недел", 10_080),
            ("месяц", 0),
            ("год", 0),
            ("лет", 0),
        ];
        let Unit::Named(at) = self.unit else { return Vec::new() };
        let name = UNITS.get(at).copied().unwrap_or_default();
        let length = |name: &str| {
            let months = if matches!(name, "year" | "год" | "лет") { 12 } else { 1 };
            let found = LENGTHS.iter().find(|it| it.0 == name)?;
            Some(if found.1 == 0 { (1, months) } else { (0, found.1) })
        };
        let Some((sort, own)) = length(name) else { return Vec::new() };
        let others = LENGTHS.iter().filter(|it| it.0 != name).filter_map(|it| {
            let (other, times) = length(it.0)?;
            let whole = self.value.saturating_mul(own);
            let unit = UNITS.iter().position(|unit| *unit == it.0)?;
            let fits = other == sort && whole % times == 0;
            fits.then_some(Self { value: whole / times, slack: 0, unit: Unit::Named(unit) })
        });
        let mut list: Vec<Self> = others.collect();
        list.extend(self.month_in_days(name));
        list
    }

    /// A writer counts thirty days as a month.
    fn month_in_days(&self, name: &str) -> Option<Self> {
        let (other, value) = match name {
            "month" => ("day", self.value.saturating_mul(30)),
            "месяц" => ("день", self.value.saturating_mul(30)),
            "day" if self.value.is_multiple_of(300_000) => ("month", self.value / 30),
            "день" if self.value.is_multiple_of(300_000) => ("месяц", self.value / 30),
            _ => return None,
        };
        let unit = UNITS.iter().position(|it| *it == other)?;
        Some(Self { value, slack: 0, unit: Unit::Named(unit) })
    }
}

impl Unit {
    /// Whether equal numbers with these units can mean the same thing.
    pub(crate) fn fits(self, other: Self) -> bool {
        self == other || self == Self::Bare || other == Self::Bare
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Amount {
    pub(crate) value: u128,
    /// The tolerance within which two numbers are equal: «about», `1.2 million`.
    pub(crate) slack: u128,
    pub(crate) unit: Unit,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct AmountMention {
    pub(crate) amount: Amount,
    pub(crate) span: Span,
}

const UNITS: [&str; 34] = [
    "day",
    "week",
    "month",
    "year",
    "hour",
    "minut",
    "mil",
    "acr",
    "pag",
    "foot",
    "feet",
    "squar",
    "unit",
    "employ",
    "exhibit",
    "witness",
    "tenant",
    "install",
    "count",
    "lb",
    "ton",
    "inch",
    "mph",
    "juror",
    "share",
    "kilomet",
    "met",
    "дн",
    "день",
    "месяц",
    "год",
    "лет",
    "час",
    "недел",
];

const ABOUT: [&str; 12] = [
    "about",
    "approximately",
    "roughly",
    "nearly",
    "almost",
    "around",
    "some",
    "estimated",
    "around",
    "около",
    "примерно",
    "почти",
];

/// All numbers among the words that no date or citation covers.
pub(crate) fn find(text: &str, words: &[Word<'_>], taken: &[bool]) -> Vec<AmountMention> {
    let free = |at: usize| taken.get(at).is_some_and(|it| !it);
    let mut list = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if !free(at) {
            at += 1;
            continue;
        }
        if let Some((value, end)) = fraction(words, at) {
            let span = Span { start: words[at].start, end: words[end - 1].end };
            let amount = Amount { value, slack: ONE / 2, unit: Unit::Percent };
            list.push(AmountMention { amount, span });
            at = end;
            continue;
        }
        let read = figures(text, words, at).or_else(|| spelled(text, words, at));
        let read = read.filter(|_| !is_bullet(text, &words[at]));
        let Some((value, step, end)) = read else {
            at += 1;
            continue;
        };
        list.push(finish(text, words, (at, end), value, step));
        at = end;
    }
    list
}

/// `One third`, `three quarters` and `half of`, in hundredths.
fn fraction(words: &[Word<'_>], at: usize) -> Option<(u128, usize)> {
    let word = |at: usize| words.get(at).map(Word::fold).unwrap_or_default();
    let parts = |it: &str| match it {
        "half" | "halves" => Some(2),
        "third" | "thirds" => Some(3),
        "quarter" | "quarters" | "fourth" | "fourths" => Some(4),
        "fifth" | "fifths" => Some(5),
        _ => None,
    };
    let first = word(at);
    let before = at.checked_sub(1).map(word).unwrap_or_default();
    let length = matches!(word(at + 1).as_str(), "a" | "an" | "hour" | "year" | "day" | "past");
    if first == "half" && before != "a" && !length {
        return Some((50 * ONE, at + 1));
    }
    let count = match first.as_str() {
        "one" => 1,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        _ => return None,
    };
    let whole = parts(&word(at + 1)).filter(|it| count < *it)?;
    Some((100 * ONE * count / whole, at + 2))
}

/// A paragraph number: at the start of a line, followed by a full stop and a space.
fn is_bullet(text: &str, word: &Word<'_>) -> bool {
    let lead = text[..word.start].trim_end_matches([' ', '\t', '(']);
    let tail = &text[word.end..];
    let starts = lead.is_empty() || lead.ends_with('\n');
    starts && word.text.len() <= 3 && (tail.starts_with(". ") || tail.starts_with(") "))
}

/// Adds the scale, the unit and the money sign around a number.
fn finish(
    text: &str,
    words: &[Word<'_>],
    (first, mut end): (usize, usize),
    mut value: u128,
    mut step: u128,
) -> AmountMention {
    let mut scaled = false;
    let spelled = !words[first].text.starts_with(|it: char| it.is_ascii_digit());
    while let Some(scale) = words.get(end).filter(|_| !spelled).and_then(scale) {
        value = value.saturating_mul(scale);
        step = step.saturating_mul(scale);
        (scaled, end) = (true, end + 1);
    }
    let mut span = Span { start: words[first].start, end: words[end - 1].end };
    let mut unit = unit_after(text, words, end);
    let lead = text[..span.start].trim_end_matches(' ');
    if let Some(sign) = first.checked_sub(1).and_then(|it| currency(&words[it])) {
        unit = Unit::Money(sign);
    }
    if let Some(sign) = lead.chars().next_back().filter(|it| matches!(it, '$' | '€' | '£' | '₽'))
    {
        unit = Unit::Money(sign);
        span.start = lead.len() - sign.len_utf8();
    }
    let near = first.saturating_sub(2)..first;
    let about = words[near].iter().any(|it| ABOUT.contains(&it.fold().as_str()));
    let slack = match (about, scaled) {
        (true, _) => value / 20,
        (false, true) => step / 2,
        _ => 0,
    };
    AmountMention { amount: Amount { value, slack, unit }, span }
}

/// A currency in letters before its number: `EUR 47,000`.
fn currency(word: &Word<'_>) -> Option<char> {
    match word.text {
        "USD" => Some('$'),
        "EUR" => Some('€'),
        "GBP" => Some('£'),
        "RUB" => Some('₽'),
        _ => None,
    }
}

/// The factor of a letter after a figure: `9k`, `41.7m`, `3bn`.
fn suffix(text: &str) -> (&str, u128) {
    for (mark, scale) in
        [("bn", 1_000_000_000), ("k", 1_000), ("K", 1_000), ("M", 1_000_000), ("m", 1_000_000)]
    {
        if let Some(body) = text.strip_suffix(mark) {
            return (body, scale);
        }
    }
    (text, 1)
}

/// The value, the value of its last digit, and the word after it.
fn figures(text: &str, words: &[Word<'_>], at: usize) -> Option<(u128, u128, usize)> {
    let digits = |word: &Word<'_>| word.text.bytes().all(|it| it.is_ascii_digit());
    let first = &words[at];
    let (body, suffix) = suffix(first.text);
    if body.is_empty() || !body.bytes().all(|it| it.is_ascii_digit()) || body.len() > 24 {
        return None;
    }
    let mut whole: u128 = body.parse().ok()?;
    let mut end = at + 1;
    if suffix > 1 {
        let value = whole.saturating_mul(suffix).saturating_mul(ONE);
        return Some((value, suffix.saturating_mul(ONE), end));
    }
    let gap = |at: usize| words.get(at).map_or("", |it| &text[words[at - 1].end..it.start]);
    while matches!(gap(end), "," | "\u{a0}" | "\u{202f}" | " ")
        && words.get(end).is_some_and(|it| it.text.len() == 3 && digits(it))
        && (gap(end) != " " || (body.len() <= 3 && gap(at + 1) == " "))
        && end - at < 9
    {
        whole = whole.saturating_mul(1_000).saturating_add(words[end].text.parse().ok()?);
        end += 1;
    }
    let (mut value, mut step) = (whole.saturating_mul(ONE), ONE);
    let (fraction, times) = words.get(end).map_or(("", 1), |it| self::suffix(it.text));
    let figures = !fraction.is_empty() && fraction.bytes().all(|it| it.is_ascii_digit());
    // Russian writes a comma before the fraction, which never has three figures by mistake.
    let comma = gap(end) == "," && fraction.len() <= 2 && end == at + 1;
    if (gap(end) == "." || comma) && figures {
        let mut worth = ONE;
        for digit in fraction.bytes().take(4) {
            worth /= 10;
            value = value.saturating_add(u128::from(digit - b'0') * worth);
        }
        value = value.saturating_mul(times);
        (step, end) = (worth.max(1).saturating_mul(times), end + 1);
    }
    Some((value, step, end))
}

fn scale(word: &Word<'_>) -> Option<u128> {
    numerals::scale(&word.fold()).map(u128::from)
}

/// Most words of a number in words.
const SPELLED_MAX: usize = 12;

/// A number in words: `twenty-one`, `three hundred fifty thousand`. `one` alone is no number, and
/// `thousands` of something is none either.
fn spelled(text: &str, words: &[Word<'_>], at: usize) -> Option<(u128, u128, usize)> {
    let first = words.get(at)?.fold();
    if numerals::small(&first).is_none() && numerals::scale(&first).is_none_or(|it| it >= 100) {
        return None;
    }
    let rest = words.get(at..).unwrap_or_default();
    let joined = |it: &[Word<'_>]| matches!(text.get(it[0].end..it[1].start), Some(" " | "-"));
    let count = 1 + rest.windows(2).take(SPELLED_MAX - 1).take_while(|it| joined(it)).count();
    let folded: Vec<String> = rest.iter().take(count).map(Word::fold).collect();
    let (value, length) = numerals::spelled(folded.iter().map(String::as_str))?;
    let end = at + length;
    let word = |at: usize| words.get(at).map(Word::fold).unwrap_or_default();
    let half = word(end) == "and" && word(end + 1) == "a" && word(end + 2) == "half";
    let (more, end) = if half { (ONE / 2, end + 3) } else { (0, end) };
    (value > 1).then_some((u128::from(value).saturating_mul(ONE).saturating_add(more), ONE, end))
}

fn unit_after(text: &str, words: &[Word<'_>], end: usize) -> Unit {
    let tail = words.get(end - 1).map_or("", |it| &text[it.end..]);
    if tail.trim_start_matches(' ').starts_with('%') {
        return Unit::Percent;
    }
    for word in words.iter().skip(end).take(2) {
        let folded = word.fold();
        match folded.as_str() {
            "cent" if words.get(end).is_some_and(|it| it.text == "per") => return Unit::Percent,
            "percent" | "процентов" | "процента" => return Unit::Percent,
            "dollars" | "dollar" | "usd" => return Unit::Money('$'),
            "euros" | "euro" | "eur" => return Unit::Money('€'),
            "pounds" | "gbp" => return Unit::Money('£'),
            "руб" | "рублей" | "рубля" | "рубль" => return Unit::Money('₽'),
            _ => {}
        }
        let base = stem(&folded);
        let per = |it: usize| words.get(end + it).map(Word::fold).unwrap_or_default();
        let speed = base == stem("miles") && per(1) == "per" && per(2) == "hour";
        let base = if speed { "mph".to_owned() } else { base };
        let named = UNITS.iter().position(|it| *it == base || stem(it) == base || *it == folded);
        if let Some(at) = named {
            return Unit::Named(at);
        }
    }
    Unit::Bare
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words;

    #[track_caller]
    fn check(text: &str, want: &[(u128, Unit)]) {
        let list = words(text);
        let got: Vec<_> = find(text, &list, &vec![false; list.len()])
            .iter()
            .map(|it| (it.amount.value / ONE, it.amount.unit))
            .collect();
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn numbers_are_read_with_their_units() {
        check("paid $1,250,000.50 in", &[(1_250_000, Unit::Money('$'))]);
        check("$1.25 million", &[(1_250_000, Unit::Money('$'))]);
        check("fourteen (14) days", &[(14, Unit::Named(0)), (14, Unit::Named(0))]);
        check("twenty-one calendar days", &[(21, Unit::Named(0))]);
        check("three hundred fifty thousand dollars", &[(350_000, Unit::Money('$'))]);
        check("two dozen pages", &[(24, Unit::Named(8))]);
        check("two hundred and fifty dollars", &[(250, Unit::Money('$'))]);
        check("thousands of dollars", &[]);
        check("12.5 percent and 40%", &[(12, Unit::Percent), (40, Unit::Percent)]);
        check("500 000 руб.", &[(500_000, Unit::Money('₽'))]);
        check("one of them, the 21st", &[]);
        check("99999999999999999999999999999999", &[]);
    }
}
