//! The number of trading sessions in a year. It is counted and not assumed: since 2025 the exchange
//! also trades on weekends, indices do not, and trading in some shares is suspended for a time.

use jiff::ToSpan as _;
use jiff::civil::Date;

const DAYS_OF_YEAR: f64 = 365.25;
/// A shorter period is not scaled to a year: holidays would distort the number.
const DAYS_MIN: i32 = 90;
/// The number of sessions if none can be counted.
const CONVENTION: f64 = 252.0;

/// What the number of sessions was computed from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SessionsBasis {
    /// The sessions of the period, scaled to a year.
    Period,
    /// The sessions of the exchange in the year up to this day, times the share of the exchange's
    /// sessions in the period on which the security was traded.
    Exchange(Date),
    /// 252 sessions.
    Convention,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SessionsPerYear {
    pub(crate) sessions: f64,
    basis: SessionsBasis,
}

impl SessionsPerYear {
    pub(crate) const CONVENTION: Self =
        Self { sessions: CONVENTION, basis: SessionsBasis::Convention };

    /// Scales the traded days of the period, ascending, to a year; `None` for a period under 90
    /// days.
    pub(crate) fn of_period(days: &[Date]) -> Option<Self> {
        let length = (*days.last()? - *days.first()?).get_days();
        let sessions = (days.len() - 1) as f64 / f64::from(length) * DAYS_OF_YEAR;
        (length >= DAYS_MIN).then_some(Self { sessions, basis: SessionsBasis::Period })
    }

    /// From the days of the period, and the days on which the exchange traded in the year up to the
    /// last of them.
    pub(crate) fn of_exchange(days: &[Date], traded: &[Date]) -> Option<Self> {
        let (first, last) = (*days.first()?, *days.last()?);
        let in_period = traded.iter().filter(|day| (first..=last).contains(*day)).count();
        let share = (days.len() as f64 / in_period as f64).min(1.0);
        let sessions = traded.len() as f64 / 365.0 * DAYS_OF_YEAR * share;
        (in_period > 0).then_some(Self { sessions, basis: SessionsBasis::Exchange(last) })
    }

    /// The first day of the 365 days that end with `last`.
    pub(crate) fn first_day(last: Date) -> Date {
        last.saturating_sub(364.days())
    }

    /// For example `252.0 sessions a year (as often as in the period)`.
    pub(crate) fn description(&self) -> String {
        let how = match self.basis {
            SessionsBasis::Period => "as often as in the period".to_owned(),
            SessionsBasis::Exchange(last) => {
                format!("as often as the exchange traded in the year up to {last}")
            }
            SessionsBasis::Convention => {
                "by convention, because the trading calendar is not available".to_owned()
            }
        };
        format!("{:.1} sessions a year ({how})", self.sessions)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::{Weekday, date};

    use super::*;

    /// `count` days from the first on, without Saturdays and Sundays unless `weekends`.
    fn days(first: Date, count: i64, weekends: bool) -> Vec<Date> {
        let day = |by: i64| first.saturating_add(by.days());
        let works =
            |day: &Date| weekends || !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
        (0..count).map(day).filter(works).collect()
    }

    #[track_caller]
    fn check_near(found: Option<SessionsPerYear>, expected: f64) {
        let found = found.unwrap().sessions;
        assert!((found / expected - 1.0).abs() < 0.03, "{found} is not about {expected}");
    }

    #[test]
    fn a_long_period_is_scaled_to_a_year() {
        let monday = date(2024, 1, 8);
        check_near(SessionsPerYear::of_period(&days(monday, 365, true)), 365.25);
        check_near(SessionsPerYear::of_period(&days(monday, 365, false)), 261.0);
        check_near(SessionsPerYear::of_period(&days(monday, 92, false)), 261.0);
        assert_eq!(SessionsPerYear::of_period(&days(monday, 90, true)), None);
        assert_eq!(SessionsPerYear::of_period(&[]), None);
        assert_eq!(SessionsPerYear::of_period(&[monday]), None);
    }

    #[test]
    fn a_short_period_uses_the_sessions_of_the_exchange_and_its_share_of_them() {
        let last = date(2024, 6, 14);
        let year = days(SessionsPerYear::first_day(last), 365, true);
        assert_eq!((year.len(), *year.last().unwrap()), (365, last));
        let week = date(2024, 6, 10);
        check_near(SessionsPerYear::of_exchange(&days(week, 5, true), &year), 365.25);
        // Five days of a week in which the exchange traded on all seven.
        let sunday: Vec<Date> = days(SessionsPerYear::first_day(date(2024, 6, 16)), 365, true);
        let own = [date(2024, 6, 10), date(2024, 6, 11), date(2024, 6, 13), date(2024, 6, 16)];
        check_near(SessionsPerYear::of_exchange(&own, &sunday), 365.25 * 4.0 / 7.0);
        assert_eq!(SessionsPerYear::of_exchange(&own, &[]), None);
        assert_eq!(SessionsPerYear::of_exchange(&[], &year), None);
    }
}
