//! The calendar of the Moscow exchange: Moscow time, holidays, and the sessions of a day.
//!
//! All times are Moscow local time, as at the exchange; a day is the number of days since
//! 1970-01-01. Closures before 2011 follow the rules of later years.

use clock::{DAY_MS, Millis};
use jiff::civil::{Date, Weekday};

const HOUR_MS: i64 = 3_600_000;
pub(crate) const MINUTE_MS: i64 = 60_000;

/// Days without trading, by month and day.
const HOLIDAYS: [(i8, i8); 10] =
    [(1, 1), (1, 2), (1, 7), (2, 23), (3, 8), (5, 1), (5, 9), (6, 12), (11, 4), (12, 31)];

/// Saturdays that were regular trading days in exchange for a holiday.
const WORKING_SATURDAYS: [(i16, i8, i8); 9] = [
    (2016, 2, 20),
    (2018, 4, 28),
    (2018, 6, 9),
    (2018, 12, 29),
    (2021, 2, 20),
    (2024, 4, 27),
    (2024, 11, 2),
    (2024, 12, 28),
    (2025, 11, 1),
];

/// Shares were not traded from the first of these days up to, not including, the second.
const SUSPENDED: [(Date, Date); 1] = [(Date::constant(2022, 2, 28), Date::constant(2022, 3, 24))];

const EVENINGS_SINCE: Date = Date::constant(2020, 6, 22);
const WEEKENDS_SINCE: Date = Date::constant(2025, 3, 1);

/// Milliseconds of Moscow's wall clock, counted as if it showed UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wall(pub(crate) i64);

impl Wall {
    pub(crate) fn of(now: Millis) -> Self {
        Self(now.0.saturating_add(offset_ms(now)))
    }

    pub(crate) fn midnight(day: i64) -> Self {
        Self(day.saturating_mul(DAY_MS))
    }

    pub(crate) const fn day(self) -> i64 {
        self.0.div_euclid(DAY_MS)
    }

    pub(crate) const fn minus_ms(self, length: i64) -> Self {
        Self(self.0.saturating_sub(length))
    }

    /// `2026-11-16 10:00:00`
    pub(crate) fn text(self) -> String {
        format!("{} {}", date_text(self.day()), self.time_text())
    }

    /// `10:00:00`
    pub(crate) fn time_text(self) -> String {
        let seconds = self.0.rem_euclid(DAY_MS) / 1_000;
        format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
    }

    /// `20261116100000`, the form of the exchange's sequence numbers.
    pub(crate) fn sequence(self) -> i64 {
        let date = date_of(self.day());
        let seconds = self.0.rem_euclid(DAY_MS) / 1_000;
        let date =
            (i64::from(date.year()) * 100 + i64::from(date.month())) * 100 + i64::from(date.day());
        ((date * 100 + seconds / 3_600) * 100 + seconds / 60 % 60) * 100 + seconds % 60
    }
}

/// How far Moscow was ahead of UTC. Summer time ended in 2011 with summer hours all year, and
/// those ended on 2014-10-26.
fn offset_ms(now: Millis) -> i64 {
    let at = |date: Date| Millis(Millis::start_of(date).0 - HOUR_MS);
    if now >= at(Date::constant(2014, 10, 26)) {
        return 3 * HOUR_MS;
    }
    if now >= at(Date::constant(2011, 3, 27)) {
        return 4 * HOUR_MS;
    }
    let year = Millis(now.0.saturating_add(HOUR_MS)).date().year();
    let (spring, autumn) = (last_sunday(year, 3), last_sunday(year, 10));
    let summer = at(spring) <= now && now < at(autumn);
    if summer { 4 * HOUR_MS } else { 3 * HOUR_MS }
}

fn last_sunday(year: i16, month: i8) -> Date {
    let first = Date::new(year, month, 1).unwrap_or(Date::MIN);
    first.nth_weekday_of_month(-1, Weekday::Sunday).unwrap_or(first)
}

pub(crate) fn day_of(date: Date) -> i64 {
    Millis::start_of(date).0.div_euclid(DAY_MS)
}

pub(crate) fn date_of(day: i64) -> Date {
    Wall::midnight(day).date()
}

impl Wall {
    fn date(self) -> Date {
        Millis(self.0).date()
    }
}

/// `2026-11-16`
pub(crate) fn date_text(day: i64) -> String {
    date_of(day).to_string()
}

/// The kind of a day for trading shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DayKind {
    Closed,
    /// A day with a row in the history, on any weekday.
    Regular {
        evening: bool,
    },
    /// A Saturday or Sunday with a session that counts towards the next regular day.
    Weekend,
}

impl DayKind {
    pub(crate) const fn is_regular(self) -> bool {
        matches!(self, Self::Regular { .. })
    }

    /// The ranges of minutes since midnight with trading:
    /// the opening auction, the main session, the closing auction, the evening.
    pub(crate) const fn sessions(self) -> &'static [(i64, i64)] {
        const EVENING: [(i64, i64); 4] = [(599, 600), (600, 1_120), (1_125, 1_130), (1_145, 1_430)];
        const MAIN: [(i64, i64); 3] = [(599, 600), (600, 1_120), (1_125, 1_130)];
        const WEEKEND: [(i64, i64); 2] = [(599, 600), (600, 1_140)];
        match self {
            Self::Closed => &[],
            Self::Regular { evening: true } => &EVENING,
            Self::Regular { evening: false } => &MAIN,
            Self::Weekend => &WEEKEND,
        }
    }
}

/// The minute of the day at which the main session ends.
pub(crate) const MAIN_ENDS: i64 = 1_130;

