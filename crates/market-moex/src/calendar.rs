//! Trading days: past dates from the candles of reference shares, future dates from the exchange's
//! weekly timetable and its announced exceptions.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use clock::{DAY_MS, Millis};
use fault::Fault;
use jiff::ToSpan;
use jiff::civil::{Date, Time, Weekday};
use market::{DayBasis, Delay, TradingDay, TradingSession, WithFreshness};

use crate::Inner;
use crate::client::IssRequest;
use crate::moscow_time;
use crate::snapshot::with_freshness;
use crate::stale_cache::CacheAges;
use crate::tables::Row;
use crate::traded_days::TradedDays;

/// The most days of one request: a little more than ten years.
const DAYS_MAX: i32 = 3_700;
/// The weeks from which the usual weekdays are derived. A weekday is usual when it was traded in
/// three quarters of them, because holidays fall into some.
const PRACTICE_WEEKS: i64 = 8;

/// Weekdays that were usually traded lately, whatever the timetable says.
type UsualWeekdays = HashSet<Weekday>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DayRule {
    works: bool,
    opens: Option<Time>,
    closes: Option<Time>,
}

/// The exchange's weekly timetable and its announced exceptions.
#[derive(Debug, Default)]
pub(crate) struct Timetable {
    /// Monday is 1.
    week: HashMap<i64, DayRule>,
    exceptions: HashMap<Date, DayRule>,
}

impl Inner {
    pub(crate) async fn trading_days(
        self: &Arc<Self>,
        from: Date,
        to: Date,
    ) -> Result<WithFreshness<Vec<TradingDay>>, Fault> {
        let days = (to - from).get_days();
        if !(0..DAYS_MAX).contains(&days) {
            let message = format!("the days from {from} to {to} cannot be told at once");
            let problem = format!("from the first day up to {DAYS_MAX} days later");
            return Err(Fault::invalid("invalid_range", message).problem("to", problem));
        }
        let inner = Arc::clone(self);
        let work = async move { inner.fetch_timetable().await.map(Arc::new) };
        let ages =
            CacheAges { fresh: self.config.reference_age, stale: self.config.reference_age_stale };
        let cached = self.caches.timetable.get((), ages, work).await?;
        let (record, without) = match self.traded_days("", from, to).await {
            Ok(record) => (record, None),
            Err(fault) => (None, Some(format!("past days are told by rule: {fault}"))),
        };
        let timetable = Arc::clone(&cached.value);
        let usual_weekdays = self.usual_weekdays(to).await;
        let all = (0..=days).filter_map(|by| from.checked_add(by.days()).ok());
        let days =
            all.map(|date| day(date, &timetable, record.as_ref(), &usual_weekdays)).collect();
        let mut freshness = self.freshness(cached.received_at, cached.received_at, Delay::EndOfDay);
        freshness.stale = without.is_some();
        freshness.fallback = without;
        Ok(with_freshness(cached, days, freshness))
    }

    /// The weekdays that were usually traded lately, for future dates: the exchange's timetable does
    /// not contain its weekend sessions.
    async fn usual_weekdays(self: &Arc<Self>, to: Date) -> UsualWeekdays {
        let today = moscow_time::today(self.clock.now());
        if to < today {
            return UsualWeekdays::default();
        }
        let (weeks, from) = (PRACTICE_WEEKS, today.saturating_sub((7 * PRACTICE_WEEKS).days()));
        let record = self.traded_days("", from, today).await.ok().flatten();
        let mut counts = HashMap::new();
        for day in record.iter().flat_map(|record| &record.traded) {
            *counts.entry(day.weekday()).or_insert(0) += 1;
        }
        let usual = |(_, count): &(Weekday, i64)| *count * 4 >= weeks * 3;
        counts.into_iter().filter(usual).map(|(weekday, _)| weekday).collect()
    }

    async fn fetch_timetable(self: &Arc<Self>) -> Result<Timetable, Fault> {
        let request = IssRequest::new("timetable", "engines/stock", "timetable,dailytable");
        let answer = self.client.fetch(&request).await?;
        let week = answer.tables.need("timetable", &["week_day", "is_work_day"])?;
        let exceptions = answer.tables.need("dailytable", &["date", "is_work_day"])?;
        Ok(Timetable {
            week: week
                .rows()
                .filter_map(|row| Some((row.integer("week_day")?, rule(row)?)))
                .collect(),
            exceptions: exceptions
                .rows()
                .filter_map(|row| Some((row.date("date")?, rule(row)?)))
                .collect(),
        })
    }
}

fn rule(row: Row<'_>) -> Option<DayRule> {
    Some(DayRule {
        works: row.integer("is_work_day")? == 1,
        opens: row.time("start_time"),
        closes: row.time("stop_time"),
    })
}

