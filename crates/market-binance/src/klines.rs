//! Bars from the exchange: pages followed to the end, the forming one told apart, holes looked at
//! until they are believed (see `record`), every row checked.

use std::sync::Arc;

use clock::{Millis, TimeRange};
use fault::{Fault, Kind};
use http_client::Backoff;
use market::{Bar, BarBatch, Decimal, Interval, Kline};

use crate::client::{Client, Endpoint};
use crate::record::Doubt;
use crate::wire::{KlineRow, TIME_MAX_MS, is_plausible};
use crate::{BinanceConfig, Inner, SeriesKey};

/// The most rows one request returns. More is never asked for.
const PAGE_MAX: usize = 1_000;
/// Small enough that readers of live candles can take a page at once.
const PAGE_LIVE: usize = 500;
/// The most candles one call for recent ones returns.
pub(crate) const KLINES_MAX: usize = 5_000;
/// A batch larger than this would not be a batch.
const BARS_MAX: u64 = 5_000_000;
/// How many holes are asked for again in one call. Outages leave fewer.
const HOLES_MAX: usize = 16;
/// A row that is not there this long after its end is not late any more.
const LAG_MAX_MS: i64 = 5 * 60_000;
const FIRST_OPENS_MAX: usize = 8_192;
/// How often something may turn up before what was the first row.
const FIRST_LOOKS: usize = 4;

/// Which rows to ask for. Both ends are inclusive and act on opening times, as on the wire.
#[derive(Debug, Clone, Copy)]
struct Ask<'a> {
    code: &'a str,
    interval: Interval,
    start: Option<Millis>,
    end: Option<Millis>,
    limit: usize,
}

impl Inner {
    pub(crate) async fn bars(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        span: TimeRange,
    ) -> Result<Arc<BarBatch>, Fault> {
        let thinkable = TimeRange::new(Millis(0), Millis(TIME_MAX_MS));
        if interval.count_in(span.overlap(thinkable)) > BARS_MAX {
            let message = format!("a span of more than {BARS_MAX} bars was asked for at once");
            return Err(Fault::invalid("span_too_long", message));
        }
        let inner = Arc::clone(self);
        let key = ((code.to_owned(), interval), span.from, span.to);
        let owned = code.to_owned();
        let work = async move { inner.fetch_bars(&owned, interval, span).await.map(Arc::new) };
        self.flights.bars.run(key, work).await
    }

    async fn fetch_bars(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        span: TimeRange,
    ) -> Result<BarBatch, Fault> {
        // Read before the rows: what closes in between is left for the next call.
        let server_now = self.server_now().await?;
        // Whoever asks for bars keeps them for good, so those that may still change are not given.
        let certain_at = Millis(server_now.0.saturating_sub(self.settle_ms()));
        let closed = TimeRange::new(span.from, span.to.min(interval.open_of(certain_at)));
        let mut bars = Vec::new();
        // The exchange does not take times before 1970, and has no bars there.
        let mut known_to = closed.from.max(Millis(0));
        let mut doubt = Doubt::default();
        let mut waits = Waits::new(&self.config);
        while !closed.is_empty() && interval.open_at_or_after(known_to) < closed.to {
            let opens = interval.open_at_or_after(known_to);
            let left = interval.count_in(TimeRange::new(opens, closed.to));
            let limit = usize::try_from(left).map_or(PAGE_MAX, |left| left.min(PAGE_MAX));
            // Without an end, so that a later row can prove that the record went on.
            let ask = Ask { code, interval, start: Some(opens), end: None, limit };
            let page = self.page(ask).await?;
            let filled = doubt.read(&page, (interval, opens), certain_at);
            let within = filled.rows.iter().filter(|row| row.bar.open_time < closed.to);
            bars.extend(within.map(|row| row.bar));
            let young = interval.next_open(opens).0 + LAG_MAX_MS > server_now.0;
            if filled.known_to > opens {
                known_to = filled.known_to;
                waits.reset();
            } else if filled.hole.is_some() {
                waits.wait(young).await;
            } else {
                // The record ends here, or lags behind. Only what is not traded any more has an
                // end that can be known.
                if young {
                    break;
                }
                let Some(ended) = self.not_traded(code, server_now).await? else { break };
                doubt.see(Some(opens));
                if doubt.believed() == Some(opens) {
                    known_to = known_to.max(interval.open_of(ended));
                    break;
                }
                waits.wait(young).await;
            }
        }
        let whole = closed.is_empty() || interval.open_at_or_after(known_to) >= closed.to;
        let to = if whole { closed.to } else { known_to.max(closed.from) };
        let covered = TimeRange::new(closed.from, to);
        Ok(BarBatch { bars, covered, received_at: self.clock.now() })
    }

