//! Candles from the exchange: pages followed to the end, columns by name (theirs come as open,
//! close, high, low), prices with at least the security's digits, the forming one told apart.

use std::sync::Arc;

use clock::Millis;
use fault::{Fault, Kind};
use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Time};
use market::{
    CandleRequest, CandleStep, Decimal, Delay, SecurityCandle, SecurityCandles, WithFreshness,
};

use crate::Inner;
use crate::client::Question;
use crate::listing::Listed;
use crate::number;
use crate::shelf::Ages;
use crate::snapshot::told;
use crate::tables::Row;
use crate::zone;

/// A full page has so many rows.
const PAGE: usize = 500;
/// Digits after the point that no price has; what stands there comes from floats.
const DUST_FROM: u8 = 8;
/// Pages of other sizes may be full as well if the exchange changes its mind; such sizes are round.
const ROUND: usize = 50;
/// A call for more would not fit in memory with others like it.
const ROWS_MAX: usize = 1_000_000;
/// A candle that is over for this long, on top of the delay, is not added to any more.
pub(crate) const LAG_MAX_MS: i64 = 5 * 60_000;
/// A candle that ends where it should may end there because of its last trade so far. The exchange
/// keeps answers for five seconds, so one that is older than this has all of its trades.
const SETTLE_MS: i64 = 10_000;
const DELAY_MS: i64 = 15 * 60_000;
/// Nothing was traded before.
const FIRST: Date = Date::constant(1992, 1, 1);

/// How far behind the market the exchange is.
pub(crate) const fn delay_ms(delay: Delay) -> i64 {
    match delay {
        Delay::RealTime => 0,
        _ => DELAY_MS,
    }
}

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

/// Candles that begin from the first to the last of these moments of Moscow's, both included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    pub(crate) step: CandleStep,
    pub(crate) from: DateTime,
    pub(crate) till: DateTime,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Fetched {
    /// Ascending, without duplicates.
    pub(crate) candles: Vec<SecurityCandle>,
    pub(crate) delay: Delay,
}

