//! Fetches and reads candles: all pages, columns by name (the exchange's order is open, close,
//! high, low), prices with at least the security's decimals, and whether each candle has closed.

use std::sync::Arc;

use clock::Millis;
use fault::{Fault, Kind};
use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Time};
use market::{
    CandleRequest, CandleStep, Decimal, Delay, SecurityCandle, SecurityCandles, WithFreshness,
};

use crate::Inner;
use crate::client::IssRequest;
use crate::listing::Listed;
use crate::moscow_time;
use crate::number;
use crate::snapshot::with_freshness;
use crate::stale_cache::CacheAges;
use crate::tables::Row;

/// The rows of a full page.
const PAGE: usize = 500;
/// Prices have fewer decimals than this; further digits are float errors.
const PRICE_DECIMALS_MAX: u8 = 8;
/// A multiple of 50 rows may be a full page, too, in case the exchange changes its page size.
const ROUND: usize = 50;
/// The most candles of one request, so that several requests fit in memory.
const ROWS_MAX: usize = 1_000_000;
/// A candle that ended this long ago, plus the delay, does not change any more.
pub(crate) const LAG_MAX_MS: i64 = 5 * 60_000;
/// The wait after the end of a candle before it counts as closed. The exchange caches responses for
/// five seconds, so an older response has all trades of the candle.
const SETTLE_MS: i64 = 10_000;
const DELAY_MS: i64 = 15 * 60_000;
/// The first date of the exchange's history.
const FIRST: Date = Date::constant(1992, 1, 1);

/// The delay of the exchange's data in milliseconds.
pub(crate) const fn delay_ms(delay: Delay) -> i64 {
    match delay {
        Delay::RealTime => 0,
        _ => DELAY_MS,
    }
}

/// The exchange's number for a candle length.
pub(crate) const fn code_of(step: CandleStep) -> u8 {
    match step {
        CandleStep::Minute => 1,
        CandleStep::TenMinutes => 10,
        CandleStep::Hour => 60,
        CandleStep::Day => 24,
        CandleStep::Week => 7,
        CandleStep::Month => 31,
    }
}

/// A range of candles by their local beginning in Moscow, both ends included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalRange {
    pub(crate) step: CandleStep,
    pub(crate) from: DateTime,
    pub(crate) till: DateTime,
}

/// The candles of all pages.
#[derive(Debug)]
pub(crate) struct FetchedCandles {
    /// Ascending, without duplicates.
    pub(crate) candles: Vec<SecurityCandle>,
    pub(crate) delay: Delay,
}

/// The candles of one page.
#[derive(Debug)]
pub(crate) struct CandlePage {
    /// Ascending, without duplicates.
    pub(crate) candles: Vec<SecurityCandle>,
    delay: Delay,
    /// The instant up to which the exchange's delayed data reaches.
    pub(crate) data_time: Millis,
}

impl Inner {
    pub(crate) async fn candles(
        self: &Arc<Self>,
        request: &CandleRequest,
    ) -> Result<WithFreshness<Arc<SecurityCandles>>, Fault> {
        if request.from > request.to {
            let message =
                format!("the first day, {}, is after the last, {}", request.from, request.to);
            return Err(Fault::invalid("invalid_range", message).problem("to", "a later day"));
        }
        let listed = self.listed(&request.code, request.board.as_deref()).await?;
        let now = self.clock.now();
        let key = CandleRequest {
            code: listed.security.code.clone(),
            board: Some(listed.address.board.clone()),
            ..request.clone()
        };
        // Candles of past days do not change, unless some were missing.
        let cached_series = self.caches.candles.peek(&key).map(|cached| cached.value.0);
        let fresh = match cached_series {
            _ if request.to >= moscow_time::today(now) => self.config.candles_age,
            Some(cached_series) if cached_series.unchecked.is_some() => self.config.candles_age,
            Some(cached_series) if !cached_series.missing.is_empty() => self.config.search_age,
            _ => self.config.reference_age,
        };
        let ages = CacheAges { fresh, stale: self.config.candles_age_stale };
        let (inner, candle_request) = (Arc::clone(self), request.clone());
        let work = async move { inner.fetch_series(&listed, &candle_request).await };
        let cached = self.caches.candles.get(key, ages, work).await?;
        let (series, delay) = cached.value.clone();
        // A forming candle describes the market as of now minus the delay.
        let newest = series.candles.last();
        let as_of = match newest {
            Some(candle) if candle.closed => ends_at(candle, request.step),
            _ => Millis(cached.received_at.0 - delay_ms(delay)),
        };
        let freshness = self.freshness(as_of.min(cached.received_at), cached.received_at, delay);
        Ok(with_freshness(cached, series, freshness))
    }