    /// How long a row may still change after its end.
    pub(crate) fn settle_ms(&self) -> i64 {
        i64::try_from(self.config.streams.rest_settle.as_millis()).unwrap_or(i64::MAX)
    }

    /// Until when it is known that a symbol was not traded; `None` for one that is.
    async fn not_traded(
        self: &Arc<Self>,
        code: &str,
        server_now: Millis,
    ) -> Result<Option<Millis>, Fault> {
        let book = self.book().await?;
        if book.pairs.get(code).is_some_and(|pair| pair.halted.is_none()) {
            return Ok(None);
        }
        let age = (self.clock.now().0 - book.received_at.0).max(LAG_MAX_MS);
        Ok(Some(Millis(server_now.0 - age)))
    }

    /// A row can be missing because nothing was recorded or because the answer lost it. Only
    /// asking for it again tells one from the other.
    async fn without_holes(
        &self,
        ask: Ask<'_>,
        start: Millis,
        page: Vec<Kline>,
        holes_left: &mut usize,
    ) -> Result<Vec<Kline>, Fault> {
        let mut whole: Vec<Kline> = Vec::with_capacity(page.len());
        let mut expected = ask.interval.open_at_or_after(start);
        for kline in page {
            let open = kline.bar.open_time;
            if expected < open && *holes_left > 0 {
                *holes_left -= 1;
                let hole = Ask { start: Some(expected), end: Some(Millis(open.0 - 1)), ..ask };
                whole.extend(self.page(hole).await?);
            }
            expected = ask.interval.next_open(open);
            whole.push(kline);
        }
        Ok(whole)
    }

    pub(crate) async fn recent(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        limit: usize,
    ) -> Result<Arc<Vec<Kline>>, Fault> {
        if limit > KLINES_MAX {
            let message = format!("{limit} candles were asked for at once");
            let fault = Fault::invalid("too_many_klines", message);
            return Err(fault.problem("limit", format!("at most {KLINES_MAX}")));
        }
        let inner = Arc::clone(self);
        let owned = code.to_owned();
        let work = async move { inner.fetch_recent(&owned, interval, limit).await.map(Arc::new) };
        self.flights.recent.run(((code.to_owned(), interval), limit), work).await
    }

    async fn fetch_recent(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        limit: usize,
    ) -> Result<Vec<Kline>, Fault> {
        let server_now = self.server_now().await?;
        // Newest page first, so that the one that is forming is as young as can be.
        let mut pages = Vec::new();
        let mut missing = limit;
        let mut end = None;
        while missing > 0 {
            let limit = missing.min(PAGE_MAX);
            let page = self.page(Ask { code, interval, start: None, end, limit }).await?;
            let Some(first) = page.first().map(|kline| kline.bar.open_time) else { break };
            missing = missing.saturating_sub(page.len());
            end = Some(Millis(first.0 - 1));
            pages.push(page);
        }
        let mut klines: Vec<Kline> = pages.into_iter().rev().flatten().collect();
        for kline in &mut klines {
            kline.closed = kline.close_time < server_now;
        }
        Ok(klines)
    }

    pub(crate) async fn first_open(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
    ) -> Result<Option<Millis>, Fault> {
        let key = (code.to_owned(), interval);
        let kept = self.first_opens.lock().get(&key).copied();
        if kept.is_some() {
            return Ok(kept);
        }
        let (inner, series) = (Arc::clone(self), key.clone());
        let work = async move { inner.fetch_first_open(series).await };
        self.flights.first_open.run(key, work).await
    }

    async fn fetch_first_open(&self, series: SeriesKey) -> Result<Option<Millis>, Fault> {
        let (code, interval) = (series.0.as_str(), series.1);
        let ask = Ask { code, interval, start: Some(Millis(0)), end: None, limit: 1 };
        let mut first = self.page(ask).await?.first().map(|kline| kline.bar.open_time);
        // An answer that lost its first row would hide everything before the next one for good.
        for _ in 0..FIRST_LOOKS {
            let Some(Millis(open @ 1..)) = first else { break };
            let before = self.page(Ask { end: Some(Millis(open - 1)), ..ask }).await?;
            let Some(earlier) = before.first() else { break };
            first = Some(earlier.bar.open_time);
        }
        if let Some(first) = first {
            let mut opens = self.first_opens.lock();
            if opens.len() >= FIRST_OPENS_MAX {
                opens.clear();
            }
            opens.insert(series, first);
        }
        Ok(first)
    }

