//! Dates and times of day as spreadsheets show them: `31.01.2024 10:30`, `1/31/2024`, `9:30 AM`.
//! The caller passes whether the day or the month comes first; [`OrderEvidence`] finds it out from
//! the dates of a file.

use clock::Millis;

use crate::instant::{midnight_ms, parse_digits};

/// What comes first in a date that ends with its year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    DayFirst,
    MonthFirst,
}

/// A date of three numbers in the order in which they are written.
struct DateParts<'a> {
    numbers: [i64; 3],
    year_first: bool,
    /// Whether points separate the numbers.
    dotted: bool,
    /// The text after the date.
    rest: &'a [u8],
}

fn split_date(text: &[u8]) -> Option<DateParts<'_>> {
    let digit_count = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let first = digit_count(text);
    let separator = *text.get(first).filter(|it| matches!(it, b'.' | b'/' | b'-'))?;
    let after = &text[first + 1..];
    let second = digit_count(after);
    if after.get(second) != Some(&separator) {
        return None;
    }
    let last = &after[second + 1..];
    let third = digit_count(last);
    let year_first = match (first, second, third) {
        (4, 1..=2, 1..=2) => true,
        (1..=2, 1..=2, 2 | 4) => false,
        _ => return None,
    };
    let mut numbers = [
        parse_digits(&text[..first])?,
        parse_digits(&after[..second])?,
        parse_digits(&last[..third])?,
    ];
    if third == 2 && !year_first {
        // Years of two digits are 1970 to 2069, as in spreadsheets.
        numbers[2] += if numbers[2] < 70 { 2000 } else { 1900 };
    }
    Some(DateParts { numbers, year_first, dotted: separator == b'.', rest: &last[third..] })
}

/// A date, optionally with a time of day; without a zone it is UTC.
pub(crate) fn parse(text: &[u8], order: DateOrder) -> Option<Millis> {
    let date = split_date(text)?;
    let [first, second, third] = date.numbers;
    let day = match (date.year_first, order) {
        (true, _) => midnight_ms(first, second, third)?,
        (false, DateOrder::DayFirst) => midnight_ms(third, second, first)?,
        (false, DateOrder::MonthFirst) => midnight_ms(third, first, second)?,
    };
    let time_of_day_ms = match date.rest {
        [] => 0,
        [b',', b' ', clock @ ..] | [b' ' | b'T', clock @ ..] => time_of_day(clock.trim_ascii())?,
        _ => return None,
    };
    Some(Millis(day + time_of_day_ms))
}

/// Milliseconds since midnight: `10:30`, `10:30:00`, `9:30 PM`, `103000`, `1030`, `0`.
pub(crate) fn time_of_day(text: &[u8]) -> Option<i64> {
    if text.iter().all(u8::is_ascii_digit) {
        let (hours, minutes, seconds) = match text.len() {
            6 => (&text[..2], &text[2..4], parse_digits(&text[4..])?),
            4 => (&text[..2], &text[2..], 0),
            1 if text == b"0" => return Some(0),
            _ => return None,
        };
        return ms_of_day(parse_digits(hours)?, parse_digits(minutes)?, seconds);
    }
    let (text, half_day_hours) = match text {
        [clock @ .., b'A' | b'a', b'M' | b'm'] => (clock.trim_ascii(), Some(0)),
        [clock @ .., b'P' | b'p', b'M' | b'm'] => (clock.trim_ascii(), Some(12)),
        _ => (text, None),
    };
    let mut fields = text.split(|byte| *byte == b':');
    let mut number = |longest: usize| {
        let field = fields.next()?;
        if field.is_empty() || field.len() > longest { None } else { parse_digits(field) }
    };
    let (hours, minutes) = (number(2)?, number(2)?);
    let seconds = match fields.next() {
        None => 0,
        // A fraction of a second must be zero.
        Some([tens, ones]) => parse_digits(&[*tens, *ones])?,
        Some([tens, ones, b'.', zeros @ ..]) if zeros.iter().all(|it| *it == b'0') => {
            parse_digits(&[*tens, *ones])?
        }
        Some(_) => return None,
    };
    let hours = match half_day_hours {
        None => hours,
        Some(half_day_hours) if (1..=12).contains(&hours) => hours % 12 + half_day_hours,
        Some(_) => return None,
    };
    if fields.next().is_some() { None } else { ms_of_day(hours, minutes, seconds) }
}

fn ms_of_day(hours: i64, minutes: i64, seconds: i64) -> Option<i64> {
    let is_valid = hours < 24 && minutes < 60 && seconds < 60;
    is_valid.then_some((hours * 3600 + minutes * 60 + seconds) * 1000)
}

