//! Instants and spans in UTC milliseconds, the unit every venue of ours can speak.

use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

pub const DAY_MS: i64 = 86_400_000;

impl Millis {
    /// Midnight UTC that begins the day.
    pub fn start_of(date: Date) -> Self {
        let days = date.since(Date::constant(1970, 1, 1)).map_or(0, |span| span.get_days());
        Self(i64::from(days) * DAY_MS)
    }

    /// The UTC day this instant lies in; the calendar's ends for instants beyond them.
    pub fn date(self) -> Date {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(timestamp) => timestamp.to_zoned(TimeZone::UTC).date(),
            Err(_) if self.0 < 0 => Date::MIN,
            Err(_) => Date::MAX,
        }
    }

    /// RFC 3339 in UTC, with milliseconds only where there are any.
    pub fn to_rfc3339(self) -> String {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(timestamp) => timestamp.to_string(),
            Err(_) => format!("{}ms", self.0),
        }
    }
}

impl std::fmt::Display for Millis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

/// A half-open stretch of time: `from` is in it, `to` is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from: Millis,
    pub to: Millis,
}

impl Span {
    /// Empty where the ends are reversed.
    pub fn new(from: Millis, to: Millis) -> Self {
        Self { from, to: to.max(from) }
    }

    /// Whole days, both of them included.
    pub fn of_days(first: Date, last: Date) -> Self {
        Self::new(Millis::start_of(first), Millis(Millis::start_of(last).0 + DAY_MS))
    }

    pub fn is_empty(self) -> bool {
        self.from >= self.to
    }

    pub fn length_ms(self) -> i64 {
        self.to.0 - self.from.0
    }

    pub fn contains(self, at: Millis) -> bool {
        self.from <= at && at < self.to
    }

    /// What lies in both.
    pub fn overlap(self, other: Self) -> Self {
        Self::new(self.from.max(other.from), self.to.min(other.to).max(self.from.max(other.from)))
    }
}

/// A date exactly as `YYYY-MM-DD`; the more generous forms ISO allows are refused.
pub fn parse_date(text: &str) -> Option<Date> {
    let shape = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if shape { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_half_open_and_inclusive() {
        let day = parse_date("2024-02-29").unwrap();
        let span = Span::of_days(day, day);
        assert_eq!(span.length_ms(), DAY_MS);
        assert_eq!(span.from.to_rfc3339(), "2024-02-29T00:00:00Z");
        assert!(span.contains(Millis(span.to.0 - 1)) && !span.contains(span.to));
        assert_eq!(span.from.date(), day);
        assert_eq!(Millis(span.from.0 + 5).to_rfc3339(), "2024-02-29T00:00:00.005Z");
    }

    #[test]
    fn only_plain_dates_are_dates() {
        for text in ["2024-2-9", "2023-02-29", "20240209", "2024-02-09T00:00", "", "abcd-ef-gh"] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    #[test]
    fn overlap_of_strangers_is_empty() {
        let (early, late) = (Span::new(Millis(0), Millis(5)), Span::new(Millis(9), Millis(12)));
        assert!(early.overlap(late).is_empty());
        assert_eq!(early.overlap(Span::new(Millis(3), Millis(9))), Span::new(Millis(3), Millis(5)));
    }
}
