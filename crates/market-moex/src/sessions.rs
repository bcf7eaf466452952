//! On which past days the exchange traded, from the candles of shares that are traded whenever
//! anything is; and what a series lacks by that record.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fault::Fault;
use futures_util::future::{BoxFuture, try_join_all};
use jiff::ToSpan;
use jiff::civil::{Date, Time, Weekday};
use market::{
    CandleRequest, CandleStep, Decimal, Interval, SecurityCandle, SecurityCandles, WithFreshness,
};

use crate::Inner;
use crate::candles::Stretch;
use crate::listing::Listed;
use crate::shelf::Ages;
use crate::zone;

/// Traded whenever anything is. Nobody is his own witness, so there are two.
const WITNESSES: [&str; 2] = ["SBER", "LKOH"];

/// Fewer days than this may well all have lost something.
const DAYS_COUNTED_MIN: usize = 10;

pub(crate) type Sessions = Arc<BTreeSet<Date>>;

/// On which of the days from the first up to, but without, the last there was trading.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) from: Date,
    pub(crate) until: Date,
    pub(crate) traded: BTreeSet<Date>,
}

impl Inner {
    /// The past part of the days; `None` where there is none. What is said about a witness is
    /// taken from the other one.
    pub(crate) async fn record(
        self: &Arc<Self>,
        about: &str,
        from: Date,
        to: Date,
    ) -> Result<Option<Record>, Fault> {
        let [usual, other] = WITNESSES;
        let witness = if about == usual { other } else { usual };
        let today = zone::today(self.clock.now());
        let until = today.min(to.checked_add(1.day()).unwrap_or(to));
        if from >= until {
            return Ok(None);
        }
        let Some(first) = self.first_open(witness, Interval::D1).await? else { return Ok(None) };
        let from = from.max(first.date());
        if from >= until {
            return Ok(None);
        }
        let last = until.checked_sub(1.day()).map_err(Fault::internal)?;
        let years = (from.year()..=last.year()).map(|year| self.sessions(witness, year, today));
        let years = try_join_all(years).await?;
        let days = years.iter().flat_map(|year| year.iter().copied());
        let traded = days.filter(|day| (from..until).contains(day)).collect();
        Ok(Some(Record { from, until, traded }))
    }

    /// Those of a year that are over. They are the same for everybody, so they are kept.
    async fn sessions(
        self: &Arc<Self>,
        witness: &'static str,
        year: i16,
        today: Date,
    ) -> Result<Sessions, Fault> {
        let yesterday = today.checked_sub(1.day()).map_err(Fault::internal)?;
        let last = Date::new(year, 12, 31).map_err(Fault::internal)?.min(yesterday);
        let inner = Arc::clone(self);
        let work = async move {
            let listed = inner.listed(witness, None).await?;
            let from = last.first_of_year();
            let fetched = inner.fetch_candles(&listed, days(CandleStep::Day, from, last)).await?;
            Ok(Arc::new(fetched.candles.iter().map(|candle| candle.begins.date()).collect()))
        };
        let ages =
            Ages { fresh: self.config.reference_age, stale: self.config.reference_age_stale };
        Ok(self.shelves.sessions.get((witness, last), ages, work).await?.value)
    }

    /// Days are asked for in the same way as hours, which a plain future cannot do.
    fn boxed_candles<'a>(
        self: &'a Arc<Self>,
        request: &'a CandleRequest,
    ) -> BoxFuture<'a, Result<WithFreshness<Arc<SecurityCandles>>, Fault>> {
        Box::pin(self.candles(request))
    }

    /// Asks once more for what a series lacks, and says what it still lacks after that.
    pub(crate) async fn complete(
        self: &Arc<Self>,
        listed: &Arc<Listed>,
        request: &CandleRequest,
        candles: &mut Vec<SecurityCandle>,
    ) -> Result<Vec<Date>, Fault> {
        let expected = self.expected(listed, request, candles).await?;
        let short = expected.lacking(candles);
        let (Some(first), Some(last)) = (short.first(), short.last()) else {
            return Ok(Vec::new());
        };
        if !candles.is_empty() && expected.is_doubtful(&short) {
            let message = "the exchange's shorter candles do not add up to its days";
            return Err(Fault::unavailable("upstream_incomplete", message));
        }
        let asked = days(request.step, *first, *last);
        // Where it cannot be asked again, what is missing is still known.
        let Ok(again) = self.fetch_candles(listed, asked).await else { return Ok(short) };
        for day in &short {
            let of_day = |candle: &&SecurityCandle| candle.begins.date() == *day;
            let new: Vec<SecurityCandle> = again.candles.iter().filter(of_day).copied().collect();
            if new.len() > candles.iter().filter(of_day).count() {
                candles.retain(|candle| candle.begins.date() != *day);
                candles.extend(new);
            }
        }
        candles.sort_by_key(|candle| candle.begins);
        Ok(expected.lacking(candles))
    }

    /// Days by the record of others, while the security itself was there. Hours by the security's
    /// own days: an hour in which nobody traded is none that was lost.
    async fn expected(
        self: &Arc<Self>,
        listed: &Arc<Listed>,
        request: &CandleRequest,
        candles: &[SecurityCandle],
    ) -> Result<Expected, Fault> {
        if request.step != CandleStep::Day {
            let request = CandleRequest {
                board: Some(listed.place.board.clone()),
                step: CandleStep::Day,
                ..request.clone()
            };
            let whole = self.boxed_candles(&request).await?.value;
            let traded = |candle: &SecurityCandle| (candle.begins.date(), candle.volume);
            let closed = whole.candles.iter().filter(|candle| candle.closed);
            let days = closed.map(traded).chain(whole.missing.iter().map(|day| (*day, None)));
            return Ok(Expected { days: days.collect() });
        }
        let code = &listed.security.code;
        let Some(record) = self.record(code, request.from, request.to).await? else {
            return Ok(Expected::default());
        };
        let mut days = record.traded;
        if listed.place.is_index() {
            days.retain(|day| !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday));
        }
        let (first, last) = (candles.first(), candles.last());
        let seen = first.zip(last).map(|(first, last)| (first.begins.date(), last.begins.date()));
        let outside = |day: &Date| seen.is_none_or(|(first, last)| *day < first || last < *day);
        if days.iter().any(outside) {
            let borders = self.borders(listed).await?;
            let own = borders.iter().find(|it| it.step == CandleStep::Day);
            days.retain(|day| own.is_some_and(|own| (own.first..=own.last).contains(day)));
        }
        Ok(Expected { days: days.into_iter().map(|day| (day, None)).collect() })
    }
}

