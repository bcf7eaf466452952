//! How many sessions a year has. The exchange trades on weekends too since 2025, an index does not,
//! and some shares have pauses, so it is counted and not assumed.

use jiff::ToSpan as _;
use jiff::civil::Date;

const DAYS_OF_YEAR: f64 = 365.25;
/// A shorter period says too little about a year: it may lie between two holidays.
const DAYS_MIN: i32 = 90;
/// Where nothing can be counted.
const CONVENTION: f64 = 252.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Basis {
    /// As often as in the period itself.
    Period,
    /// As often as the exchange traded in the year up to this day, and of that the part of its
    /// sessions in the period.
    Exchange(Date),
    Convention,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Year {
    pub(crate) sessions: f64,
    basis: Basis,
}

impl Year {
    pub(crate) const CONVENTION: Self = Self { sessions: CONVENTION, basis: Basis::Convention };

    /// By the days of the period, ascending; `None` where it is too short to tell.
    pub(crate) fn of_period(days: &[Date]) -> Option<Self> {
        let length = (*days.last()? - *days.first()?).get_days();
        let sessions = (days.len() - 1) as f64 / f64::from(length) * DAYS_OF_YEAR;
        (length >= DAYS_MIN).then_some(Self { sessions, basis: Basis::Period })
    }

    /// By the days on which the exchange traded in the year up to the period's last day.
    pub(crate) fn of_exchange(days: &[Date], traded: &[Date]) -> Option<Self> {
        let (first, last) = (*days.first()?, *days.last()?);
        let inside = traded.iter().filter(|day| (first..=last).contains(*day)).count();
        let part = (days.len() as f64 / inside as f64).min(1.0);
        let sessions = traded.len() as f64 / 365.0 * DAYS_OF_YEAR * part;
        (inside > 0).then_some(Self { sessions, basis: Basis::Exchange(last) })
    }

    /// The first day of the year up to a day.
    pub(crate) fn begins(last: Date) -> Date {
        last.saturating_sub(364.days())
    }

    /// As in `252.0 sessions a year, as often as in the period`.
    pub(crate) fn words(&self) -> String {
        let how = match self.basis {
            Basis::Period => "as often as in the period".to_owned(),
            Basis::Exchange(last) => {
                format!("as often as the exchange traded in the year up to {last}")
            }
            Basis::Convention => "by convention, because the calendar could not be had".to_owned(),
        };
        format!("{:.1} sessions a year ({how})", self.sessions)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::{Weekday, date};

    use super::*;

    /// Days from the first on, weekends left out where told.
    fn days(first: Date, count: i64, weekends: bool) -> Vec<Date> {
        let day = |by: i64| first.saturating_add(by.days());
        let works =
            |day: &Date| weekends || !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
        (0..count).map(day).filter(works).collect()
    }

    #[track_caller]
    fn near(found: Option<Year>, expected: f64) {
        let found = found.unwrap().sessions;
        assert!((found / expected - 1.0).abs() < 0.03, "{found} is not about {expected}");
    }

    #[test]
    fn a_long_period_is_its_own_measure() {
        let monday = date(2024, 1, 8);
        near(Year::of_period(&days(monday, 365, true)), 365.25);
        near(Year::of_period(&days(monday, 365, false)), 261.0);
        near(Year::of_period(&days(monday, 92, false)), 261.0);
        assert_eq!(Year::of_period(&days(monday, 90, true)), None);
        assert_eq!(Year::of_period(&[]), None);
        assert_eq!(Year::of_period(&[monday]), None);
    }

    #[test]
    fn a_short_period_is_measured_by_the_exchange_and_its_own_part_of_it() {
        let last = date(2024, 6, 14);
        let year = days(Year::begins(last), 365, true);
        assert_eq!((year.len(), *year.last().unwrap()), (365, last));
        let week = date(2024, 6, 10);
        near(Year::of_exchange(&days(week, 5, true), &year), 365.25);
        // Five days of a week in which the exchange traded on all seven.
        let sunday: Vec<Date> = days(Year::begins(date(2024, 6, 16)), 365, true);
        let own = [date(2024, 6, 10), date(2024, 6, 11), date(2024, 6, 13), date(2024, 6, 16)];
        near(Year::of_exchange(&own, &sunday), 365.25 * 4.0 / 7.0);
        assert_eq!(Year::of_exchange(&own, &[]), None);
        assert_eq!(Year::of_exchange(&[], &year), None);
    }
}
