//! The past trading days, derived from the daily candles of reference shares, and the days that a
//! series lacks compared with them.

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
use crate::candles::LocalRange;
use crate::listing::Listed;
use crate::moscow_time;
use crate::stale_cache::CacheAges;

/// Shares that are traded on every trading day; LKOH checks SBER.
const REFERENCE_SHARES: [&str; 2] = ["SBER", "LKOH"];

/// With fewer counted days, volumes that differ on most of them may all be real losses.
const DAYS_COUNTED_MIN: usize = 10;

pub(crate) type TradedDates = Arc<BTreeSet<Date>>;

/// The traded dates in the half-open range from `from` to `until`.
#[derive(Debug)]
pub(crate) struct TradedDays {
    pub(crate) from: Date,
    pub(crate) until: Date,
    pub(crate) traded: BTreeSet<Date>,
}

impl Inner {
    /// The past trading days of the range, taken from a reference share: SBER, or LKOH when `about`
    /// is SBER itself. `None` when the range has no past days.
    pub(crate) async fn traded_days(
        self: &Arc<Self>,
        about: &str,
        from: Date,
        to: Date,
    ) -> Result<Option<TradedDays>, Fault> {
        let [usual, other] = REFERENCE_SHARES;
        let reference_share = if about == usual { other } else { usual };
        let today = moscow_time::today(self.clock.now());
        let until = today.min(to.checked_add(1.day()).unwrap_or(to));
        if from >= until {
            return Ok(None);
        }
        let Some(first) = self.first_open(reference_share, Interval::D1).await? else {
            return Ok(None);
        };
        let from = from.max(first.date());
        if from >= until {
            return Ok(None);
        }
        let last = until.checked_sub(1.day()).map_err(Fault::internal)?;
        let years =
            (from.year()..=last.year()).map(|year| self.sessions(reference_share, year, today));
        let years = try_join_all(years).await?;
        let days = years.iter().flat_map(|year| year.iter().copied());
        let traded = days.filter(|day| (from..until).contains(day)).collect();
        Ok(Some(TradedDays { from, until, traded }))
    }

    /// The traded dates of a year up to yesterday; they are cached.
    async fn sessions(
        self: &Arc<Self>,
        reference_share: &'static str,
        year: i16,
        today: Date,
    ) -> Result<TradedDates, Fault> {
        let yesterday = today.checked_sub(1.day()).map_err(Fault::internal)?;
        let last = Date::new(year, 12, 31).map_err(Fault::internal)?.min(yesterday);
        let inner = Arc::clone(self);
        let work = async move {
            let listed = inner.listed(reference_share, None).await?;
            let from = last.first_of_year();
            let fetched = inner.fetch_candles(&listed, days(CandleStep::Day, from, last)).await?;
            Ok(Arc::new(fetched.candles.iter().map(|candle| candle.begins.date()).collect()))
        };
        let ages =
            CacheAges { fresh: self.config.reference_age, stale: self.config.reference_age_stale };
        Ok(self.caches.sessions.get((reference_share, last), ages, work).await?.value)
    }

    /// `candles` boxed, because fetching hours fetches days recursively.
    fn boxed_candles<'a>(
        self: &'a Arc<Self>,
        request: &'a CandleRequest,
    ) -> BoxFuture<'a, Result<WithFreshness<Arc<SecurityCandles>>, Fault>> {
        Box::pin(self.candles(request))
    }

    /// Fetches the days that a series lacks once more and returns the days it still lacks.
    pub(crate) async fn refetch_missing(
        self: &Arc<Self>,
        listed: &Arc<Listed>,
        request: &CandleRequest,
        candles: &mut Vec<SecurityCandle>,
    ) -> Result<Vec<Date>, Fault> {
        let expected = self.expected(listed, request, candles).await?;
        let missing = expected.missing(candles);
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else {
            return Ok(Vec::new());
        };
        if !candles.is_empty() && expected.is_unreliable(&missing) {
            let message = "the exchange's shorter candles do not add up to its days";
            return Err(Fault::unavailable("upstream_incomplete", message));
        }
        let range = days(request.step, *first, *last);
        // When the second request fails, the missing days are still known.
        let Ok(refetched) = self.fetch_candles(listed, range).await else { return Ok(missing) };
        for day in &missing {
            let of_day = |candle: &&SecurityCandle| candle.begins.date() == *day;
            let new: Vec<SecurityCandle> =
                refetched.candles.iter().filter(of_day).copied().collect();
            if new.len() > candles.iter().filter(of_day).count() {
                candles.retain(|candle| candle.begins.date() != *day);
                candles.extend(new);
            }
        }
        candles.sort_by_key(|candle| candle.begins);
        Ok(expected.missing(candles))
    }

    /// The days that should be there. Daily candles are compared with the traded days of a
    /// reference share, while the security was listed; shorter candles with the security's own days
    /// and their volume, because an hour without trades has no candle.
    async fn expected(
        self: &Arc<Self>,
        listed: &Arc<Listed>,
        request: &CandleRequest,
        candles: &[SecurityCandle],
    ) -> Result<ExpectedDays, Fault> {
        if request.step != CandleStep::Day {
            let request = CandleRequest {
                board: Some(listed.address.board.clone()),
                step: CandleStep::Day,
                ..request.clone()
            };
            let daily = self.boxed_candles(&request).await?.value;
            let traded = |candle: &SecurityCandle| (candle.begins.date(), candle.volume);
            let closed = daily.candles.iter().filter(|candle| candle.closed);
            let days = closed.map(traded).chain(daily.missing.iter().map(|day| (*day, None)));
            return Ok(ExpectedDays { days: days.collect() });
        }
        let code = &listed.security.code;
        let Some(record) = self.traded_days(code, request.from, request.to).await? else {
            return Ok(ExpectedDays::default());
        };
        let mut days = record.traded;
        if listed.address.is_index() {
            days.retain(|day| !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday));
        }
        let (first, last) = (candles.first(), candles.last());
        let seen = first.zip(last).map(|(first, last)| (first.begins.date(), last.begins.date()));
        let outside = |day: &Date| seen.is_none_or(|(first, last)| *day < first || last < *day);
        if days.iter().any(outside) {
            let borders = self.borders(listed).await?;
            let listed_days = borders.iter().find(|it| it.step == CandleStep::Day);
            days.retain(|day| {
                listed_days
                    .is_some_and(|listed_days| (listed_days.first..=listed_days.last).contains(day))
            });
        }
        Ok(ExpectedDays { days: days.into_iter().map(|day| (day, None)).collect() })
    }
}