    async fn fetch_series(
        self: &Arc<Self>,
        listed: &Arc<Listed>,
        request: &CandleRequest,
    ) -> Result<(Arc<SecurityCandles>, Delay), Fault> {
        let range = LocalRange {
            step: request.step,
            from: request.from.max(FIRST).to_datetime(Time::midnight()),
            till: request.to.to_datetime(Time::constant(23, 59, 59, 0)),
        };
        let FetchedCandles { mut candles, delay } = self.fetch_candles(listed, range).await?;
        // A series that cannot be checked in time is returned unchecked.
        let (missing, unchecked) = match request.step {
            CandleStep::Week | CandleStep::Month => (Vec::new(), None),
            _ => {
                let checked = self.refetch_missing(listed, request, &mut candles);
                match tokio::time::timeout(self.config.check_timeout, checked).await {
                    Ok(Ok(missing)) => (missing, None),
                    Ok(Err(fault)) => (Vec::new(), Some(fault.to_string())),
                    Err(_) => (Vec::new(), Some("the exchange took too long".to_owned())),
                }
            }
        };
        let security = Arc::clone(&listed.security);
        Ok((Arc::new(SecurityCandles { security, candles, missing, unchecked }), delay))
    }

    /// All candles of the range. When pages overlap or lose rows, all pages are fetched once more.
    pub(crate) async fn fetch_candles(
        self: &Arc<Self>,
        listed: &Listed,
        range: LocalRange,
    ) -> Result<FetchedCandles, Fault> {
        let code = &listed.security.code;
        for _ in 0..2 {
            let walked = match self.walk(listed, range).await {
                Err(fault) if fault.kind() == Kind::NotFound => {
                    return Err(self.unknown(code).await);
                }
                walked => walked?,
            };
            if let Some(fetched) = walked {
                return Ok(fetched);
            }
        }
        let message = format!("the exchange's pages of the candles of {code} do not fit together");
        Err(Fault::unavailable("upstream_incomplete", message))
    }

    /// One pass over the pages; `None` when a page does not follow the one before.
    async fn walk(
        &self,
        listed: &Listed,
        range: LocalRange,
    ) -> Result<Option<FetchedCandles>, Fault> {
        let mut candles: Vec<SecurityCandle> = Vec::new();
        let mut ended_before = false;
        loop {
            let start = candles.len();
            let CandlePage { candles: page, delay, .. } = self.page(listed, range, start).await?;
            if page
                .first()
                .zip(candles.last())
                .is_some_and(|(next, last)| next.begins <= last.begins)
            {
                return Ok(None);
            }
            let rows = page.len();
            candles.extend(page);
            if candles.len() > ROWS_MAX {
                let message = format!("a range of more than {ROWS_MAX} candles was asked for");
                return Err(Fault::invalid("span_too_long", message));
            }
            // An empty page after full pages is the end when it is empty twice.
            let ended = rows == 0 && (start == 0 || ended_before);
            if ended || (rows > 0 && !is_full(rows)) {
                return Ok(Some(FetchedCandles { candles: traded_within(candles, range), delay }));
            }
            ended_before = rows == 0;
        }
    }

    /// The page that begins at row `start`.
    pub(crate) async fn page(
        &self,
        listed: &Listed,
        range: LocalRange,
        start: usize,
    ) -> Result<CandlePage, Fault> {
        let code = &listed.security.code;
        let path = format!("{}/securities/{code}/candles", listed.address.path());
        let request = IssRequest::new("candles", path, "candles")
            .with("interval", code_of(range.step))
            .with("from", query_time(range.from))
            .with("till", query_time(range.till))
            .with("start", start);
        // The clock is read before the request, so no row is newer than this.
        let now = self.clock.now();
        let answer = self.client.fetch(&request).await?;
        let delay = if listed.address.is_index() { Delay::RealTime } else { answer.delay };
        let table = answer.tables.need("candles", &["begin", "open", "close", "high", "low"])?;
        let mut candles = Vec::with_capacity(table.len());
        for row in table.rows() {
            let read = read_candle(row, listed.security.decimals, range.step, delay, now);
            candles.push(read.map_err(|what| malformed(code, &what))?);
        }
        let candles = in_order(candles).map_err(|what| malformed(code, &what))?;
        Ok(CandlePage { candles, delay, data_time: Millis(now.0 - delay_ms(delay)) })
    }
}

/// Whether a page with this many rows may be followed by another one.
pub(crate) const fn is_full(rows: usize) -> bool {
    rows >= PAGE || (rows > 0 && rows.is_multiple_of(ROUND))
}

fn malformed(code: &str, what: &str) -> Fault {
    let message = format!("the exchange's candles of {code} are wrong: {what}");
    Fault::unavailable("upstream_malformed", message)
}

/// Formats a query value: a date alone at the start or end of a day.
fn query_time(at: DateTime) -> String {
    let time = at.time();
    if time == Time::midnight() || time == Time::constant(23, 59, 59, 0) {
        return at.date().to_string();
    }
    format!("{} {:02}:{:02}:{:02}", at.date(), time.hour(), time.minute(), time.second())
}