/// Days that should be there, with what was traded in them where that is known.
#[derive(Debug, Default)]
struct Expected {
    days: BTreeMap<Date, Option<Decimal>>,
}

impl Expected {
    /// Days without a candle, and days whose candles do not come to what was traded.
    fn lacking(&self, candles: &[SecurityCandle]) -> Vec<Date> {
        let mut found: BTreeMap<Date, Option<Decimal>> = BTreeMap::new();
        for candle in candles {
            let sum = found.entry(candle.begins.date()).or_insert(Some(Decimal::ZERO));
            *sum = sum.zip(candle.volume).and_then(|(sum, it)| crate::number::sum(sum, it));
        }
        let lacks = |(day, whole): (&Date, &Option<Decimal>)| {
            let short = match (found.get(day), whole) {
                (None, _) => true,
                (Some(Some(sum)), Some(whole)) => sum < whole,
                _ => false,
            };
            short.then_some(*day)
        };
        self.days.iter().filter_map(lacks).collect()
    }

    /// Whether volumes differ on so many days that they must be counted in different ways, and so
    /// say nothing about what is lost.
    fn is_doubtful(&self, short: &[Date]) -> bool {
        let counted = self.days.values().flatten().count();
        counted >= DAYS_COUNTED_MIN && short.len() * 2 > counted
    }
}

/// Whole days, both included.
fn days(step: CandleStep, from: Date, to: Date) -> Stretch {
    let till = to.to_datetime(Time::constant(23, 59, 59, 0));
    Stretch { step, from: from.to_datetime(Time::midnight()), till }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        clock::parse_date(text).unwrap()
    }

    fn candle(begins: &str, volume: Option<i128>) -> SecurityCandle {
        let one = Decimal::from_parts(1, 0).unwrap();
        SecurityCandle {
            begins: begins.parse().unwrap(),
            offset_min: 180,
            open: one,
            high: one,
            low: one,
            close: one,
            volume: volume.and_then(|volume| Decimal::from_parts(volume, 0)),
            value: None,
            closed: true,
        }
    }

    #[track_caller]
    fn check(expected: &[(&str, Option<i128>)], candles: &[(&str, Option<i128>)], lacks: &[&str]) {
        let day = |(day, volume): &(&str, Option<i128>)| {
            (date(day), volume.and_then(|volume| Decimal::from_parts(volume, 0)))
        };
        let expected = Expected { days: expected.iter().map(day).collect() };
        let candles: Vec<_> = candles.iter().map(|(at, volume)| candle(at, *volume)).collect();
        let lacking: Vec<_> = expected.lacking(&candles).iter().map(Date::to_string).collect();
        assert_eq!(lacking, lacks);
    }

    #[track_caller]
    fn check_doubt(counted: usize, short: usize, doubtful: bool) {
        let day = |by: usize| date("2024-01-01").saturating_add((by as i64).days());
        let days = (0..counted).map(|by| (day(by), Some(Decimal::ZERO))).collect();
        let short: Vec<Date> = (0..short).map(day).collect();
        assert_eq!(Expected { days }.is_doubtful(&short), doubtful, "{counted} {}", short.len());
    }

    #[test]
    fn volumes_that_hardly_ever_agree_say_nothing() {
        check_doubt(20, 11, true);
        check_doubt(20, 10, false);
        check_doubt(10, 6, true);
        check_doubt(9, 9, false);
        check_doubt(0, 5, false);
    }

    #[test]
    fn a_day_is_there_if_its_candles_come_to_its_volume() {
        let (nine, ten) = ("2024-02-15T09:00:00", "2024-02-15T10:00:00");
        check(&[("2024-02-15", None)], &[(nine, Some(1))], &[]);
        check(&[("2024-02-15", None)], &[], &["2024-02-15"]);
        check(&[("2024-02-15", Some(3))], &[(nine, Some(1)), (ten, Some(2))], &[]);
        check(&[("2024-02-15", Some(3))], &[(nine, Some(1))], &["2024-02-15"]);
        check(&[("2024-02-15", Some(3))], &[], &["2024-02-15"]);
        // What is not known to be less is not said to be.
        check(&[("2024-02-15", Some(3))], &[(nine, None)], &[]);
        check(&[("2024-02-15", Some(3))], &[(nine, Some(4))], &[]);
        check(&[], &[(nine, Some(4))], &[]);
    }
}
