//! Closed bars in the intervals of `market`: taken from the exchange's candles or built from
//! shorter ones. Bars of a day or longer open at midnight UTC of their trading date, so that a
//! request by date finds them; shorter bars open at their real instant.

use std::sync::Arc;

use clock::{DAY_MS, Millis, TimeRange};
use fault::Fault;
use jiff::civil::{Date, Time};
use market::{Bar, BarBatch, CandleRequest, CandleStep, Interval, SecurityCandle};

use crate::Inner;
use crate::candles::{LAG_MAX_MS, LocalRange, code_of, delay_ms};
use crate::client::IssRequest;
use crate::listing::Listed;
use crate::moscow_time;
use crate::number;
use crate::stale_cache::CacheAges;

/// The most bars of one batch.
const BARS_MAX: u64 = 1_000_000;
/// Requests are clipped to the range from 1992-01-01, the first date of the exchange, to 2100.
const FIRST: Millis = Millis(694_224_000_000);
const LAST: Millis = Millis(4_102_444_800_000);

/// The first and the last candle of a security of one length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Border {
    pub(crate) step: CandleStep,
    /// The opening time of the first bar.
    begins: Millis,
    pub(crate) first: Date,
    pub(crate) last: Date,
}

pub(crate) type Borders = Arc<Vec<Border>>;

/// The candle length that bars of the interval are built from; `None` when there is none.
fn source_step(interval: Interval) -> Option<CandleStep> {
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

/// Like [`source_step`], with a fault for an interval that is not served.
pub(crate) fn step_of(interval: Interval) -> Result<CandleStep, Fault> {
    source_step(interval).ok_or_else(|| {
        let message = format!("the Moscow Exchange has no bars of {interval}");
        let problem = "1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w or 1M";
        Fault::invalid("interval_not_served", message).problem("interval", problem)
    })
}

fn is_daily_or_longer(step: CandleStep) -> bool {
    matches!(step, CandleStep::Day | CandleStep::Week | CandleStep::Month)
}

/// The opening time of the bar that a candle becomes.
pub(crate) fn open_time_of(candle: &SecurityCandle, step: CandleStep) -> Millis {
    if is_daily_or_longer(step) {
        Millis::start_of(candle.begins.date())
    } else {
        candle.opens_at()
    }
}

/// An instant on the scale of the bars' opening times: local time for daily and longer candles.
pub(crate) fn bar_clock(at: Millis, step: CandleStep) -> Millis {
    if is_daily_or_longer(step) {
        Millis(at.0.saturating_add(i64::from(moscow_time::utc_offset_min(at)) * 60_000))
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
        // The clock is read before the request; bars that close meanwhile are left to the next
        // call.
        let now = self.clock.now();
        let nothing = |covered: TimeRange| BarBatch { bars: Vec::new(), covered, received_at: now };
        if opens.is_empty() {
            let to = span.to.min(bar_clock(now, step));
            return Ok(nothing(TimeRange::new(span.from, to)));
        }
        if opens.from > bar_clock(now, step) {
            return Ok(nothing(TimeRange::new(span.from, span.from)));
        }
        let last_open = interval.open_of(Millis(opens.to.0 - 1));
        let requested = TimeRange::new(opens.from, interval.next_open(last_open));
        let range = local_range(step, requested);
        let mut fetched = self.fetch_candles(&listed, range).await?;
        if step == CandleStep::Day {
            self.refetch_missing_days(&listed, range, &mut fetched.candles).await;
        }
        let data_time = Millis(now.0 - delay_ms(fetched.delay));
        let covered = known_range(span, interval, step, &fetched.candles, data_time);
        let bars = closed_bars(interval, step, &fetched.candles, covered)
            .ok_or_else(|| Fault::unavailable("upstream_malformed", "volumes without end"))?;
        Ok(BarBatch { bars, covered, received_at: self.clock.now() })
    }

    /// Fetches missing days once more before the bars are archived with their gaps. Bars shorter
    /// than a day are not checked.
    async fn refetch_missing_days(
        self: &Arc<Self>,
        listed: &Arc<Listed>,
        range: LocalRange,
        candles: &mut Vec<SecurityCandle>,
    ) {
        let request = CandleRequest {
            code: listed.security.code.clone(),
            board: Some(listed.address.board.clone()),
            step: range.step,
            from: range.from.date(),
            to: range.till.date(),
        };
        let healed = self.refetch_missing(listed, &request, candles);
        // Days that are still missing count as not traded.
        drop(tokio::time::timeout(self.config.check_timeout, healed).await);
    }

    pub(crate) async fn first_open(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
    ) -> Result<Option<Millis>, Fault> {
        let Some(step) = source_step(interval) else { return Ok(None) };
        let listed = self.listed(code, None).await?;
        let borders = self.borders(&listed).await?;
        let first = borders.iter().filter(|it| it.step == step).map(|it| it.begins).min();
        Ok(first.map(|at| interval.open_of(at)))
    }

    pub(crate) async fn borders(self: &Arc<Self>, listed: &Arc<Listed>) -> Result<Borders, Fault> {
        let (inner, listed) = (Arc::clone(self), Arc::clone(listed));
        let key = (listed.address.clone(), listed.security.code.clone());
        let work = async move { inner.fetch_borders(&listed).await };
        let ages =
            CacheAges { fresh: self.config.reference_age, stale: self.config.reference_age_stale };
        Ok(self.caches.borders.get(key, ages, work).await?.value)
    }

    async fn fetch_borders(self: &Arc<Self>, listed: &Listed) -> Result<Borders, Fault> {
        let path =
            format!("{}/securities/{}/candleborders", listed.address.path(), listed.security.code);
        let answer = self.client.fetch(&IssRequest::new("candleborders", path, "borders")).await?;
        let borders = answer.tables.need("borders", &["begin", "end", "interval"])?;
        let read = |row: crate::tables::Row<'_>| {
            let code = row.integer("interval")?;
            let step = CandleStep::ALL.into_iter().find(|it| i64::from(code_of(*it)) == code)?;
            let begins = row.datetime("begin")?;
            let (first, last) = (begins.date(), row.datetime("end")?.date());
            let begins = if is_daily_or_longer(step) {
                Millis::start_of(first)
            } else {
                moscow_time::to_instant(begins).0
            };
            Some(Border { step, begins, first, last })
        };
        Ok(Arc::new(borders.rows().filter_map(read).collect()))
    }
}