/// Sorts the candles and removes duplicates; two closed candles of the same time must be equal.
fn in_order(mut candles: Vec<SecurityCandle>) -> Result<Vec<SecurityCandle>, String> {
    // The sort is stable: of two candles with the same time the later row wins.
    candles.sort_by_key(|candle| candle.begins);
    let mut ordered: Vec<SecurityCandle> = Vec::with_capacity(candles.len());
    for candle in candles {
        match ordered.last_mut() {
            Some(last) if last.begins == candle.begins => {
                if last.closed && candle.closed && *last != candle {
                    return Err(format!("two of {} contradict each other", candle.begins));
                }
                *last = candle;
            }
            _ => ordered.push(candle),
        }
    }
    Ok(ordered)
}

/// The candles that lie in the range and have trades.
pub(crate) fn traded_within(
    mut candles: Vec<SecurityCandle>,
    range: LocalRange,
) -> Vec<SecurityCandle> {
    let traded =
        |candle: &SecurityCandle| candle.high > Decimal::ZERO || candle.low < Decimal::ZERO;
    let in_range =
        |candle: &SecurityCandle| range.from <= candle.begins && candle.begins <= range.till;
    candles.retain(|candle| in_range(candle) && traded(candle));
    candles
}

/// Reads one row. A candle without trades has zero prices; it counts as a row of its page. The
/// error says what is wrong.
fn read_candle(
    row: Row<'_>,
    decimals: u8,
    step: CandleStep,
    delay: Delay,
    now: Millis,
) -> Result<SecurityCandle, String> {
    let begins = row.datetime("begin").ok_or("one does not say when it begins")?;
    // Prices before a split may have more decimals than today, so only float errors are removed.
    let price = |name: &str| {
        let clean = row.number(name).and_then(|value| number::trim(value, PRICE_DECIMALS_MAX))?;
        if clean.scale() < decimals { number::round(clean, decimals) } else { Some(clean) }
    };
    if ["open", "high", "low", "close"].into_iter().any(|name| row.is_garbled(name)) {
        return Err(format!("a price of {begins} is not a number"));
    }
    let prices = (price("open"), price("high"), price("low"), price("close"));
    let (open, high, low, close) = match prices {
        (Some(open), Some(high), Some(low), Some(close)) => (open, high, low, close),
        (None, None, None, None) => (Decimal::ZERO, Decimal::ZERO, Decimal::ZERO, Decimal::ZERO),
        _ => return Err(format!("{begins} has only some of its prices")),
    };
    if low > open.min(close) || high < open.max(close) {
        return Err(format!("the high and low of {begins} do not enclose its prices"));
    }
    let amount = |name: &str, decimals: u8| {
        let value = row.number(name).and_then(|value| number::trim(value, decimals));
        value.filter(|value| !value.is_negative())
    };
    let candle = SecurityCandle {
        begins,
        offset_min: moscow_time::to_instant(begins).1,
        open,
        high,
        low,
        close,
        volume: amount("volume", 4),
        value: amount("value", 2),
        closed: false,
    };
    Ok(SecurityCandle {
        closed: is_closed(&candle, row.datetime("end"), step, delay, now),
        ..candle
    })
}

/// Whether a candle has closed. A full candle has its regular end and closes 10 s after it on the
/// delayed clock. A forming candle ends with its last trade, so it counts as closed only 5 minutes
/// after its regular end.
fn is_closed(
    candle: &SecurityCandle,
    end: Option<DateTime>,
    step: CandleStep,
    delay: Delay,
    now: Millis,
) -> bool {
    let over = ends_at(candle, step);
    let data_time = Millis(now.0 - delay_ms(delay));
    let full = end.is_some_and(|end| moscow_time::to_instant(end).0.0 + 1_000 >= over.0);
    let settles_ms = if full { SETTLE_MS } else { LAG_MAX_MS };
    over.0.saturating_add(settles_ms) <= data_time.0
}

/// The first instant after a candle.
pub(crate) fn ends_at(candle: &SecurityCandle, step: CandleStep) -> Millis {
    let fixed = |minutes: i64| Millis(candle.opens_at().0 + minutes * 60_000);
    let date = candle.begins.date();
    let next = match step {
        CandleStep::Minute => return fixed(1),
        CandleStep::TenMinutes => return fixed(10),
        CandleStep::Hour => return fixed(60),
        CandleStep::Day => date.checked_add(1.day()),
        CandleStep::Week => {
            let past_monday = i64::from(date.weekday().to_monday_zero_offset());
            date.checked_add((7 - past_monday).days())
        }
        CandleStep::Month => date.last_of_month().checked_add(1.day()),
    };
    match next {
        Ok(next) => moscow_time::to_instant(next.to_datetime(Time::midnight())).0,
        Err(_) => Millis(i64::MAX),
    }
}

#[cfg(test)]
mod tests;
