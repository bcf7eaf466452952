//! Instants and time ranges in UTC milliseconds.

use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

/// Milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

impl Millis {
    /// Midnight UTC at the start of the day.
    pub fn start_of(date: Date) -> Self {
        let days = date.since(Date::constant(1970, 1, 1)).map_or(0, |span| span.get_days());
        Self(i64::from(days) * DAY_MS)
    }

    /// The UTC date of this instant; instants outside jiff's calendar give its first or last date.
    pub fn date(self) -> Date {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(timestamp) => timestamp.to_zoned(TimeZone::UTC).date(),
            Err(_) if self.0 < 0 => Date::MIN,
            Err(_) => Date::MAX,
        }
    }

    /// RFC 3339 in UTC, with no trailing zeros in the fraction of the second. Every quote and bar
    /// is formatted with it, so years of four digits take a fast path; jiff formats all others.
    pub fn to_rfc3339(self) -> String {
        self.format(|millis| match millis {
            0 => 0,
            it if it % 100 == 0 => 1,
            it if it % 10 == 0 => 2,
            _ => 3,
        })
    }

    /// RFC 3339 in UTC, always with three decimals, so that the texts sort like the instants.
    pub fn to_rfc3339_millis(self) -> String {
        self.format(|_| 3)
    }

    /// Formats RFC 3339; `decimals` maps the milliseconds of the second to the number of decimals.
    fn format(self, decimals: impl Fn(i64) -> u32) -> String {
        let (days, rest) = (self.0.div_euclid(DAY_MS), self.0.rem_euclid(DAY_MS));
        let Some((year, month, day)) = civil(days).filter(|(year, ..)| (0..=9999).contains(year))
        else {
            return jiff::Timestamp::from_millisecond(self.0)
                .map_or_else(|_| format!("{}ms", self.0), |timestamp| timestamp.to_string());
        };
        let (seconds, millis) = (rest / 1000, rest % 1000);
        let mut text = String::with_capacity(24);
        let mut put = |value: i64, width: u32, before: &str| {
            text.push_str(before);
            for place in (0..width).rev() {
                // The value is a digit below ten, so the cast cannot truncate.
                text.push(char::from(b'0' + (value / 10_i64.pow(place) % 10) as u8));
            }
        };
        put(year, 4, "");
        put(month, 2, "-");
        put(day, 2, "-");
        put(seconds / 3600, 2, "T");
        put(seconds / 60 % 60, 2, ":");
        put(seconds % 60, 2, ":");
        let decimals = decimals(millis);
        if decimals > 0 {
            put(millis / 10_i64.pow(3 - decimals), decimals, ".");
        }
        text.push('Z');
        text
    }
}

/// Year, month and day of a day since 1970-01-01 in the proleptic Gregorian calendar. Years are
/// counted from 1 March, which puts the leap day at the end of the year.
fn civil(days: i64) -> Option<(i64, i64, i64)> {
    let shifted = days.checked_add(719_468)?;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    Some((year_of_era + era * 400 + i64::from(month <= 2), month, day))
}

impl std::fmt::Display for Millis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

/// A half-open range of instants: `from` is in it, `to` is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The first instant of the range.
    pub from: Millis,
    /// The first instant after the range.
    pub to: Millis,
}

impl TimeRange {
    /// The range from `from` to `to`; it is empty when `to` is before `from`.
    pub fn new(from: Millis, to: Millis) -> Self {
        Self { from, to: to.max(from) }
    }

    /// The UTC days from `first` to `last`, both included.
    pub fn of_days(first: Date, last: Date) -> Self {
        Self::new(Millis::start_of(first), Millis(Millis::start_of(last).0 + DAY_MS))
    }

    /// Whether the range contains no instant.
    pub fn is_empty(self) -> bool {
        self.from >= self.to
    }

    /// The length in milliseconds.
    pub fn length_ms(self) -> i64 {
        self.to.0 - self.from.0
    }

    /// Whether the instant is in the range.
    pub fn contains(self, at: Millis) -> bool {
        self.from <= at && at < self.to
    }

    /// The part that is in both ranges; empty when they do not overlap.
    pub fn overlap(self, other: Self) -> Self {
        Self::new(self.from.max(other.from), self.to.min(other.to).max(self.from.max(other.from)))
    }
}

/// Parses a date of the form `YYYY-MM-DD`; the other forms of ISO 8601 are refused.
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
    fn a_range_of_days_includes_its_last_day() {
        let day = parse_date("2024-02-29").unwrap();
        let range = TimeRange::of_days(day, day);
        assert_eq!(range.length_ms(), DAY_MS);
        assert_eq!(range.from.to_rfc3339(), "2024-02-29T00:00:00Z");
        assert!(range.contains(Millis(range.to.0 - 1)) && !range.contains(range.to));
        assert_eq!(range.from.date(), day);
        assert_eq!(Millis(range.from.0 + 5).to_rfc3339(), "2024-02-29T00:00:00.005Z");
    }

    proptest::proptest! {
        #[test]
        fn instants_are_formatted_as_jiff_formats_them(ms in -70_000_000_000_000_i64..260_000_000_000_000) {
            let calendar = jiff::Timestamp::from_millisecond(ms).map(|at| at.to_string());
            if let Ok(calendar) = calendar {
                proptest::prop_assert_eq!(Millis(ms).to_rfc3339(), calendar);
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn texts_with_three_decimals_sort_like_their_instants(early in 0..4_000_000_000_000_i64, after in 0..5_000_i64) {
            let (early, late) = (Millis(early), Millis(early + after));
            proptest::prop_assert_eq!(early.to_rfc3339_millis().cmp(&late.to_rfc3339_millis()), early.cmp(&late));
            let read: jiff::Timestamp = late.to_rfc3339_millis().parse().unwrap();
            proptest::prop_assert_eq!(read.as_millisecond(), late.0);
        }
    }

    #[test]
    fn instants_outside_the_calendar_are_formatted_as_milliseconds() {
        for ms in [i64::MIN, i64::MAX] {
            assert_eq!(Millis(ms).to_rfc3339(), format!("{ms}ms"));
        }
    }

    #[test]
    fn only_yyyy_mm_dd_is_a_date() {
        for text in ["2024-2-9", "2023-02-29", "20240209", "2024-02-09T00:00", "", "abcd-ef-gh"] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    #[test]
    fn the_overlap_of_disjoint_ranges_is_empty() {
        let (early, late) =
            (TimeRange::new(Millis(0), Millis(5)), TimeRange::new(Millis(9), Millis(12)));
        assert!(early.overlap(late).is_empty());
        assert_eq!(
            early.overlap(TimeRange::new(Millis(3), Millis(9))),
            TimeRange::new(Millis(3), Millis(5))
        );
    }
}