/// Finds out from the dates of a file whether the day or the month comes first.
#[derive(Debug, Default)]
pub(crate) struct OrderEvidence {
    decided: Option<DateOrder>,
    ambiguous: Option<String>,
}

impl OrderEvidence {
    /// Takes one date into account; ignores a text that is not a date.
    pub(crate) fn observe(&mut self, text: &[u8]) {
        let Some(date) = split_date(text).filter(|it| !it.year_first) else { return };
        let [first, second, _] = date.numbers;
        match (first > 12, second > 12) {
            (true, false) => self.decided = Some(DateOrder::DayFirst),
            (false, true) => self.decided = Some(DateOrder::MonthFirst),
            // Dates with points have the day first.
            (false, false) if !date.dotted && first != second => {
                self.ambiguous.get_or_insert_with(|| {
                    String::from_utf8_lossy(text).chars().take(40).collect()
                });
            }
            _ => {}
        }
    }

    pub(crate) fn is_decided(&self) -> bool {
        self.decided.is_some()
    }

    /// The order; day first if no date is ambiguous. The error is the first date that can be read
    /// in two ways, when no other date decides.
    pub(crate) fn order(self) -> Result<DateOrder, String> {
        match (self.decided, self.ambiguous) {
            (Some(order), _) => Ok(order),
            (None, Some(date)) => Err(date),
            (None, None) => Ok(DateOrder::DayFirst),
        }
    }
}

/// Whether a text begins with a date of three numbers.
pub(crate) fn is_date(text: &[u8]) -> bool {
    split_date(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, day_first: Option<&str>, month_first: Option<&str>) {
        let read = |order| parse(text.as_bytes(), order).map(Millis::to_rfc3339);
        assert_eq!(read(DateOrder::DayFirst).as_deref(), day_first, "{text}");
        assert_eq!(read(DateOrder::MonthFirst).as_deref(), month_first, "{text}");
    }

    #[test]
    fn dates_are_read_in_either_order() {
        let (january, march) = (Some("2024-01-03T00:00:00Z"), Some("2024-03-01T00:00:00Z"));
        check("03.01.2024", january, march);
        check("3/1/2024", january, march);
        check("3-1-24", january, march);
        check("2024.01.03", january, january);
        check("2024/1/3", january, january);
        check("31.01.2024 10:30", Some("2024-01-31T10:30:00Z"), None);
        check("1/31/2024, 9:30 PM", None, Some("2024-01-31T21:30:00Z"));
        check("01.01.70", Some("1970-01-01T00:00:00Z"), Some("1970-01-01T00:00:00Z"));
        for text in ["", "1.2", "1.2/2024", "30.02.2024", "1/2/202", "1.1.2024x", "1.1.2024 25:00"]
        {
            check(text, None, None);
        }
    }

    #[test]
    fn times_of_day_are_read() {
        let read = |text: &str| time_of_day(text.as_bytes()).map(|ms| ms / 1000);
        for (text, seconds) in [
            ("000000", 0),
            ("0", 0),
            ("103000", 37_800),
            ("1030", 37_800),
            ("10:30", 37_800),
            ("10:30:00.000", 37_800),
            ("9:30:15", 34_215),
            ("12:00 AM", 0),
            ("12:05pm", 43_500),
        ] {
            assert_eq!(read(text), Some(seconds), "{text}");
        }
        for text in ["", "93000", "246000", "10", "10:60", "13:00 PM", "10:30:00.5", "1:2:3:4", "x"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[track_caller]
    fn check_order(dates: &[&str], expected: Result<DateOrder, &str>) {
        let mut evidence = OrderEvidence::default();
        dates.iter().for_each(|it| evidence.observe(it.as_bytes()));
        assert_eq!(evidence.order(), expected.map_err(str::to_owned), "{dates:?}");
    }

    #[test]
    fn the_order_comes_from_the_dates_or_is_unclear() {
        check_order(&["03.01.2024"], Ok(DateOrder::DayFirst));
        check_order(&["01.31.2024"], Ok(DateOrder::MonthFirst));
        check_order(&["03/04/2024", "04/13/2024"], Ok(DateOrder::MonthFirst));
        check_order(&["03/04/2024", "13/04/2024"], Ok(DateOrder::DayFirst));
        check_order(&["03/04/2024", "05/04/2024"], Err("03/04/2024"));
        check_order(&["01/01/2024"], Ok(DateOrder::DayFirst));
        check_order(&["2024/01/03", "x"], Ok(DateOrder::DayFirst));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40)) {
            parse(&text, DateOrder::DayFirst);
            time_of_day(&text);
            OrderEvidence::default().observe(&text);
        }
    }
}