/// The range in local time. The exchange's end is inclusive, that of a [`TimeRange`] is not.
pub(crate) fn local_range(step: CandleStep, requested: TimeRange) -> LocalRange {
    let last = Millis(requested.to.0 - 1_000);
    if is_daily_or_longer(step) {
        let till = last.date().to_datetime(Time::constant(23, 59, 59, 0));
        return LocalRange {
            step,
            from: requested.from.date().to_datetime(Time::midnight()),
            till,
        };
    }
    LocalRange {
        step,
        from: moscow_time::to_local(requested.from),
        till: moscow_time::to_local(last),
    }
}

/// The range whose bars are known. It ends at a forming candle, and at the newest time without
/// candles for as long as the exchange may still publish them.
pub(crate) fn known_range(
    span: TimeRange,
    interval: Interval,
    step: CandleStep,
    candles: &[SecurityCandle],
    data_time: Millis,
) -> TimeRange {
    let forming = interval.open_of(bar_clock(data_time, step));
    let open = candles.iter().find(|candle| !candle.closed).map(|it| open_time_of(it, step));
    let closed = candles.iter().rev().find(|candle| candle.closed).map(|it| open_time_of(it, step));
    let last = closed.map_or(span.from, |at| next_open_of(at, step));
    let settled = interval.open_of(bar_clock(Millis(data_time.0 - LAG_MAX_MS), step));
    let mut end = span.to.min(forming).min(interval.open_of(last).max(settled));
    if let Some(open) = open {
        end = end.min(interval.open_of(open));
    }
    TimeRange::new(span.from, end)
}

/// The opening time of the next candle, on the scale of bars.
pub(crate) fn next_open_of(at: Millis, step: CandleStep) -> Millis {
    match step {
        CandleStep::Minute => Millis(at.0 + 60_000),
        CandleStep::TenMinutes => Millis(at.0 + 600_000),
        CandleStep::Hour => Millis(at.0 + 3_600_000),
        CandleStep::Day => Millis(at.0 + DAY_MS),
        CandleStep::Week => Interval::W1.next_open(at),
        CandleStep::Month => Interval::Month.next_open(at),
    }
}

/// The bars of the covered range from closed candles; `None` when a volume overflows.
fn closed_bars(
    interval: Interval,
    step: CandleStep,
    candles: &[SecurityCandle],
    covered: TimeRange,
) -> Option<Vec<Bar>> {
    let known = |candle: &&SecurityCandle| {
        candle.closed && covered.contains(interval.open_of(open_time_of(candle, step)))
    };
    fold_bars(interval, step, candles.iter().filter(known))
}

/// Combines the candles of each bar; `None` when a volume overflows.
pub(crate) fn fold_bars<'a>(
    interval: Interval,
    step: CandleStep,
    candles: impl Iterator<Item = &'a SecurityCandle>,
) -> Option<Vec<Bar>> {
    let mut bars: Vec<Bar> = Vec::with_capacity(candles.size_hint().1.unwrap_or(0));
    for candle in candles {
        let open_time = interval.open_of(open_time_of(candle, step));
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
