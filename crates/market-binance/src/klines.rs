//! Bars over REST: fetches all pages, separates the forming bar, requests gaps again until they are
//! confirmed (see `history`), and validates every row.

use std::sync::Arc;

use clock::{Millis, TimeRange};
use fault::{Fault, Kind};
use http_client::Backoff;
use market::{Bar, BarBatch, Decimal, Interval, Kline};

use crate::client::{Endpoint, RestClient};
use crate::history::GapEvidence;
use crate::wire::{KlineRow, TIME_MAX_MS, is_plausible};
use crate::{BinanceConfig, BinanceShared, SeriesKey};

/// The most rows that Binance returns for one request.
const PAGE_MAX: usize = 1_000;
/// Small enough for the queue of a subscriber.
const PAGE_LIVE: usize = 500;
/// The most recent candles that one call returns.
pub(crate) const KLINES_MAX: usize = 5_000;
/// The most bars that one call returns.
const BARS_MAX: u64 = 5_000_000;
/// How many gaps are requested again in one call. Outages leave fewer.
const GAPS_MAX: usize = 16;
/// A row that is still missing this long after its end is not late.
const LAG_MAX_MS: i64 = 5 * 60_000;
const FIRST_OPENS_MAX: usize = 8_192;
/// How often the first row is checked for earlier ones.
const FIRST_ROW_CHECKS: usize = 4;

/// The rows of one request. Both ends are inclusive opening times, as on the wire.
#[derive(Debug, Clone, Copy)]
struct KlineQuery<'a> {
    code: &'a str,
    interval: Interval,
    start: Option<Millis>,
    end: Option<Millis>,
    limit: usize,
}

impl BinanceShared {
    pub(crate) async fn bars(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        span: TimeRange,
    ) -> Result<Arc<BarBatch>, Fault> {
        let plausible = TimeRange::new(Millis(0), Millis(TIME_MAX_MS));
        if interval.count_in(span.overlap(plausible)) > BARS_MAX {
            let message = format!("a span of more than {BARS_MAX} bars was asked for at once");
            return Err(Fault::invalid("span_too_long", message));
        }
        let shared = Arc::clone(self);
        let key = ((code.to_owned(), interval), span.from, span.to);
        let owned = code.to_owned();
        let work = async move { shared.fetch_bars(&owned, interval, span).await.map(Arc::new) };
        self.single_flights.bars.run(key, work).await
    }

    async fn fetch_bars(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        span: TimeRange,
    ) -> Result<BarBatch, Fault> {
        // Read before the rows: a bar that closes in between is left for the next call.
        let server_now = self.server_now().await?;
        // The archive keeps bars for good, so rows that may still change are not returned.
        let final_before = Millis(server_now.0.saturating_sub(self.settle_ms()));
        let closed = TimeRange::new(span.from, span.to.min(interval.open_of(final_before)));
        let mut bars = Vec::new();
        // Binance refuses times before 1970 and has no bars there.
        let mut complete_to = closed.from.max(Millis(0));
        let mut evidence = GapEvidence::default();
        let mut backoff = GapBackoff::new(&self.config);
        while !closed.is_empty() && interval.open_at_or_after(complete_to) < closed.to {
            let opens = interval.open_at_or_after(complete_to);
            let left = interval.count_in(TimeRange::new(opens, closed.to));
            let limit = usize::try_from(left).map_or(PAGE_MAX, |left| left.min(PAGE_MAX));
            // Without an end, so that a later row can prove a gap.
            let query = KlineQuery { code, interval, start: Some(opens), end: None, limit };
            let rows = self.page(query).await?;
            let page = evidence.assess(&rows, (interval, opens), final_before);
            let within = page.rows.iter().filter(|row| row.bar.open_time < closed.to);
            bars.extend(within.map(|row| row.bar));
            let young = interval.next_open(opens).0 + LAG_MAX_MS > server_now.0;
            if page.complete_to > opens {
                complete_to = page.complete_to;
                backoff.reset();
            } else if page.gap.is_some() {
                backoff.wait(young).await;
            } else {
                // The history ends here or lags behind. Only a halted symbol has an end that can be
                // known.
                if young {
                    break;
                }
                let Some(ended) = self.not_traded(code, server_now).await? else { break };
                evidence.observe(Some(opens));
                if evidence.confirmed() == Some(opens) {
                    complete_to = complete_to.max(interval.open_of(ended));
                    break;
                }
                backoff.wait(young).await;
            }
        }
        let whole = closed.is_empty() || interval.open_at_or_after(complete_to) >= closed.to;
        let to = if whole { closed.to } else { complete_to.max(closed.from) };
        let covered = TimeRange::new(closed.from, to);
        Ok(BarBatch { bars, covered, received_at: self.clock.now() })
    }

    /// How long a row may still change after its end.
    pub(crate) fn settle_ms(&self) -> i64 {
        i64::try_from(self.config.streams.history_settle.as_millis()).unwrap_or(i64::MAX)
    }

    /// Until when a halted symbol is known not to have traded; `None` for a trading one.
    async fn not_traded(
        self: &Arc<Self>,
        code: &str,
        server_now: Millis,
    ) -> Result<Option<Millis>, Fault> {
        let book = self.listed_pairs().await?;
        if book.pairs.get(code).is_some_and(|pair| pair.halted.is_none()) {
            return Ok(None);
        }
        let age = (self.clock.now().0 - book.received_at.0).max(LAG_MAX_MS);
        Ok(Some(Millis(server_now.0 - age)))
    }

