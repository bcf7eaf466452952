//! One look at the exchange's candles from a moment on: which have closed, and which is forming.
//!
//! Minutes without trades have no candles here, and a row that an answer lost looks the same. So an
//! answer with holes is asked for a second time before anything beyond a hole is told, and what
//! either of the two has is taken. Only rows move things on: the end of the rows proves nothing.

use std::sync::Arc;

use clock::{DAY_MS, Millis, TimeRange};
use fault::Fault;
use market::{CandleStep, Interval, Kline, SecurityCandle};

use super::Series;
use crate::Inner;
use crate::bars::{fold, next_of, opening, shown, stretch, told};
use crate::candles::{LAG_MAX_MS, is_full, kept};

/// What one look gave.
#[derive(Debug)]
pub(crate) struct Look {
    /// Closed, ascending.
    pub(crate) rows: Vec<Kline>,
    pub(crate) forming: Option<Kline>,
    /// Every candle before this one is in `rows`, or does not exist.
    pub(crate) known_to: Millis,
    /// There is another page to read.
    pub(crate) more: bool,
    /// When it was true, which is some time ago where prices are delayed.
    pub(crate) as_of: Millis,
    /// Something is missing before the last of it.
    holes: bool,
}

/// What came for one request.
#[derive(Debug, Clone)]
struct Answer {
    candles: Vec<SecurityCandle>,
    /// There may be another page.
    full: bool,
    /// What comes after the last of them is not known, so it may not be all of its bar.
    cut: bool,
    seen: Millis,
}

/// The first page of what there is from an opening time on.
pub(crate) async fn look(inner: &Arc<Inner>, series: &Series, from: Millis) -> Result<Look, Fault> {
    let judged = |answer: &Answer| {
        judge(series.interval, series.step, from, answer)
            .ok_or_else(|| Fault::unavailable("upstream_malformed", "volumes without end"))
    };
    let first = read(inner, series, from).await?;
    let look = judged(&first)?;
    if !look.holes {
        return Ok(look);
    }
    tokio::time::sleep(inner.config.live.second_look).await;
    let second = read(inner, series, from).await?;
    judged(&joined(first, second, series.step))
}

async fn read(inner: &Arc<Inner>, series: &Series, from: Millis) -> Result<Answer, Fault> {
    let step = series.step;
    // Read before the rows, with room for clocks that run apart.
    let now = shown(inner.clock.now(), step);
    let wanted = TimeRange::new(from, Millis(now.0.max(from.0).saturating_add(DAY_MS)));
    let stretch = stretch(step, wanted);
    let page = inner.page(&series.listed, stretch, 0).await?;
    let full = is_full(page.candles.len());
    let mut candles = kept(page.candles, stretch);
    // One from the future would make everything before it look closed.
    candles.retain(|candle| opening(candle, step).0 <= now.0.saturating_add(LAG_MAX_MS));
    Ok(Answer { candles, full, cut: full, seen: page.seen })
}

/// What either of two answers has, as far as both can be believed; the second one is newer.
fn joined(first: Answer, second: Answer, step: CandleStep) -> Answer {
    let last = |answer: &Answer| answer.candles.last().map(|it| it.begins);
    let reach = |answer: &Answer| last(answer).filter(|_| answer.full);
    let reach = reach(&first).into_iter().chain(reach(&second)).min();
    // One that was forming and is not there any more was lost, and has grown since.
    let stale = |candle: &&SecurityCandle| {
        let found = second.candles.binary_search_by_key(&candle.begins, |it| it.begins);
        !candle.closed && found.is_err()
    };
    let stale = first.candles.iter().find(stale).map(|candle| candle.begins);
    let (full, seen, seen_twice) = (first.full || second.full, second.seen, last(&first));
    let mut all = first.candles;
    all.extend(second.candles);
    // Stable: of two with the same beginning, the newer one comes last.
    all.sort_by_key(|candle| candle.begins);
    let mut candles: Vec<SecurityCandle> = Vec::with_capacity(all.len());
    let mut cut = full;
    for candle in all {
        let before = candles.last().map(|it| (it.begins, next_of(opening(it, step), step)));
        if before.is_some_and(|(begins, _)| begins == candle.begins) {
            candles.pop();
        } else if reach.is_some_and(|reach| candle.begins > reach) {
            break;
        } else {
            // What is missing after the end of the first answer was looked for only once.
            let hole = before.is_none_or(|(_, next)| opening(&candle, step) > next);
            let once = hole && seen_twice.is_none_or(|last| candle.begins > last);
            if once || stale == Some(candle.begins) {
                cut = true;
                break;
            }
        }
        candles.push(candle);
    }
    Answer { candles, full, cut, seen }
}

/// A candle is closed where a later one follows it, or where its time was over long enough ago.
/// `None` where sums do not fit.
fn judge(interval: Interval, step: CandleStep, from: Millis, answer: &Answer) -> Option<Look> {
    let candles: Vec<SecurityCandle> = answer
        .candles
        .iter()
        .filter(|candle| interval.open_of(opening(candle, step)) >= from)
        .copied()
        .collect();
    let bars = fold(interval, step, candles.iter())?;
    let over_to =
        told(TimeRange::new(from, Millis(i64::MAX)), interval, step, &candles, answer.seen).to;
    let mut look = Look {
        rows: Vec::with_capacity(bars.len()),
        forming: None,
        known_to: from,
        more: false,
        as_of: answer.seen,
        holes: false,
    };
    let count = bars.len();
    for (at, bar) in bars.into_iter().enumerate() {
        let next = interval.next_open(bar.open_time);
        let last = at + 1 == count;
        let closed = !last || (!answer.cut && bar.open_time < over_to);
        look.known_to = if closed { next } else { bar.open_time };
        let kline = Kline { bar, close_time: Millis(next.0 - 1), closed };
        match closed {
            true => look.rows.push(kline),
            // The rest of it is still to be read.
            false if answer.cut => {}
            false => look.forming = Some(kline),
        }
    }
    let mut next = from;
    for candle in &candles {
        let at = opening(candle, step);
        look.holes |= next < look.known_to && at > next;
        next = next_of(at, step);
    }
    // A full page that leads nowhere would lead nowhere again at once.
    look.more = answer.full && look.known_to > from;
    Some(look)
}

#[cfg(test)]
mod tests;