/// Days that should be there, with their volume when it is known.
#[derive(Debug, Default)]
struct ExpectedDays {
    days: BTreeMap<Date, Option<Decimal>>,
}

impl ExpectedDays {
    /// Days without a candle, and days whose candles add up to less than the day's volume.
    fn missing(&self, candles: &[SecurityCandle]) -> Vec<Date> {
        let mut found: BTreeMap<Date, Option<Decimal>> = BTreeMap::new();
        for candle in candles {
            let sum = found.entry(candle.begins.date()).or_insert(Some(Decimal::ZERO));
            *sum = sum.zip(candle.volume).and_then(|(sum, it)| crate::number::sum(sum, it));
        }
        let lacks = |(day, daily): (&Date, &Option<Decimal>)| {
            let missing = match (found.get(day), daily) {
                (None, _) => true,
                (Some(Some(sum)), Some(daily)) => sum < daily,
                _ => false,
            };
            missing.then_some(*day)
        };
        self.days.iter().filter_map(lacks).collect()
    }

    /// Whether volumes differ on more than half of the days: then they are counted in different
    /// ways and prove no loss.
    fn is_unreliable(&self, missing: &[Date]) -> bool {
        let counted = self.days.values().flatten().count();
        counted >= DAYS_COUNTED_MIN && missing.len() * 2 > counted
    }
}

/// Whole days, both included.
fn days(step: CandleStep, from: Date, to: Date) -> LocalRange {
    let till = to.to_datetime(Time::constant(23, 59, 59, 0));
    LocalRange { step, from: from.to_datetime(Time::midnight()), till }
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
        let expected = ExpectedDays { days: expected.iter().map(day).collect() };
        let candles: Vec<_> = candles.iter().map(|(at, volume)| candle(at, *volume)).collect();
        let lacking: Vec<_> = expected.missing(&candles).iter().map(Date::to_string).collect();
        assert_eq!(lacking, lacks);
    }

    #[track_caller]
    fn check_doubt(counted: usize, missing: usize, doubtful: bool) {
        let day = |by: usize| date("2024-01-01").saturating_add((by as i64).days());
        let days = (0..counted).map(|by| (day(by), Some(Decimal::ZERO))).collect();
        let missing: Vec<Date> = (0..missing).map(day).collect();
        assert_eq!(
            ExpectedDays { days }.is_unreliable(&missing),
            doubtful,
            "{counted} {}",
            missing.len()
        );
    }

    #[test]
    fn volumes_that_differ_on_most_days_are_unreliable() {
        check_doubt(20, 11, true);
        check_doubt(20, 10, false);
        check_doubt(10, 6, true);
        check_doubt(9, 9, false);
        check_doubt(0, 5, false);
    }

    #[test]
    fn a_day_is_missing_when_its_candles_add_up_to_less_than_its_volume() {
        let (nine, ten) = ("2024-02-15T09:00:00", "2024-02-15T10:00:00");
        check(&[("2024-02-15", None)], &[(nine, Some(1))], &[]);
        check(&[("2024-02-15", None)], &[], &["2024-02-15"]);
        check(&[("2024-02-15", Some(3))], &[(nine, Some(1)), (ten, Some(2))], &[]);
        check(&[("2024-02-15", Some(3))], &[(nine, Some(1))], &["2024-02-15"]);
        check(&[("2024-02-15", Some(3))], &[], &["2024-02-15"]);
        // An unknown or larger volume is not a loss.
        check(&[("2024-02-15", Some(3))], &[(nine, None)], &[]);
        check(&[("2024-02-15", Some(3))], &[(nine, Some(4))], &[]);
        check(&[], &[(nine, Some(4))], &[]);
    }
}
