//! Bar intervals: their spelling, and which instants open a bar.

use jiff::civil::Date;

use clock::{DAY_MS, Millis, TimeRange};

/// The bar lengths that venues offer. `1m` is a minute and `1M` a month: case matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Interval {
    /// One second.
    S1,
    /// One minute.
    M1,
    /// 3 minutes.
    M3,
    /// 5 minutes.
    M5,
    /// 15 minutes.
    M15,
    /// 30 minutes.
    M30,
    /// One hour.
    H1,
    /// 2 hours.
    H2,
    /// 4 hours.
    H4,
    /// 6 hours.
    H6,
    /// 8 hours.
    H8,
    /// 12 hours.
    H12,
    /// One day.
    D1,
    /// 3 days.
    D3,
    /// One week, from Monday.
    W1,
    /// One calendar month.
    Month,
}

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// The first Monday of the epoch, 1970-01-05: weeks are counted from it.
const FIRST_MONDAY_MS: i64 = 4 * DAY_MS;

impl Interval {
    /// Every interval, shortest first.
    pub const ALL: [Self; 16] = [
        Self::S1,
        Self::M1,
        Self::M3,
        Self::M5,
        Self::M15,
        Self::M30,
        Self::H1,
        Self::H2,
        Self::H4,
        Self::H6,
        Self::H8,
        Self::H12,
        Self::D1,
        Self::D3,
        Self::W1,
        Self::Month,
    ];

    /// Parses the spelling of contracts: `1m`, `4h`, `1M`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|interval| interval.as_str() == text)
    }

    /// The spelling of contracts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::S1 => "1s",
            Self::M1 => "1m",
            Self::M3 => "3m",
            Self::M5 => "5m",
            Self::M15 => "15m",
            Self::M30 => "30m",
            Self::H1 => "1h",
            Self::H2 => "2h",
            Self::H4 => "4h",
            Self::H6 => "6h",
            Self::H8 => "8h",
            Self::H12 => "12h",
            Self::D1 => "1d",
            Self::D3 => "3d",
            Self::W1 => "1w",
            Self::Month => "1M",
        }
    }

    /// The length in milliseconds; `None` for a month, whose length varies.
    pub const fn fixed_ms(self) -> Option<i64> {
        Some(match self {
            Self::S1 => 1_000,
            Self::M1 => MINUTE_MS,
            Self::M3 => 3 * MINUTE_MS,
            Self::M5 => 5 * MINUTE_MS,
            Self::M15 => 15 * MINUTE_MS,
            Self::M30 => 30 * MINUTE_MS,
            Self::H1 => HOUR_MS,
            Self::H2 => 2 * HOUR_MS,
            Self::H4 => 4 * HOUR_MS,
            Self::H6 => 6 * HOUR_MS,
            Self::H8 => 8 * HOUR_MS,
            Self::H12 => 12 * HOUR_MS,
            Self::D1 => DAY_MS,
            Self::D3 => 3 * DAY_MS,
            Self::W1 => 7 * DAY_MS,
            Self::Month => return None,
        })
    }

    /// The opening time of the bar that `at` lies in.
    pub fn open_of(self, at: Millis) -> Millis {
        let anchor = if self == Self::W1 { FIRST_MONDAY_MS } else { 0 };
        match self.fixed_ms() {
            Some(step) => Millis((at.0 - anchor).div_euclid(step) * step + anchor),
            None => {
                let date = at.date();
                Millis::start_of(Date::constant(date.year(), date.month(), 1))
            }
        }
    }

    /// The opening time of the bar after the one that `at` lies in.
    pub fn next_open(self, at: Millis) -> Millis {
        let open = self.open_of(at);
        match self.fixed_ms() {
            Some(step) => Millis(open.0 + step),
            // Day 32 of any month lies in the next one.
            None => self.open_of(Millis(open.0 + 31 * DAY_MS)),
        }
    }

    /// The first opening time at or after `at`.
    pub fn open_at_or_after(self, at: Millis) -> Millis {
        let open = self.open_of(at);
        if open == at { at } else { self.next_open(at) }
    }

    /// How many bars open within the range.
    pub fn count_in(self, range: TimeRange) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let first = self.open_at_or_after(range.from);
        if first >= range.to {
            return 0;
        }
        match self.fixed_ms() {
            Some(step) => ((range.to.0 - first.0 - 1) / step + 1).unsigned_abs(),
            None => {
                let (first, last) = (first.date(), Millis(range.to.0 - 1).date());
                let months = |date: Date| i64::from(date.year()) * 12 + i64::from(date.month());
                (months(last) - months(first) + 1).unsigned_abs()
            }
        }
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clock::parse_date;
    use proptest::prelude::*;

    fn day(text: &str) -> Millis {
        Millis::start_of(parse_date(text).unwrap())
    }

    #[test]
    fn weeks_open_on_monday_and_months_on_the_first() {
        assert_eq!(Interval::W1.open_of(day("2026-11-15")), day("2026-11-09"));
        assert_eq!(Interval::Month.open_of(day("2024-02-29")), day("2024-02-01"));
        assert_eq!(Interval::Month.next_open(day("2024-01-31")), day("2024-02-01"));
        assert_eq!(Interval::Month.next_open(day("2024-12-05")), day("2025-01-01"));
    }

    #[test]
    fn a_minute_and_a_month_differ_by_case() {
        assert_eq!(Interval::parse("1m"), Some(Interval::M1));
        assert_eq!(Interval::parse("1M"), Some(Interval::Month));
        assert_eq!(Interval::parse("1D"), None);
    }

    proptest! {
        #[test]
        fn every_instant_lies_in_exactly_one_bar(at in -4_000_000_000_000_i64..4_000_000_000_000, index in 0_usize..16) {
            let (interval, at) = (Interval::ALL[index], Millis(at));
            let (open, next) = (interval.open_of(at), interval.next_open(at));
            prop_assert!(open <= at && at < next);
            prop_assert_eq!(interval.open_of(next), next);
            prop_assert_eq!(interval.open_of(Millis(next.0 - 1)), open);
            prop_assert_eq!(interval.count_in(TimeRange::new(open, next)), 1);
        }

        #[test]
        fn the_count_equals_stepping_through_the_bars(from in 0_i64..4_000_000_000_000, bars in 0_u64..60, index in 0_usize..16) {
            let interval = Interval::ALL[index];
            let mut to = Millis(from);
            for _ in 0..bars { to = interval.next_open(to); }
            let mut walked = 0;
            let mut open = interval.open_at_or_after(Millis(from));
            while open < to { walked += 1; open = interval.next_open(open); }
            prop_assert_eq!(interval.count_in(TimeRange::new(Millis(from), to)), walked);
        }
    }
}