fn day(
    date: Date,
    timetable: &Timetable,
    record: Option<&TradedDays>,
    usual_weekdays: &UsualWeekdays,
) -> TradingDay {
    let announced = timetable.exceptions.get(&date);
    let weekly = timetable.week.get(&i64::from(date.weekday().to_monday_one_offset()));
    let rule = announced.or(weekly).copied();
    let recorded = record.filter(|record| record.from <= date && date < record.until);
    let (is_trading, basis) = match (recorded, announced) {
        (Some(record), _) => (record.traded.contains(&date), DayBasis::Record),
        (None, Some(rule)) => (rule.works, DayBasis::Announced),
        (None, None) => {
            let works = rule.is_some_and(|rule| rule.works);
            (works || usual_weekdays.contains(&date.weekday()), DayBasis::Weekly)
        }
    };
    let session = rule.filter(|rule| is_trading && rule.works).and_then(|rule| session(date, rule));
    TradingDay { date, is_trading, basis, session }
}

fn session(date: Date, rule: DayRule) -> Option<TradingSession> {
    let at = |time: Time| moscow_time::to_instant(date.to_datetime(time)).0;
    let (opens, closes) = (at(rule.opens?), at(rule.closes?));
    // A session that closes after midnight closes on the next day.
    let closes = if closes <= opens { Millis(closes.0 + DAY_MS) } else { closes };
    Some(TradingSession { opens, closes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        clock::parse_date(text).unwrap()
    }

    fn works(works: bool) -> DayRule {
        let time = |hour| Some(Time::constant(hour, 30, 0, 0));
        DayRule { works, opens: time(6), closes: time(23) }
    }

    fn timetable() -> Timetable {
        Timetable {
            week: (1..=7).map(|day| (day, works(day <= 5))).collect(),
            exceptions: [(date("2026-12-31"), works(false)), (date("2026-12-26"), works(true))]
                .into(),
        }
    }

    #[track_caller]
    fn check(text: &str, record: Option<&TradedDays>, is_trading: bool, basis: DayBasis) {
        let day = day(date(text), &timetable(), record, &UsualWeekdays::default());
        assert_eq!((day.is_trading, day.basis), (is_trading, basis), "{text}");
    }

    #[test]
    fn the_record_has_priority_over_announcements_and_those_over_the_week() {
        check("2026-12-25", None, true, DayBasis::Weekly);
        check("2026-12-27", None, false, DayBasis::Weekly);
        check("2026-12-26", None, true, DayBasis::Announced);
        check("2026-12-31", None, false, DayBasis::Announced);
        let record = TradedDays {
            from: date("2026-12-21"),
            until: date("2026-12-28"),
            traded: [date("2026-12-25"), date("2026-12-27")].into(),
        };
        check("2026-12-25", Some(&record), true, DayBasis::Record);
        check("2026-12-26", Some(&record), false, DayBasis::Record);
        check("2026-12-27", Some(&record), true, DayBasis::Record);
        check("2026-12-28", Some(&record), true, DayBasis::Weekly);
        check("2026-12-20", Some(&record), false, DayBasis::Weekly);
    }

    #[test]
    fn future_days_follow_the_usual_weekdays_unless_announced() {
        let usual_weekdays = UsualWeekdays::from([Weekday::Saturday, Weekday::Thursday]);
        for (text, is_trading, basis) in [
            ("2026-12-19", true, DayBasis::Weekly),
            ("2026-12-20", false, DayBasis::Weekly),
            ("2026-12-31", false, DayBasis::Announced),
        ] {
            let day = day(date(text), &timetable(), None, &usual_weekdays);
            assert_eq!((day.is_trading, day.basis), (is_trading, basis), "{text}");
            // The session hours of such a day are not known.
            assert_eq!(day.session, None, "{text}");
        }
    }

    #[test]
    fn session_hours_come_from_the_timetable() {
        let session =
            |text: &str| day(date(text), &timetable(), None, &UsualWeekdays::default()).session;
        let open = session("2026-12-25").unwrap();
        assert_eq!(open.opens.to_rfc3339(), "2026-12-25T03:30:00Z");
        assert_eq!(open.closes.to_rfc3339(), "2026-12-25T20:30:00Z");
        assert_eq!(session("2026-12-27"), None);
        let night = DayRule { closes: Some(Time::constant(0, 30, 0, 0)), ..works(true) };
        let closes = super::session(date("2026-12-25"), night).unwrap().closes;
        assert_eq!(closes.to_rfc3339(), "2026-12-25T21:30:00Z");
    }
}
