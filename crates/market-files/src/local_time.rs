//! Dates and times of day as spreadsheets show them: `31.01.2024 10:30`, `1/31/2024`, `9:30 AM`.
//! Whether the day or the month comes first is shown by the file or said by its owner.

use clock::Millis;

use crate::moment::{day_ms, digits};

/// What comes first in a date that ends with its year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    DayFirst,
    MonthFirst,
}

struct DateParts<'a> {
    numbers: [i64; 3],
    year_first: bool,
    dotted: bool,
    /// What follows the date.
    rest: &'a [u8],
}

fn parts(text: &[u8]) -> Option<DateParts<'_>> {
    let run = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let first = run(text);
    let separator = *text.get(first).filter(|it| matches!(it, b'.' | b'/' | b'-'))?;
    let after = &text[first + 1..];
    let second = run(after);
    if after.get(second) != Some(&separator) {
        return None;
    }
    let last = &after[second + 1..];
    let third = run(last);
    let year_first = match (first, second, third) {
        (4, 1..=2, 1..=2) => true,
        (1..=2, 1..=2, 2 | 4) => false,
        _ => return None,
    };
    let mut numbers = [digits(&text[..first])?, digits(&after[..second])?, digits(&last[..third])?];
    if third == 2 && !year_first {
        // Two digits are the years 1970 to 2069, as spreadsheets read them.
        numbers[2] += if numbers[2] < 70 { 2000 } else { 1900 };
    }
    Some(DateParts { numbers, year_first, dotted: separator == b'.', rest: &last[third..] })
}

/// A date, optionally with a time of day; without a zone it is UTC.
pub(crate) fn parse(text: &[u8], order: DateOrder) -> Option<Millis> {
    let date = parts(text)?;
    let [first, second, third] = date.numbers;
    let day = match (date.year_first, order) {
        (true, _) => day_ms(first, second, third)?,
        (false, DateOrder::DayFirst) => day_ms(third, second, first)?,
        (false, DateOrder::MonthFirst) => day_ms(third, first, second)?,
    };
    let of_day = match date.rest {
        [] => 0,
        [b',', b' ', clock @ ..] | [b' ' | b'T', clock @ ..] => time_of_day(clock.trim_ascii())?,
        _ => return None,
    };
    Some(Millis(day + of_day))
}

/// Milliseconds since midnight: `10:30`, `10:30:00`, `9:30 PM`, `103000`, `1030`, `0`.
pub(crate) fn time_of_day(text: &[u8]) -> Option<i64> {
    if text.iter().all(u8::is_ascii_digit) {
        let (hours, minutes, seconds) = match text.len() {
            6 => (&text[..2], &text[2..4], digits(&text[4..])?),
            4 => (&text[..2], &text[2..], 0),
            1 if text == b"0" => return Some(0),
            _ => return None,
        };
        return in_day(digits(hours)?, digits(minutes)?, seconds);
    }
    let (text, half) = match text {
        [clock @ .., b'A' | b'a', b'M' | b'm'] => (clock.trim_ascii(), Some(0)),
        [clock @ .., b'P' | b'p', b'M' | b'm'] => (clock.trim_ascii(), Some(12)),
        _ => (text, None),
    };
    let mut fields = text.split(|byte| *byte == b':');
    let mut number = |longest: usize| {
        let field = fields.next()?;
        if field.is_empty() || field.len() > longest { None } else { digits(field) }
    };
    let (hours, minutes) = (number(2)?, number(2)?);
    let seconds = match fields.next() {
        None => 0,
        // What is finer than a second is dropped only where it is zero.
        Some([tens, ones]) => digits(&[*tens, *ones])?,
        Some([tens, ones, b'.', zeros @ ..]) if zeros.iter().all(|it| *it == b'0') => {
            digits(&[*tens, *ones])?
        }
        Some(_) => return None,
    };
    let hours = match half {
        None => hours,
        Some(half) if (1..=12).contains(&hours) => hours % 12 + half,
        Some(_) => return None,
    };
    if fields.next().is_some() { None } else { in_day(hours, minutes, seconds) }
}

fn in_day(hours: i64, minutes: i64, seconds: i64) -> Option<i64> {
    let sound = hours < 24 && minutes < 60 && seconds < 60;
    sound.then_some((hours * 3600 + minutes * 60 + seconds) * 1000)
}

/// What the dates of a file show about their order.
#[derive(Debug, Default)]
pub(crate) struct OrderEvidence {
    shown: Option<DateOrder>,
    unclear: Option<String>,
}

impl OrderEvidence {
    /// Takes one date into account; a text that is no date shows nothing.
    pub(crate) fn look(&mut self, text: &[u8]) {
        let Some(date) = parts(text).filter(|it| !it.year_first) else { return };
        let [first, second, _] = date.numbers;
        match (first > 12, second > 12) {
            (true, false) => self.shown = Some(DateOrder::DayFirst),
            (false, true) => self.shown = Some(DateOrder::MonthFirst),
            // Dates with points are written with the day first.
            (false, false) if !date.dotted && first != second => {
                self.unclear.get_or_insert_with(|| {
                    String::from_utf8_lossy(text).chars().take(40).collect()
                });
            }
            _ => {}
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.shown.is_some()
    }

    /// The order; the error is a date that can be read in two ways where none shows the order.
    pub(crate) fn order(self) -> Result<DateOrder, String> {
        match (self.shown, self.unclear) {
            (Some(order), _) => Ok(order),
            (None, Some(date)) => Err(date),
            (None, None) => Ok(DateOrder::DayFirst),
        }
    }
}

/// Whether a text begins with a date of this kind.
pub(crate) fn is_date(text: &[u8]) -> bool {
    parts(text).is_some()
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
    fn shows(dates: &[&str], expected: Result<DateOrder, &str>) {
        let mut evidence = OrderEvidence::default();
        dates.iter().for_each(|it| evidence.look(it.as_bytes()));
        assert_eq!(evidence.order(), expected.map_err(str::to_owned), "{dates:?}");
    }

    #[test]
    fn the_order_is_shown_by_the_dates_or_asked_for() {
        shows(&["03.01.2024"], Ok(DateOrder::DayFirst));
        shows(&["01.31.2024"], Ok(DateOrder::MonthFirst));
        shows(&["03/04/2024", "04/13/2024"], Ok(DateOrder::MonthFirst));
        shows(&["03/04/2024", "13/04/2024"], Ok(DateOrder::DayFirst));
        shows(&["03/04/2024", "05/04/2024"], Err("03/04/2024"));
        shows(&["01/01/2024"], Ok(DateOrder::DayFirst));
        shows(&["2024/01/03", "x"], Ok(DateOrder::DayFirst));
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_strange(text in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40)) {
            parse(&text, DateOrder::DayFirst);
            time_of_day(&text);
            OrderEvidence::default().look(&text);
        }
    }
}
