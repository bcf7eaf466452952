//! When a schedule runs: `every 6h`, `daily at 07:30`, `weekdays at 07:30`, or five cron fields. All
//! times are UTC and whole minutes.

use clock::{DAY_MS, Millis};
use jiff::civil::Weekday;

const MINUTE_MS: i64 = 60_000;
/// The longest text of a schedule, in bytes.
const TEXT_MAX: usize = 100;
/// How many days ahead a cron time is searched: 29 February comes at least once in 8 years.
const DAYS_MAX: i64 = 8 * 366;
/// The longest period of `every`, in minutes: 31 days.
const PERIOD_MAX: i64 = 31 * 24 * 60;

/// What a schedule may be, for messages.
pub(crate) const EXPECTED: &str = "a schedule in UTC: every 6h (5m to 31d), daily at 07:30, \
                                   weekdays at 07:30, or five cron fields as 30 7 * * 1-5";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Recurrence {
    /// A period in minutes.
    Every(i64),
    Cron(Cron),
}

/// Five cron fields; bit `n` of a field is set if it has the number `n`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    /// 0 is Sunday.
    weekdays: u64,
    /// Whether the field is `*`: if neither is, a day matches by either of the two.
    any_day: bool,
    any_weekday: bool,
}

impl Recurrence {
    /// Parses a schedule; `None` if the text is not a schedule, or its time never comes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > TEXT_MAX {
            return None;
        }
        let text = text.trim().to_ascii_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let found = match words.as_slice() {
            ["every", period] => Self::Every(period_minutes(period)?),
            ["daily", "at", time] => Self::Cron(Cron::at(time, "*")?),
            ["weekdays", "at", time] => Self::Cron(Cron::at(time, "1-5")?),
            [minute, hour, day, month, weekday] => {
                Self::Cron(Cron::parse([minute, hour, day, month, weekday])?)
            }
            _ => return None,
        };
        found.next(Millis(0), Millis(0)).map(|_| found)
    }

    /// The first time after `now`. A period counts from `due`, the time that it was last due at.
    pub(crate) fn next(&self, due: Millis, now: Millis) -> Option<Millis> {
        match self {
            Self::Every(minutes) => {
                let period = minutes * MINUTE_MS;
                let passed = (now.0 - due.0).max(0).div_euclid(period);
                Some(Millis(due.0 + (passed + 1) * period))
            }
            Self::Cron(cron) => cron.next(now),
        }
    }
}

/// The minutes of `30m`, `6h` or `2d`.
fn period_minutes(text: &str) -> Option<i64> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let minutes = match unit {
        "m" => 1,
        "h" => 60,
        "d" => 24 * 60,
        _ => return None,
    };
    let total = number(digits)?.checked_mul(minutes)?;
    (5..=PERIOD_MAX).contains(&total).then_some(total)
}