    /// Requests missing rows again: they may not exist, or the response may have lost them.
    async fn fill_gaps(
        &self,
        query: KlineQuery<'_>,
        start: Millis,
        page: Vec<Kline>,
        gaps_left: &mut usize,
    ) -> Result<Vec<Kline>, Fault> {
        let mut whole: Vec<Kline> = Vec::with_capacity(page.len());
        let mut expected = query.interval.open_at_or_after(start);
        for kline in page {
            let open = kline.bar.open_time;
            if expected < open && *gaps_left > 0 {
                *gaps_left -= 1;
                let gap =
                    KlineQuery { start: Some(expected), end: Some(Millis(open.0 - 1)), ..query };
                whole.extend(self.page(gap).await?);
            }
            expected = query.interval.next_open(open);
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
        let shared = Arc::clone(self);
        let owned = code.to_owned();
        let work = async move { shared.fetch_recent(&owned, interval, limit).await.map(Arc::new) };
        self.single_flights.recent.run(((code.to_owned(), interval), limit), work).await
    }

    async fn fetch_recent(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        limit: usize,
    ) -> Result<Vec<Kline>, Fault> {
        let server_now = self.server_now().await?;
        // Newest page first, so that the forming candle is as recent as possible.
        let mut pages = Vec::new();
        let mut missing = limit;
        let mut end = None;
        while missing > 0 {
            let limit = missing.min(PAGE_MAX);
            let page = self.page(KlineQuery { code, interval, start: None, end, limit }).await?;
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
        let cached = self.first_opens.lock().get(&key).copied();
        if cached.is_some() {
            return Ok(cached);
        }
        let (shared, series) = (Arc::clone(self), key.clone());
        let work = async move { shared.fetch_first_open(series).await };
        self.single_flights.first_open.run(key, work).await
    }

    async fn fetch_first_open(&self, series: SeriesKey) -> Result<Option<Millis>, Fault> {
        let (code, interval) = (series.0.as_str(), series.1);
        let query = KlineQuery { code, interval, start: Some(Millis(0)), end: None, limit: 1 };
        let mut first = self.page(query).await?.first().map(|kline| kline.bar.open_time);
        // A response that lost its first row would hide every earlier bar for good.
        for _ in 0..FIRST_ROW_CHECKS {
            let Some(Millis(open @ 1..)) = first else { break };
            let before = self.page(KlineQuery { end: Some(Millis(open - 1)), ..query }).await?;
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

    /// A page of history from `start` on with the forming candle; gaps are requested again.
    pub(crate) async fn rows_from(
        &self,
        code: &str,
        interval: Interval,
        start: Millis,
    ) -> Result<Vec<Kline>, Fault> {
        let query = KlineQuery { code, interval, start: Some(start), end: None, limit: PAGE_LIVE };
        let page = self.page(query).await?;
        let mut gaps_left = GAPS_MAX;
        self.fill_gaps(query, start, page, &mut gaps_left).await
    }

    /// One page, ascending, without duplicates, within the query.
    async fn page(&self, query: KlineQuery<'_>) -> Result<Vec<Kline>, Fault> {
        let mut params = vec![
            ("symbol", query.code.to_owned()),
            ("interval", query.interval.as_str().to_owned()),
            ("limit", query.limit.to_string()),
        ];
        params.extend(query.start.map(|start| ("startTime", start.0.to_string())));
        params.extend(query.end.map(|end| ("endTime", end.0.to_string())));
        let body = self.client.get(Endpoint::Klines, &params).await.map_err(|fault| {
            if fault.kind() == Kind::NotFound { self.unknown(query.code) } else { fault }
        })?;
        let rows: Vec<KlineRow<'_>> = RestClient::read(Endpoint::Klines, &body)?;
        read_page(query, &rows).map_err(|what| {
            let message = format!("the exchange's bars of {} are wrong: {what}", query.code);
            Fault::unavailable("upstream_malformed", message)
        })
    }
}

/// The waits between requests for a gap; every gap starts with the first wait.
struct GapBackoff {
    /// For rows that may be late.
    young: Backoff,
    /// For rows that exist and were lost by the response, or that do not exist.
    old: Backoff,
}

impl GapBackoff {
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

/// The error says which row is wrong and why.
fn read_page(query: KlineQuery<'_>, rows: &[KlineRow<'_>]) -> Result<Vec<Kline>, String> {
    // Twice the limit, because every row may come twice.
    if rows.len() > 2 * query.limit {
        return Err(format!("{} rows came where {} were asked for", rows.len(), query.limit));
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
        query.start.is_none_or(|start| start <= open) && query.end.is_none_or(|end| open <= end)
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

    fn query() -> KlineQuery<'static> {
        KlineQuery {
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
    fn rows_are_sorted_and_deduplicated() {
        let rows = [row(120_000, PRICES), row(60_000, PRICES), row(120_000, PRICES)];
        let opens: Vec<_> = read_page(query(), &rows)
            .unwrap()
            .into_iter()
            .map(|kline| (kline.bar.open_time.0, kline.closed))
            .collect();
        assert_eq!(opens, [(60_000, false), (120_000, false)]);
    }

    #[track_caller]
    fn check_refused(rows: &[KlineRow<'_>], reason: &str) {
        let error = read_page(query(), rows).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }

    #[test]
    fn impossible_rows_are_refused_with_a_reason() {
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
        fn any_input_is_refused_or_valid(
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
            if let Ok(klines) = read_page(query(), &rows) {
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
