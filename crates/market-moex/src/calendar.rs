//! On which days there is trading: past days as the record has them, days to come from the
//! exchange's week and its exceptions.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use clock::{DAY_MS, Millis};
use fault::Fault;
use jiff::ToSpan;
use jiff::civil::{Date, Time, Weekday};
use market::{DayBasis, Delay, TradingDay, TradingSession, WithFreshness};

use crate::Inner;
use crate::client::Question;
use crate::sessions::Record;
use crate::shelf::Ages;
use crate::snapshot::told;
use crate::tables::Row;
use crate::zone;

/// Ten years and a bit.
const DAYS_MAX: i32 = 3_700;
/// Holidays fall into some of them, so three quarters are enough.
const PRACTICE_WEEKS: i64 = 8;

/// Days of the week on which there is usually trading, whatever the week says.
type Practice = HashSet<Weekday>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rule {
    works: bool,
    opens: Option<Time>,
    closes: Option<Time>,
}

/// The exchange's week, and the days that are different.
#[derive(Debug, Default)]
pub(crate) struct Timetable {
    /// Monday is 1.
    week: HashMap<i64, Rule>,
    exceptions: HashMap<Date, Rule>,
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
            Ages { fresh: self.config.reference_age, stale: self.config.reference_age_stale };
        let held = self.shelves.timetable.get((), ages, work).await?;
        let (record, without) = match self.record("", from, to).await {
            Ok(record) => (record, None),
            Err(fault) => (None, Some(format!("past days are told by rule: {fault}"))),
        };
        let timetable = Arc::clone(&held.value);
        let practice = self.practice(to).await;
        let all = (0..=days).filter_map(|by| from.checked_add(by.days()).ok());
        let days = all.map(|date| day(date, &timetable, record.as_ref(), &practice)).collect();
        let mut freshness = self.freshness(held.received_at, held.received_at, Delay::EndOfDay);
        freshness.stale = without.is_some();
        freshness.fallback = without;
        Ok(told(held, days, freshness))
    }

    /// On which days of the week there was trading lately, for days to come: the exchange's week
    /// knows nothing of its sessions on weekends.
    async fn practice(self: &Arc<Self>, to: Date) -> Practice {
        let today = zone::today(self.clock.now());
        if to < today {
            return Practice::default();
        }
        let (weeks, from) = (PRACTICE_WEEKS, today.saturating_sub((7 * PRACTICE_WEEKS).days()));
        let record = self.record("", from, today).await.ok().flatten();
        let mut counts = HashMap::new();
        for day in record.iter().flat_map(|record| &record.traded) {
            *counts.entry(day.weekday()).or_insert(0) += 1;
        }
        let usual = |(_, count): &(Weekday, i64)| *count * 4 >= weeks * 3;
        counts.into_iter().filter(usual).map(|(weekday, _)| weekday).collect()
    }

    async fn fetch_timetable(self: &Arc<Self>) -> Result<Timetable, Fault> {
        let question = Question::new("timetable", "engines/stock", "timetable,dailytable");
        let answer = self.client.ask(&question).await?;
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

fn rule(row: Row<'_>) -> Option<Rule> {
    Some(Rule {
        works: row.integer("is_work_day")? == 1,
        opens: row.time("start_time"),
        closes: row.time("stop_time"),
    })
}

fn day(
    date: Date,
    timetable: &Timetable,
    record: Option<&Record>,
    practice: &Practice,
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
            (works || practice.contains(&date.weekday()), DayBasis::Weekly)
        }
    };
    let session = rule.filter(|rule| is_trading && rule.works).and_then(|rule| session(date, rule));
    TradingDay { date, is_trading, basis, session }
}

fn session(date: Date, rule: Rule) -> Option<TradingSession> {
    let at = |time: Time| zone::instant(date.to_datetime(time)).0;
    let (opens, closes) = (at(rule.opens?), at(rule.closes?));
    // One that ends after midnight ends on the next day.
    let closes = if closes <= opens { Millis(closes.0 + DAY_MS) } else { closes };
    Some(TradingSession { opens, closes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        clock::parse_date(text).unwrap()
    }

    fn works(works: bool) -> Rule {
        let time = |hour| Some(Time::constant(hour, 30, 0, 0));
        Rule { works, opens: time(6), closes: time(23) }
    }

    fn timetable() -> Timetable {
        Timetable {
            week: (1..=7).map(|day| (day, works(day <= 5))).collect(),
            exceptions: [(date("2026-12-31"), works(false)), (date("2026-12-26"), works(true))]
                .into(),
        }
    }

    #[track_caller]
    fn check(text: &str, record: Option<&Record>, is_trading: bool, basis: DayBasis) {
        let day = day(date(text), &timetable(), record, &Practice::default());
        assert_eq!((day.is_trading, day.basis), (is_trading, basis), "{text}");
    }

    #[test]
    fn a_record_beats_an_announcement_and_that_the_week() {
        check("2026-12-25", None, true, DayBasis::Weekly);
        check("2026-12-27", None, false, DayBasis::Weekly);
        check("2026-12-26", None, true, DayBasis::Announced);
        check("2026-12-31", None, false, DayBasis::Announced);
        let record = Record {
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
    fn days_to_come_follow_the_practice_unless_they_are_announced() {
        let practice = Practice::from([Weekday::Saturday, Weekday::Thursday]);
        for (text, is_trading, basis) in [
            ("2026-12-19", true, DayBasis::Weekly),
            ("2026-12-20", false, DayBasis::Weekly),
            ("2026-12-31", false, DayBasis::Announced),
        ] {
            let day = day(date(text), &timetable(), None, &practice);
            assert_eq!((day.is_trading, day.basis), (is_trading, basis), "{text}");
            // The hours of such a day are not known.
            assert_eq!(day.session, None, "{text}");
        }
    }

    #[test]
    fn sessions_are_told_where_the_exchange_tells_them() {
        let session =
            |text: &str| day(date(text), &timetable(), None, &Practice::default()).session;
        let open = session("2026-12-25").unwrap();
        assert_eq!(open.opens.to_rfc3339(), "2026-12-25T03:30:00Z");
        assert_eq!(open.closes.to_rfc3339(), "2026-12-25T20:30:00Z");
        assert_eq!(session("2026-12-27"), None);
        let night = Rule { closes: Some(Time::constant(0, 30, 0, 0)), ..works(true) };
        let closes = super::session(date("2026-12-25"), night).unwrap().closes;
        assert_eq!(closes.to_rfc3339(), "2026-12-25T21:30:00Z");
    }
}