    /// A page of the record from `start` on, the forming candle included; holes are asked for
    /// again.
    pub(crate) async fn rows_from(
        &self,
        code: &str,
        interval: Interval,
        start: Millis,
    ) -> Result<Vec<Kline>, Fault> {
        let ask = Ask { code, interval, start: Some(start), end: None, limit: PAGE_LIVE };
        let page = self.page(ask).await?;
        let mut holes_left = HOLES_MAX;
        self.without_holes(ask, start, page, &mut holes_left).await
    }

    /// One page, ascending, without duplicates, within what was asked for.
    async fn page(&self, ask: Ask<'_>) -> Result<Vec<Kline>, Fault> {
        let mut query = vec![
            ("symbol", ask.code.to_owned()),
            ("interval", ask.interval.as_str().to_owned()),
            ("limit", ask.limit.to_string()),
        ];
        query.extend(ask.start.map(|start| ("startTime", start.0.to_string())));
        query.extend(ask.end.map(|end| ("endTime", end.0.to_string())));
        let body = self.client.get(Endpoint::Klines, &query).await.map_err(|fault| {
            if fault.kind() == Kind::NotFound { self.unknown(ask.code) } else { fault }
        })?;
        let rows: Vec<KlineRow<'_>> = Client::read(Endpoint::Klines, &body)?;
        read_page(ask, &rows).map_err(|what| {
            let message = format!("the exchange's bars of {} are wrong: {what}", ask.code);
            Fault::unavailable("upstream_malformed", message)
        })
    }
}

/// The waits between looks at a hole, which begin anew with the next hole.
struct Waits {
    /// For rows that may only be late.
    young: Backoff,
    /// For rows that are there or never will be: the answer lost them, or they do not exist.
    old: Backoff,
}

impl Waits {
    fn new(config: &BinanceConfig) -> Self {
        let streams = &config.streams;
        Self {
            young: Backoff::new(streams.lag_wait, streams.lag_wait_max),
            old: Backoff::new(config.http.retry_wait, config.http.retry_wait_max),
        }
    }

    fn reset(&mut self) {
        self.young.reset();
        self.old.reset();
    }

    async fn wait(&mut self, young: bool) {
        let waits = if young { &mut self.young } else { &mut self.old };
        tokio::time::sleep(waits.next()).await;
    }
}

/// The error says which row is wrong, and options.
fn read_page(ask: Ask<'_>, rows: &[KlineRow<'_>]) -> Result<Vec<Kline>, String> {
    // Twice as many leaves room for every row to come twice.
    if rows.len() > 2 * ask.limit {
        return Err(format!("{} rows came where {} were asked for", rows.len(), ask.limit));
    }
    let mut klines: Vec<Kline> = rows.iter().map(read_row).collect::<Result<_, _>>()?;
    klines.sort_by_key(|kline| kline.bar.open_time);
    for pair in klines.windows(2) {
        if pair[0].bar.open_time == pair[1].bar.open_time && pair[0] != pair[1] {
            return Err(format!("two rows of {} contradict each other", pair[0].bar.open_time));
        }
    }
    klines.dedup_by_key(|kline| kline.bar.open_time);
    let within = |open: Millis| {
        ask.start.is_none_or(|start| start <= open) && ask.end.is_none_or(|end| open <= end)
    };
    match klines.iter().find(|kline| !within(kline.bar.open_time)) {
        Some(stray) => Err(format!("a row of {} was not asked for", stray.bar.open_time)),
        None => Ok(klines),
    }
}