fn number(digits: &str) -> Option<i64> {
    let plain = (1..=4).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

impl Cron {
    /// Every day of these weekdays at a time as `07:30`.
    fn at(time: &str, weekdays: &str) -> Option<Self> {
        let (hour, minute) = time.split_once(':')?;
        if minute.len() != 2 {
            return None;
        }
        number(hour).and(number(minute))?;
        Self::parse([minute, hour, "*", "*", weekdays])
    }

    fn parse([minute, hour, day, month, weekday]: [&str; 5]) -> Option<Self> {
        let weekdays = field(weekday, 0, 7, &WEEKDAYS)?;
        Some(Self {
            minutes: field(minute, 0, 59, &[])?,
            hours: field(hour, 0, 23, &[])?,
            days: field(day, 1, 31, &[])?,
            months: field(month, 1, 12, &MONTHS)?,
            // Sunday is 0 and 7.
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
            any_day: day == "*",
            any_weekday: weekday == "*",
        })
    }

    fn next(&self, now: Millis) -> Option<Millis> {
        let first = (now.0.div_euclid(MINUTE_MS) + 1) * MINUTE_MS;
        let today = first.div_euclid(DAY_MS);
        for day in today..today + DAYS_MAX {
            if !self.has_day(Millis(day * DAY_MS)) {
                continue;
            }
            let from = if day == today { first.rem_euclid(DAY_MS) / MINUTE_MS } else { 0 };
            let minute = (from..24 * 60)
                .find(|it| self.hours >> (it / 60) & 1 == 1 && self.minutes >> (it % 60) & 1 == 1);
            if let Some(minute) = minute {
                return Some(Millis(day * DAY_MS + minute * MINUTE_MS));
            }
        }
        None
    }

    fn has_day(&self, at: Millis) -> bool {
        let date = at.date();
        let weekday = match date.weekday() {
            Weekday::Sunday => 0,
            other => other.to_monday_one_offset(),
        };
        let has = |bits: u64, number: i8| bits >> number & 1 == 1;
        let (day, weekday) = (has(self.days, date.day()), has(self.weekdays, weekday));
        let matches = match (self.any_day, self.any_weekday) {
            (false, false) => day || weekday,
            _ => day && weekday,
        };
        matches && has(self.months, date.month())
    }
}

const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MONTHS: [&str; 13] =
    ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The numbers of a field: `*`, `5`, `1-5`, `*/15`, `1-10/3`, and lists of these.
fn field(text: &str, least: i64, most: i64, names: &[&str]) -> Option<u64> {
    let one = |text: &str| {
        let named = names.iter().position(|it| *it == text && !it.is_empty());
        let value = named.and_then(|it| i64::try_from(it).ok()).or_else(|| number(text))?;
        (least..=most).contains(&value).then_some(value)
    };
    let mut bits = 0;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, number(step).filter(|it| *it > 0)?),
            None => (part, 1),
        };
        let (from, to) = match range.split_once('-') {
            Some((from, to)) => (one(from)?, one(to)?),
            None if range == "*" => (least, most),
            // `5/15` means from 5 to the end of the range.
            None if part.contains('/') => (one(range)?, most),
            None => (one(range)?, one(range)?),
        };
        if from > to {
            return None;
        }
        let mut value = from;
        while value <= to {
            bits |= 1_u64 << value;
            value += step;
        }
    }
    Some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Millis {
        Millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    /// The times after 2026-11-18 (a Wednesday) at 10:07:30.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let recurrence = Recurrence::parse(text).unwrap();
        let due = at("2026-11-18T10:00:00Z");
        let mut now = at("2026-11-18T10:07:30Z");
        for expected in expected {
            now = recurrence.next(due, now).unwrap();
            assert_eq!(now, at(expected), "{text}: {}", now.to_rfc3339());
        }
    }

    #[test]
    fn schedules_are_read_as_their_words_say() {
        check("every 6h", &["2026-11-18T16:00:00Z", "2026-11-18T22:00:00Z"]);
        check("every 5m", &["2026-11-18T10:10:00Z", "2026-11-18T10:15:00Z"]);
        check("Every 2D", &["2026-11-20T10:00:00Z"]);
        check("daily at 07:30", &["2026-11-19T07:30:00Z", "2026-11-20T07:30:00Z"]);
        check("daily at 23:59", &["2026-11-18T23:59:00Z"]);
        check(
            "weekdays at 7:30",
            &["2026-11-19T07:30:00Z", "2026-11-20T07:30:00Z", "2026-11-23T07:30:00Z"],
        );
        check("*/15 * * * *", &["2026-11-18T10:15:00Z", "2026-11-18T10:30:00Z"]);
        check("0 9,17 * * mon-fri", &["2026-11-18T17:00:00Z", "2026-11-19T09:00:00Z"]);
        check("0 0 1 * *", &["2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"]);
        // The first of a month, or a Sunday: cron takes either.
        check(
            "0 0 1 * 7",
            &["2026-11-22T00:00:00Z", "2026-11-29T00:00:00Z", "2026-12-01T00:00:00Z"],
        );
        check("0 12 29 2 *", &["2028-02-29T12:00:00Z", "2032-02-29T12:00:00Z"]);
        check("5/20 10 * * *", &["2026-11-18T10:25:00Z", "2026-11-18T10:45:00Z"]);
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for text in [
            "",
            "every",
            "every 6",
            "every h",
            "every 4m",
            "every 32d",
            "every -6h",
            "every 6 h",
            "daily at 24:00",
            "daily at 7",
            "daily at 07:5",
            "daily at 07:60",
            "hourly",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * 32 * *",
            "* * * 13 *",
            "* * * * 8",
            "*/0 * * * *",
            "5-1 * * * *",
            "0 0 31 2 *",
            "* * * *",
            "* * * * * *",
            "a b c d e",
            "99999999999999999999 * * * *",
            "every 99999999999999999999h",
            "٣ * * * *",
        ] {
            assert_eq!(Recurrence::parse(text), None, "{text}");
        }
        assert_eq!(Recurrence::parse(&format!("every 6h{}", " ".repeat(100))), None);
    }

    #[test]
    fn a_missed_period_is_not_made_up_for() {
        let every = Recurrence::parse("every 1h").unwrap();
        let next = every.next(at("2026-11-18T10:00:00Z"), at("2026-11-20T03:20:00Z"));
        assert_eq!(next, Some(at("2026-11-20T04:00:00Z")));
    }
}
