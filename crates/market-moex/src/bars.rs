//! Closed bars in the house's own intervals: those the exchange has as they are, the others put
//! together from smaller ones.
//!
//! Bars of a day or longer are named after their day of trading and open at its midnight in UTC,
//! like everybody's; shorter ones open when they did. So a day asked for by its date is that day.

use std::sync::Arc;

use clock::{DAY_MS, Millis, TimeRange};
use fault::Fault;
use jiff::civil::{Date, Time};
use market::{Bar, BarBatch, CandleRequest, CandleStep, Interval, SecurityCandle};

use crate::Inner;
use crate::candles::{LAG_MAX_MS, Stretch, code_of, delay_ms};
use crate::client::Question;
use crate::listing::Listed;
use crate::number;
use crate::shelf::Ages;
use crate::zone;

/// A batch larger than this would not be a batch.
const BARS_MAX: u64 = 1_000_000;
/// Nothing was traded before this day, 1992-01-01, and nothing is said about days after 2100.
const FIRST: Millis = Millis(694_224_000_000);
const LAST: Millis = Millis(4_102_444_800_000);

/// From when to when there are candles of a security.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Border {
    pub(crate) step: CandleStep,
    /// On the house's clocks.
    begins: Millis,
    pub(crate) first: Date,
    pub(crate) last: Date,
}

pub(crate) type Borders = Arc<Vec<Border>>;

/// The candles a bar is made from; `None` where that cannot be done exactly.
fn made_from(interval: Interval) -> Option<CandleStep> {
    Some(match interval {
        Interval::S1 => return None,
        Interval::M1 | Interval::M3 | Interval::M5 | Interval::M15 => CandleStep::Minute,
        Interval::M30 => CandleStep::TenMinutes,
        Interval::H1
        | Interval::H2
        | Interval::H4
        | Interval::H6
        | Interval::H8
        | Interval::H12 => CandleStep::Hour,
        Interval::D1 | Interval::D3 => CandleStep::Day,
        Interval::W1 => CandleStep::Week,
        Interval::Month => CandleStep::Month,
    })
}

/// The same, refusing what cannot be done.
pub(crate) fn step_of(interval: Interval) -> Result<CandleStep, Fault> {
    made_from(interval).ok_or_else(|| {
        let message = format!("the Moscow Exchange has no bars of {interval}");
        let problem = "1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w or 1M";
        Fault::invalid("interval_not_served", message).problem("interval", problem)
    })
}

fn of_days(step: CandleStep) -> bool {
    matches!(step, CandleStep::Day | CandleStep::Week | CandleStep::Month)
}

/// The time of a candle on the house's clocks.
pub(crate) fn opening(candle: &SecurityCandle, step: CandleStep) -> Millis {
    if of_days(step) { Millis::start_of(candle.begins.date()) } else { candle.opens_at() }
}

/// What the house's clocks for these candles show at an instant.
pub(crate) fn shown(at: Millis, step: CandleStep) -> Millis {
    if of_days(step) {
        Millis(at.0.saturating_add(i64::from(zone::offset_min(at)) * 60_000))
    } else {
        at
    }
}

impl Inner {
    pub(crate) async fn bars(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        span: TimeRange,
    ) -> Result<Arc<BarBatch>, Fault> {
        let step = step_of(interval)?;
        if interval.count_in(span.overlap(TimeRange::new(FIRST, LAST))) > BARS_MAX {
            let message = format!("a span of more than {BARS_MAX} bars was asked for at once");
            return Err(Fault::invalid("span_too_long", message));
        }
        let inner = Arc::clone(self);
        let key = (code.to_owned(), interval, span.from, span.to);
        let owned = code.to_owned();
        let work =
            async move { inner.fetch_bars(&owned, interval, step, span).await.map(Arc::new) };
        self.flights.bars.run(key, work).await
    }

    async fn fetch_bars(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        step: CandleStep,
        span: TimeRange,
    ) -> Result<BarBatch, Fault> {
        let listed = self.listed(code, None).await?;
        let known = span.overlap(TimeRange::new(FIRST, LAST));
        let opens = TimeRange::new(interval.open_at_or_after(known.from), known.to);
        // Read before the rows: what closes in between is left for the next call.
        let now = self.clock.now();
        let nothing = |covered: TimeRange| BarBatch { bars: Vec::new(), covered, received_at: now };
        if opens.is_empty() {
            let to = span.to.min(shown(now, step));
            return Ok(nothing(TimeRange::new(span.from, to)));
        }
        if opens.from > shown(now, step) {
            return Ok(nothing(TimeRange::new(span.from, span.from)));
        }
        let last_open = interval.open_of(Millis(opens.to.0 - 1));
        let wanted = TimeRange::new(opens.from, interval.next_open(last_open));
        let stretch = stretch(step, wanted);
        let mut fetched = self.fetch_candles(&listed, stretch).await?;
        if step == CandleStep::Day {
            self.heal(&listed, stretch, &mut fetched.candles).await;
        }
        let seen = Millis(now.0 - delay_ms(fetched.delay));
        let covered = told(span, interval, step, &fetched.candles, seen);
        let bars = gather(interval, step, &fetched.candles, covered)
            .ok_or_else(|| Fault::unavailable("upstream_malformed", "volumes without end"))?;
        Ok(BarBatch { bars, covered, received_at: self.clock.now() })
    }

    /// Days that came without their rows are asked for once more: whoever keeps bars keeps their
    /// holes as well. Parts of days cannot be held against anything.
    async fn heal(
        self: &Arc<Self>,
        listed: &Arc<Listed>,
        stretch: Stretch,
        candles: &mut Vec<SecurityCandle>,
    ) {
        let request = CandleRequest {
            code: listed.security.code.clone(),
            board: Some(listed.place.board.clone()),
            step: stretch.step,
            from: stretch.from.date(),
            to: stretch.till.date(),
        };
        let healed = self.complete(listed, &request, candles);
        // What is missing for good was not traded, as far as anybody can tell.
        drop(tokio::time::timeout(self.config.check_timeout, healed).await);
    }