/// One answer with candles.
#[derive(Debug)]
pub(crate) struct Page {
    /// Ascending, without duplicates.
    pub(crate) candles: Vec<SecurityCandle>,
    delay: Delay,
    /// What the exchange's delayed clock showed.
    pub(crate) seen: Millis,
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
            board: Some(listed.place.board.clone()),
            ..request.clone()
        };
        // Candles of past days do not change any more, unless they were not all there.
        let kept = self.shelves.candles.peek(&key).map(|held| held.value.0);
        let fresh = match kept {
            _ if request.to >= zone::today(now) => self.config.candles_age,
            Some(kept) if kept.unchecked.is_some() => self.config.candles_age,
            Some(kept) if !kept.missing.is_empty() => self.config.search_age,
            _ => self.config.reference_age,
        };
        let ages = Ages { fresh, stale: self.config.candles_age_stale };
        let (inner, asked) = (Arc::clone(self), request.clone());
        let work = async move { inner.fetch_series(&listed, &asked).await };
        let held = self.shelves.candles.get(key, ages, work).await?;
        let (series, delay) = held.value.clone();
        // The newest candle is as true as the exchange's delay allows.
        let newest = series.candles.last();
        let as_of = match newest {
            Some(candle) if candle.closed => ends_at(candle, request.step),
            _ => Millis(held.received_at.0 - delay_ms(delay)),
        };
        let freshness = self.freshness(as_of.min(held.received_at), held.received_at, delay);
        Ok(told(held, series, freshness))
    }

    async fn fetch_series(
        self: &Arc<Self>,
        listed: &Arc<Listed>,
        request: &CandleRequest,
    ) -> Result<(Arc<SecurityCandles>, Delay), Fault> {
        let stretch = Stretch {
            step: request.step,
            from: request.from.max(FIRST).to_datetime(Time::midnight()),
            till: request.to.to_datetime(Time::constant(23, 59, 59, 0)),
        };
        let Fetched { mut candles, delay } = self.fetch_candles(listed, stretch).await?;
        // A series that cannot be checked is still the best there is, and worth no long wait.
        let (missing, unchecked) = match request.step {
            CandleStep::Week | CandleStep::Month => (Vec::new(), None),
            _ => {
                let checked = self.complete(listed, request, &mut candles);
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

    /// Every candle of the stretch. Pages that do not follow each other have lost or repeated rows;
    /// then all of it is asked for once more.
    pub(crate) async fn fetch_candles(
        self: &Arc<Self>,
        listed: &Listed,
        stretch: Stretch,
    ) -> Result<Fetched, Fault> {
        let code = &listed.security.code;
        for _ in 0..2 {
            let walked = match self.walk(listed, stretch).await {
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

    /// `None` where a page does not follow the one before it.
    async fn walk(&self, listed: &Listed, stretch: Stretch) -> Result<Option<Fetched>, Fault> {
        let mut candles: Vec<SecurityCandle> = Vec::new();
        let mut ended_before = false;
        loop {
            let start = candles.len();
            let Page { candles: page, delay, .. } = self.page(listed, stretch, start).await?;
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
                let message = format!("a stretch of more than {ROWS_MAX} candles was asked for");
                return Err(Fault::invalid("span_too_long", message));
            }
            // An empty page after full ones is the end if it is empty twice.
            let ended = rows == 0 && (start == 0 || ended_before);
            if ended || (rows > 0 && !is_full(rows)) {
                return Ok(Some(Fetched { candles: kept(candles, stretch), delay }));
            }
            ended_before = rows == 0;
        }
    }

    /// The page that begins after so many rows, as it came.
    pub(crate) async fn page(
        &self,
        listed: &Listed,
        stretch: Stretch,
        start: usize,
    ) -> Result<Page, Fault> {
        let code = &listed.security.code;
        let path = format!("{}/securities/{code}/candles", listed.place.path());
        let question = Question::new("candles", path, "candles")
            .with("interval", code_of(stretch.step))
            .with("from", written(stretch.from))
            .with("till", written(stretch.till))
            .with("start", start);
        // Read before the rows: an answer is never younger than its question.
        let now = self.clock.now();
        let answer = self.client.ask(&question).await?;
        let delay = if listed.place.is_index() { Delay::RealTime } else { answer.delay };
        let table = answer.tables.need("candles", &["begin", "open", "close", "high", "low"])?;
        let mut candles = Vec::with_capacity(table.len());
        for row in table.rows() {
            let read = read_candle(row, listed.security.decimals, stretch.step, delay, now);
            candles.push(read.map_err(|what| wrong(code, &what))?);
        }
        let candles = in_order(candles).map_err(|what| wrong(code, &what))?;
        Ok(Page { candles, delay, seen: Millis(now.0 - delay_ms(delay)) })
    }
}

/// Whether a page of so many rows may have another one after it.
pub(crate) const fn is_full(rows: usize) -> bool {
    rows >= PAGE || (rows > 0 && rows.is_multiple_of(ROUND))
}

fn wrong(code: &str, what: &str) -> Fault {
    let message = format!("the exchange's candles of {code} are wrong: {what}");
    Fault::unavailable("upstream_malformed", message)
}

/// A date where the time says nothing, as clients mostly write it.
fn written(at: DateTime) -> String {
    let time = at.time();
    if time == Time::midnight() || time == Time::constant(23, 59, 59, 0) {
        return at.date().to_string();
    }
    format!("{} {:02}:{:02}:{:02}", at.date(), time.hour(), time.minute(), time.second())
}

/// Ascending; a candle that came twice must be the same, unless it was forming in between.
fn in_order(mut candles: Vec<SecurityCandle>) -> Result<Vec<SecurityCandle>, String> {
    // Stable: of two with the same beginning, the one that came later is the newer.
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

/// What was asked for and has been traded.
pub(crate) fn kept(mut candles: Vec<SecurityCandle>, stretch: Stretch) -> Vec<SecurityCandle> {
    let traded =
        |candle: &SecurityCandle| candle.high > Decimal::ZERO || candle.low < Decimal::ZERO;
    let asked =
        |candle: &SecurityCandle| stretch.from <= candle.begins && candle.begins <= stretch.till;
    candles.retain(|candle| asked(candle) && traded(candle));
    candles
}

/// A candle without prices, in which nothing was traded, has zeros; its place in the pages counts.
/// The error says what is wrong.
fn read_candle(
    row: Row<'_>,
    decimals: u8,
    step: CandleStep,
    delay: Delay,
    now: Millis,
) -> Result<SecurityCandle, String> {
    let begins = row.datetime("begin").ok_or("one does not say when it begins")?;
    // Before a split prices may have had more digits than they have now, so only the dust of
    // floats is taken off.
    let price = |name: &str| {
        let clean = row.number(name).and_then(|value| number::trim(value, DUST_FROM))?;
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
        offset_min: zone::instant(begins).1,
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

/// A candle is closed when its time has been over for a moment on the exchange's delayed clock and
/// it says that it ends where it should. The one that is forming ends with its last trade instead;
/// where that is all there ever will be, only time tells.
fn is_closed(
    candle: &SecurityCandle,
    end: Option<DateTime>,
    step: CandleStep,
    delay: Delay,
    now: Millis,
) -> bool {
    let over = ends_at(candle, step);
    let seen = Millis(now.0 - delay_ms(delay));
    let full = end.is_some_and(|end| zone::instant(end).0.0 + 1_000 >= over.0);
    let settles_ms = if full { SETTLE_MS } else { LAG_MAX_MS };
    over.0.saturating_add(settles_ms) <= seen.0
}

/// The first moment after a candle.
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
        Ok(next) => zone::instant(next.to_datetime(Time::midnight())).0,
        Err(_) => Millis(i64::MAX),
    }
}

#[cfg(test)]
mod tests;