pub(crate) fn read_row(row: &KlineRow<'_>) -> Result<Kline, String> {
    let open_time = Millis(row.open_time);
    let number = |what: &str, text: &str| {
        let parsed = text.parse::<Decimal>().ok().filter(|value| !value.is_negative());
        parsed.ok_or_else(|| format!("the {what} of {open_time} is not a number"))
    };
    let bar = Bar {
        open_time,
        open: number("open", row.open)?,
        high: number("high", row.high)?,
        low: number("low", row.low)?,
        close: number("close", row.close)?,
        volume: Some(number("volume", row.volume)?),
    };
    if bar.low > bar.open.min(bar.close) || bar.high < bar.open.max(bar.close) {
        return Err(format!("the high and low of {open_time} do not enclose its prices"));
    }
    if !is_plausible(row.open_time) || !is_plausible(row.close_time) {
        return Err(format!("a row opens at {} and closes at {}", row.open_time, row.close_time));
    }
    if row.close_time < row.open_time {
        return Err(format!("the bar of {open_time} closes before it opens"));
    }
    Ok(Kline { bar, close_time: Millis(row.close_time), closed: false })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ask() -> Ask<'static> {
        Ask {
            code: "ABCUSDT",
            interval: Interval::M1,
            start: Some(Millis(60_000)),
            end: Some(Millis(600_000)),
            limit: 10,
        }
    }

    fn row(open_time: i64, prices: [&'static str; 4]) -> KlineRow<'static> {
        let [open, high, low, close] = prices;
        KlineRow {
            open_time,
            open,
            high,
            low,
            close,
            volume: "5.0",
            close_time: open_time + 59_999,
        }
    }

    const PRICES: [&str; 4] = ["2.0", "3.0", "1.0", "2.5"];

    #[test]
    fn rows_come_out_ascending_and_once() {
        let rows = [row(120_000, PRICES), row(60_000, PRICES), row(120_000, PRICES)];
        let opens: Vec<_> = read_page(ask(), &rows)
            .unwrap()
            .into_iter()
            .map(|kline| (kline.bar.open_time.0, kline.closed))
            .collect();
        assert_eq!(opens, [(60_000, false), (120_000, false)]);
    }

    #[track_caller]
    fn check_refused(rows: &[KlineRow<'_>], reason: &str) {
        let error = read_page(ask(), rows).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }

    #[test]
    fn rows_that_cannot_be_true_are_refused_by_name() {
        check_refused(&[row(0, PRICES)], "1970-01-01T00:00:00Z was not asked for");
        check_refused(&[row(660_000, PRICES)], "was not asked for");
        check_refused(&[row(60_000, ["2.0", "1.9", "1.0", "1.5"])], "do not enclose");
        check_refused(&[row(60_000, ["2.0", "3.0", "2.1", "2.5"])], "do not enclose");
        check_refused(&[row(60_000, ["2.0", "3.0", "1.0", "NaN"])], "the close of");
        check_refused(&[row(60_000, ["-2.0", "3.0", "-3.0", "2.5"])], "the open of");
        check_refused(
            &[row(60_000, PRICES), row(60_000, ["2.0", "3.0", "1.0", "2.6"])],
            "contradict",
        );
        let rows: Vec<_> = (0..21).map(|_| row(60_000, PRICES)).collect();
        check_refused(&rows, "21 rows came where 10 were asked for");
        check_refused(&[KlineRow { close_time: 1, ..row(60_000, PRICES) }], "closes before");
        for time in [i64::MIN, -1, TIME_MAX_MS, i64::MAX] {
            check_refused(&[KlineRow { close_time: time, ..row(60_000, PRICES) }], "a row opens");
            let strange = KlineRow { open_time: time, ..row(60_000, PRICES) };
            check_refused(&[strange], "a row opens");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_refused_or_lawful(
            rows in prop::collection::vec((0_i64..12, prop::array::uniform4("[0-3]")), 0..24),
        ) {
            let rows: Vec<KlineRow<'_>> = rows
                .iter()
                .map(|(minute, [open, high, low, close])| KlineRow {
                    open_time: minute * 60_000,
                    open,
                    high,
                    low,
                    close,
                    volume: "1",
                    close_time: minute * 60_000 + 59_999,
                })
                .collect();
            if let Ok(klines) = read_page(ask(), &rows) {
                prop_assert!(klines.is_sorted_by(|left, right| left.bar.open_time < right.bar.open_time));
                for kline in klines {
                    let Kline { bar, .. } = kline;
                    prop_assert!((60_000..=600_000).contains(&bar.open_time.0));
                    prop_assert!(bar.low <= bar.open && bar.low <= bar.close);
                    prop_assert!(bar.high >= bar.open && bar.high >= bar.close);
                    prop_assert!(rows.iter().any(|row| row.open_time == bar.open_time.0));
                }
            }
        }
    }
}