    pub(crate) async fn first_open(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
    ) -> Result<Option<Millis>, Fault> {
        let Some(step) = made_from(interval) else { return Ok(None) };
        let listed = self.listed(code, None).await?;
        let borders = self.borders(&listed).await?;
        let first = borders.iter().filter(|it| it.step == step).map(|it| it.begins).min();
        Ok(first.map(|at| interval.open_of(at)))
    }

    pub(crate) async fn borders(self: &Arc<Self>, listed: &Arc<Listed>) -> Result<Borders, Fault> {
        let (inner, listed) = (Arc::clone(self), Arc::clone(listed));
        let key = (listed.place.clone(), listed.security.code.clone());
        let work = async move { inner.fetch_borders(&listed).await };
        let ages =
            Ages { fresh: self.config.reference_age, stale: self.config.reference_age_stale };
        Ok(self.shelves.borders.get(key, ages, work).await?.value)
    }

    async fn fetch_borders(self: &Arc<Self>, listed: &Listed) -> Result<Borders, Fault> {
        let path =
            format!("{}/securities/{}/candleborders", listed.place.path(), listed.security.code);
        let answer = self.client.ask(&Question::new("candleborders", path, "borders")).await?;
        let borders = answer.tables.need("borders", &["begin", "end", "interval"])?;
        let read = |row: crate::tables::Row<'_>| {
            let code = row.integer("interval")?;
            let step = CandleStep::ALL.into_iter().find(|it| i64::from(code_of(*it)) == code)?;
            let begins = row.datetime("begin")?;
            let (first, last) = (begins.date(), row.datetime("end")?.date());
            let begins =
                if of_days(step) { Millis::start_of(first) } else { zone::instant(begins).0 };
            Some(Border { step, begins, first, last })
        };
        Ok(Arc::new(borders.rows().filter_map(read).collect()))
    }
}

/// The span on Moscow's clocks. The exchange's end is inclusive, ours is not.
pub(crate) fn stretch(step: CandleStep, wanted: TimeRange) -> Stretch {
    let last = Millis(wanted.to.0 - 1_000);
    if of_days(step) {
        let till = last.date().to_datetime(Time::constant(23, 59, 59, 0));
        return Stretch { step, from: wanted.from.date().to_datetime(Time::midnight()), till };
    }
    Stretch { step, from: zone::local(wanted.from), till: zone::local(last) }
}

/// What is known now. A candle that is forming ends it; so does the newest time of which nothing
/// was said, for as long as the exchange may be late with it.
pub(crate) fn told(
    span: TimeRange,
    interval: Interval,
    step: CandleStep,
    candles: &[SecurityCandle],
    seen: Millis,
) -> TimeRange {
    let forming = interval.open_of(shown(seen, step));
    let open = candles.iter().find(|candle| !candle.closed).map(|it| opening(it, step));
    let closed = candles.iter().rev().find(|candle| candle.closed).map(|it| opening(it, step));
    let last = closed.map_or(span.from, |at| next_of(at, step));
    let settled = interval.open_of(shown(Millis(seen.0 - LAG_MAX_MS), step));
    let mut end = span.to.min(forming).min(interval.open_of(last).max(settled));
    if let Some(open) = open {
        end = end.min(interval.open_of(open));
    }
    TimeRange::new(span.from, end)
}

/// Where the candle after this one opens, on the house's clocks.
pub(crate) fn next_of(at: Millis, step: CandleStep) -> Millis {
    match step {
        CandleStep::Minute => Millis(at.0 + 60_000),
        CandleStep::TenMinutes => Millis(at.0 + 600_000),
        CandleStep::Hour => Millis(at.0 + 3_600_000),
        CandleStep::Day => Millis(at.0 + DAY_MS),
        CandleStep::Week => Interval::W1.next_open(at),
        CandleStep::Month => Interval::Month.next_open(at),
    }
}

/// The bars of what is known, from the candles that have closed; `None` where sums do not fit.
fn gather(
    interval: Interval,
    step: CandleStep,
    candles: &[SecurityCandle],
    covered: TimeRange,
) -> Option<Vec<Bar>> {
    let known = |candle: &&SecurityCandle| {
        candle.closed && covered.contains(interval.open_of(opening(candle, step)))
    };
    fold(interval, step, candles.iter().filter(known))
}

/// One bar from all candles of its time; `None` where sums do not fit.
pub(crate) fn fold<'a>(
    interval: Interval,
    step: CandleStep,
    candles: impl Iterator<Item = &'a SecurityCandle>,
) -> Option<Vec<Bar>> {
    let mut bars: Vec<Bar> = Vec::with_capacity(candles.size_hint().1.unwrap_or(0));
    for candle in candles {
        let open_time = interval.open_of(opening(candle, step));
        match bars.last_mut().filter(|bar| bar.open_time == open_time) {
            Some(bar) => {
                bar.high = bar.high.max(candle.high);
                bar.low = bar.low.min(candle.low);
                bar.close = candle.close;
                bar.volume = match (bar.volume, candle.volume) {
                    (Some(sum), Some(more)) => Some(number::sum(sum, more)?),
                    _ => None,
                };
            }
            None => bars.push(Bar {
                open_time,
                open: candle.open,
                high: candle.high,
                low: candle.low,
                close: candle.close,
                volume: candle.volume,
            }),
        }
    }
    Some(bars)
}

#[cfg(test)]
mod tests;
