//! One poll of the candles from an opening time on: which have closed and which is forming.
//!
//! A minute without trades has no candle, and a row that a response lost looks the same. A response
//! with gaps is therefore requested a second time, and the two are merged, before candles after a
//! gap are published. Only rows advance the series: the end of the rows proves nothing.

use std::sync::Arc;

use clock::{DAY_MS, Millis, TimeRange};
use fault::Fault;
use market::{CandleStep, Interval, Kline, SecurityCandle};

use super::LiveSeries;
use crate::Inner;
use crate::bars::{bar_clock, fold_bars, known_range, local_range, next_open_of, open_time_of};
use crate::candles::{LAG_MAX_MS, is_full, traded_within};

/// The result of one poll.
#[derive(Debug)]
pub(crate) struct CandlePoll {
    /// Closed, ascending.
    pub(crate) rows: Vec<Kline>,
    pub(crate) forming: Option<Kline>,
    /// Every closed candle that opens before this is in `rows` or does not exist.
    pub(crate) known_to: Millis,
    /// There is another page to read.
    pub(crate) more: bool,
    /// The instant that the data describes: now minus the delay.
    pub(crate) as_of: Millis,
    /// Whether candles are missing before the last one.
    has_gaps: bool,
}

/// The candles of one response, or of two that were merged.
#[derive(Debug, Clone)]
struct PolledCandles {
    candles: Vec<SecurityCandle>,
    /// There may be another page.
    full: bool,
    /// Whether candles after the last one are unknown, so that its bar may be incomplete.
    cut: bool,
    data_time: Millis,
}

/// Polls the first page of candles from an opening time on.
pub(crate) async fn poll_candles(
    inner: &Arc<Inner>,
    series: &LiveSeries,
    from: Millis,
) -> Result<CandlePoll, Fault> {
    let classified = |polled_candles: &PolledCandles| {
        classify(series.interval, series.step, from, polled_candles)
            .ok_or_else(|| Fault::unavailable("upstream_malformed", "volumes without end"))
    };
    let first = read(inner, series, from).await?;
    let polled = classified(&first)?;
    if !polled.has_gaps {
        return Ok(polled);
    }
    tokio::time::sleep(inner.config.live.gap_retry_wait).await;
    let second = read(inner, series, from).await?;
    classified(&merge(first, second, series.step))
}

async fn read(
    inner: &Arc<Inner>,
    series: &LiveSeries,
    from: Millis,
) -> Result<PolledCandles, Fault> {
    let step = series.step;
    // The clock is read before the request, with a tolerance for clock differences.
    let now = bar_clock(inner.clock.now(), step);
    let requested = TimeRange::new(from, Millis(now.0.max(from.0).saturating_add(DAY_MS)));
    let range = local_range(step, requested);
    let page = inner.page(&series.listed, range, 0).await?;
    let full = is_full(page.candles.len());
    let mut candles = traded_within(page.candles, range);
    // A candle from the future would make all earlier ones look closed.
    candles.retain(|candle| open_time_of(candle, step).0 <= now.0.saturating_add(LAG_MAX_MS));
    Ok(PolledCandles { candles, full, cut: full, data_time: page.data_time })
}

/// Merges two responses up to where both are reliable; the second one is newer.
fn merge(first: PolledCandles, second: PolledCandles, step: CandleStep) -> PolledCandles {
    let last = |polled_candles: &PolledCandles| polled_candles.candles.last().map(|it| it.begins);
    let reach =
        |polled_candles: &PolledCandles| last(polled_candles).filter(|_| polled_candles.full);
    let reach = reach(&first).into_iter().chain(reach(&second)).min();
    // A forming candle that the second response lacks was lost and is outdated.
    let stale = |candle: &&SecurityCandle| {
        let found = second.candles.binary_search_by_key(&candle.begins, |it| it.begins);
        !candle.closed && found.is_err()
    };
    let stale = first.candles.iter().find(stale).map(|candle| candle.begins);
    let (full, data_time, first_end) = (first.full || second.full, second.data_time, last(&first));
    let mut all = first.candles;
    all.extend(second.candles);
    // The sort is stable: of two candles with the same time the newer one comes last.
    all.sort_by_key(|candle| candle.begins);
    let mut candles: Vec<SecurityCandle> = Vec::with_capacity(all.len());
    let mut cut = full;
    for candle in all {
        let before =
            candles.last().map(|it| (it.begins, next_open_of(open_time_of(it, step), step)));
        if before.is_some_and(|(begins, _)| begins == candle.begins) {
            candles.pop();
        } else if reach.is_some_and(|reach| candle.begins > reach) {
            break;
        } else {
            // A gap after the end of the first response was requested only once.
            let hole = before.is_none_or(|(_, next)| open_time_of(&candle, step) > next);
            let once = hole && first_end.is_none_or(|last| candle.begins > last);
            if once || stale == Some(candle.begins) {
                cut = true;
                break;
            }
        }
        candles.push(candle);
    }
    PolledCandles { candles, full, cut, data_time }
}

/// Decides which candles have closed: those with a later candle, and those whose time ended long
/// enough ago. `None` when a volume overflows.
fn classify(
    interval: Interval,
    step: CandleStep,
    from: Millis,
    polled_candles: &PolledCandles,
) -> Option<CandlePoll> {
    let candles: Vec<SecurityCandle> = polled_candles
        .candles
        .iter()
        .filter(|candle| interval.open_of(open_time_of(candle, step)) >= from)
        .copied()
        .collect();
    let bars = fold_bars(interval, step, candles.iter())?;
    let over_to = known_range(
        TimeRange::new(from, Millis(i64::MAX)),
        interval,
        step,
        &candles,
        polled_candles.data_time,
    )
    .to;
    let mut polled = CandlePoll {
        rows: Vec::with_capacity(bars.len()),
        forming: None,
        known_to: from,
        more: false,
        as_of: polled_candles.data_time,
        has_gaps: false,
    };
    let count = bars.len();
    for (at, bar) in bars.into_iter().enumerate() {
        let next = interval.next_open(bar.open_time);
        let last = at + 1 == count;
        let closed = !last || (!polled_candles.cut && bar.open_time < over_to);
        polled.known_to = if closed { next } else { bar.open_time };
        let kline = Kline { bar, close_time: Millis(next.0 - 1), closed };
        match closed {
            true => polled.rows.push(kline),
            // Its remaining candles are on the next page.
            false if polled_candles.cut => {}
            false => polled.forming = Some(kline),
        }
    }
    let mut next = from;
    for candle in &candles {
        let at = open_time_of(candle, step);
        polled.has_gaps |= next < polled.known_to && at > next;
        next = next_open_of(at, step);
    }
    // A full page without progress is not requested again at once.
    polled.more = polled_candles.full && polled.known_to > from;
    Some(polled)
}

#[cfg(test)]
mod tests;