/// The minute of the day at which all trading ends.
pub(crate) const DAY_ENDS: i64 = 1_430;

fn is_holiday(date: Date) -> bool {
    HOLIDAYS.contains(&(date.month(), date.day()))
}

pub(crate) fn is_working_saturday(date: Date) -> bool {
    WORKING_SATURDAYS.contains(&(date.year(), date.month(), date.day()))
}

pub(crate) fn kind_of(day: i64) -> DayKind {
    let date = date_of(day);
    let suspended = SUSPENDED.iter().any(|(from, to)| *from <= date && date < *to);
    if suspended || is_holiday(date) {
        return DayKind::Closed;
    }
    let weekend = matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday);
    if !weekend || is_working_saturday(date) {
        return DayKind::Regular { evening: date >= EVENINGS_SINCE };
    }
    if date >= WEEKENDS_SINCE { DayKind::Weekend } else { DayKind::Closed }
}

/// Longer than any closure in the calendar.
const CLOSURE_MAX_DAYS: i64 = 40;

/// The nearest regular day before this one.
pub(crate) fn regular_before(day: i64) -> i64 {
    let near = (1..CLOSURE_MAX_DAYS).map(|back| day.saturating_sub(back));
    near.into_iter().find(|day| kind_of(*day).is_regular()).unwrap_or(day)
}

/// The nearest regular day, this one included.
pub(crate) fn regular_from(day: i64) -> i64 {
    let near = (0..CLOSURE_MAX_DAYS).map(|ahead| day.saturating_add(ahead));
    near.into_iter().find(|day| kind_of(*day).is_regular()).unwrap_or(day)
}

/// Exceptions to the weekly timetable in the years around a day: closed weekdays and Saturdays with
/// regular trading.
pub(crate) fn exceptions(around: i64) -> Vec<(i64, bool)> {
    let year = date_of(around).year();
    let first = day_of(Date::new(year - 1, 1, 1).unwrap_or(Date::MIN));
    let last = day_of(Date::new(year + 1, 12, 31).unwrap_or(Date::MAX));
    (first..=last)
        .filter_map(|day| {
            let weekend = matches!(date_of(day).weekday(), Weekday::Saturday | Weekday::Sunday);
            let regular = kind_of(day).is_regular();
            (weekend == regular).then_some((day, regular))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> i64 {
        day_of(clock::parse_date(text).unwrap())
    }

    #[track_caller]
    fn check_wall(utc: &str, wall: &str) {
        let at: jiff::Timestamp = utc.parse().unwrap();
        assert_eq!(Wall::of(Millis(at.as_millisecond())).text(), wall, "{utc}");
    }

    #[test]
    fn the_wall_clock_follows_moscow_s_history() {
        check_wall("2026-11-16T07:00:00Z", "2026-11-16 10:00:00");
        check_wall("2014-10-25T21:59:59Z", "2014-10-26 01:59:59");
        check_wall("2014-10-25T22:59:59Z", "2014-10-26 02:59:59");
        check_wall("2014-10-25T23:00:00Z", "2014-10-26 02:00:00");
        check_wall("2012-07-01T06:00:00Z", "2012-07-01 10:00:00");
        check_wall("2012-01-10T06:00:00Z", "2012-01-10 10:00:00");
        check_wall("2011-03-26T23:00:00Z", "2011-03-27 03:00:00");
        check_wall("2010-07-01T06:00:00Z", "2010-07-01 10:00:00");
        check_wall("2010-12-01T07:00:00Z", "2010-12-01 10:00:00");
        check_wall("2008-03-29T22:59:59Z", "2008-03-30 01:59:59");
        check_wall("2008-03-29T23:00:00Z", "2008-03-30 03:00:00");
    }

    #[track_caller]
    fn check_kind(date: &str, kind: DayKind) {
        assert_eq!(kind_of(day(date)), kind, "{date}");
    }

    #[test]
    fn days_follow_the_calendar() {
        check_kind("2026-11-16", DayKind::Regular { evening: true });
        check_kind("2026-11-04", DayKind::Closed);
        check_kind("2026-11-14", DayKind::Weekend);
        check_kind("2025-02-15", DayKind::Closed);
        check_kind("2025-11-01", DayKind::Regular { evening: true });
        check_kind("2024-12-28", DayKind::Regular { evening: true });
        check_kind("2019-05-20", DayKind::Regular { evening: false });
        check_kind("2022-03-10", DayKind::Closed);
        check_kind("2022-03-24", DayKind::Regular { evening: true });
        check_kind("2026-12-31", DayKind::Closed);
    }

    #[test]
    fn a_weekend_counts_towards_the_next_regular_day() {
        assert_eq!(regular_from(day("2026-11-14")), day("2026-11-16"));
        assert_eq!(regular_before(day("2022-03-24")), day("2022-02-25"));
    }

    #[test]
    fn a_main_session_has_526_minutes() {
        let minutes =
            |kind: DayKind| -> i64 { kind.sessions().iter().map(|(from, to)| to - from).sum() };
        assert_eq!(minutes(DayKind::Regular { evening: false }), 526);
        assert_eq!(minutes(DayKind::Regular { evening: true }), 811);
    }

    #[test]
    fn sequence_numbers_encode_the_time() {
        let at = Wall(Wall::midnight(day("2026-11-16")).0 + (9 * 3_600 + 5 * 60 + 7) * 1_000);
        assert_eq!((at.sequence(), at.text()), (20_261_116_090_507, "2026-11-16 09:05:07".into()));
    }
}
