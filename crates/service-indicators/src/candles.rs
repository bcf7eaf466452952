//! Reads closed candles of a symbol: a time range, or a number of candles before a time, plus the
//! earlier candles that the requested indicators need for their warm-up.

mod columns;
mod recent_candles;
mod request;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clock::{Millis, TimeRange};
use fault::Fault;
use market::{Bar, Interval, LiveKlines, Ticker, TradingHours, Venue, hint_venues};

use crate::windows::Window;
use tokio::time::{Instant, timeout};

pub(crate) use columns::Candles;
use recent_candles::{RecentCandles, RecentSeries};
use request::BarRequest;

use crate::ports::{Market, VenueCandles};
use crate::warm;

/// Maximum number of candles in one request.
pub(crate) const CANDLES_MAX: usize = 5_000;
/// Number of candles in a reply to a request without `limit`; small enough for a model's context.
const CANDLES_DEFAULT: usize = 100;

/// How long a reply waits for other venues that may know a symbol.
const HINT_TIMEOUT: Duration = Duration::from_secs(2);

/// The requested candles. Times are opening times; `end` is exclusive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) start: Option<Millis>,
    pub(crate) end: Option<Millis>,
    pub(crate) limit: Option<usize>,
}

pub(crate) struct CandleReader {
    pub(crate) market: Market,
    recent: RecentCandles,
}

/// The candles that answer one request, with their source.
pub(crate) struct CandleSelection {
    pub(crate) ticker: Ticker,
    pub(crate) source: String,
    pub(crate) candles: Candles,
    /// Number of leading candles that only warm up the indicators.
    pub(crate) ahead: usize,
    /// Requested candles that the venue's hours would have and the venue has not; `None` where its
    /// hours are not known.
    pub(crate) gaps: Option<u64>,
}

impl CandleSelection {
    /// The requested candles, without the leading warm-up candles.
    pub(crate) fn requested(&self) -> Candles {
        self.candles.part(self.ahead..self.candles.len())
    }
}

impl CandleReader {
    pub(crate) fn new(market: Market) -> Self {
        Self { market, recent: RecentCandles::default() }
    }

    /// Reads the requested candles and, before them, the candles that warm up `warmed`.
    pub(crate) async fn find(
        &self,
        ticker: Ticker,
        interval: Interval,
        range: Range,
        warmed: &[Window],
        deadline: Instant,
    ) -> Result<CandleSelection, Fault> {
        range.check(interval)?;
        let venue = self.venue(&ticker)?;
        let series = venue.series(&ticker, interval);
        let history = &*self.market.history;
        let request = BarRequest { history, venue, ticker: &ticker, series: &series, deadline };
        let cached = CachedRequest { recent: &self.recent, request, warmed };
        let found = cached.find(range, self.newest(interval)).await;
        let found = self.hinted(&ticker, found).await?;
        let gaps = cached.request.gaps(&found.requested(), found.span).await;
        let FoundCandles { candles, ahead, .. } = found;
        let source = venue.label().to_owned();
        Ok(CandleSelection { ticker, source, candles, ahead, gaps })
    }

    pub(crate) fn ticker(&self, symbol: &str) -> Result<Ticker, Fault> {
        self.ticker_in("symbol", symbol)
    }

    /// Parses a symbol; a fault names the argument `field`.
    pub(crate) fn ticker_in(&self, field: &str, symbol: &str) -> Result<Ticker, Fault> {
        Ticker::parse(symbol, self.market.default_venue).map_err(|fault| {
            let expected = fault.problems().first().map_or("a symbol", |it| &it.expected);
            let message = format!("{field}: expected {expected}");
            Fault::invalid("invalid_ticker", message).problem(field, expected)
        })
    }

    /// The source of a symbol's live candles.
    pub(crate) fn live(&self, ticker: &Ticker) -> Result<Arc<dyn LiveKlines>, Fault> {
        self.venue(ticker)?.live.clone().ok_or_else(|| {
            let message = format!(
                "{} has no live candles: imported bars do not trade; read its history",
                ticker.name
            );
            let expected = "a symbol of an exchange, such as BTCUSDT";
            Fault::not_found("no_live_candles", message).problem("symbol", expected)
        })
    }

    /// The trading hours of a symbol's venue.
    pub(crate) fn calendar(&self, ticker: &Ticker) -> Result<TradingHours, Fault> {
        Ok(self
            .venue(ticker)?
            .bars
            .as_ref()
            .map_or(TradingHours::Unknown, |bars| bars.trading_hours()))
    }

    /// Whether a symbol's venue has candles of this length.
    pub(crate) fn has_interval(&self, ticker: &Ticker, interval: Interval) -> bool {
        let venue = self.venue(ticker).ok();
        let bars = venue.and_then(|venue| venue.bars.as_ref());
        bars.is_none_or(|bars| bars.has_interval(interval))
    }

    /// The newest `count` closed candles. Only live channels call this, so `CANDLES_MAX` does not
    /// apply.
    pub(crate) async fn last(
        &self,
        ticker: &Ticker,
        interval: Interval,
        count: usize,
        deadline: Instant,
    ) -> Result<Vec<Bar>, Fault> {
        let until = self.newest(interval);
        self.within(ticker, interval, TimeRange::new(until, until), count, deadline).await
    }

    /// The closed candles of a span and up to `before` candles before it.
    pub(crate) async fn within(
        &self,
        ticker: &Ticker,
        interval: Interval,
        span: TimeRange,
        before: usize,
        deadline: Instant,
    ) -> Result<Vec<Bar>, Fault> {
        let venue = self.venue(ticker)?;
        let series = venue.series(ticker, interval);
        let history = &*self.market.history;
        let request = BarRequest { history, venue, ticker, series: &series, deadline };
        let mut bars = Vec::new();
        if before > 0 {
            let found = request.last(span.from, before).await;
            bars = self.hinted(ticker, found).await?.bars;
        }
        if !span.is_empty() {
            let most = usize::try_from(interval.count_in(span)).unwrap_or(usize::MAX);
            bars.extend(request.within(span, most).await?);
        }
        Ok(bars)
    }

    /// A fault about an unknown symbol names the venues that know it.
    async fn hinted<T>(&self, ticker: &Ticker, found: Result<T, Fault>) -> Result<T, Fault> {
        let fault = match found {
            Ok(found) => return Ok(found),
            Err(fault) => fault,
        };
        let symbols = |(venue, it): (&Venue, &VenueCandles)| (*venue, Arc::clone(&it.symbols));
        let venues = self.market.venues.iter().map(symbols).collect();
        let plain = fault.shared();
        let hinted = timeout(HINT_TIMEOUT, hint_venues(fault, ticker, venues)).await;
        Err(hinted.unwrap_or(plain))
    }

    /// The end of the newest closed candle.
    fn newest(&self, interval: Interval) -> Millis {
        self.market.history.closed_part(interval, TimeRange::new(Millis(0), Millis(i64::MAX))).to
    }

    fn venue(&self, ticker: &Ticker) -> Result<&VenueCandles, Fault> {
        let venues = &self.market.venues;
        let found = venues.get(&ticker.symbol.venue);
        found.ok_or_else(|| ticker.not_served(venues.keys().copied()))
    }

    /// Where the data of the default venue come from.
    pub(crate) fn provider(&self) -> &str {
        let ports = self.market.venues.get(&self.market.default_venue);
        ports.map(VenueCandles::label).unwrap_or_default()
    }

    /// Where the candles of this ticker come from.
    pub(crate) fn source(&self, ticker: &Ticker) -> Result<&str, Fault> {
        self.venue(ticker).map(VenueCandles::label)
    }

    /// By venue, where its data come from.
    pub(crate) fn sources(&self) -> BTreeMap<String, String> {
        let named = |(venue, ports): (&Venue, &VenueCandles)| {
            (venue.prefix().to_lowercase(), ports.label().to_owned())
        };
        self.market.venues.iter().map(named).collect()
    }
}

impl Range {
    /// Maximum number of candles in this range.
    pub(crate) fn most(&self, interval: Interval) -> u64 {
        match (self.start, self.end) {
            (Some(start), Some(end)) => interval.count_in(TimeRange::new(start, end)),
            _ => self.count() as u64,
        }
    }

    /// Number of candles to return for a range that lacks a start or an end.
    fn count(&self) -> usize {
        self.limit.unwrap_or(CANDLES_DEFAULT).min(CANDLES_MAX)
    }

    /// Refuses a reversed or too long range before any fetch.
    pub(crate) fn check(&self, interval: Interval) -> Result<(), Fault> {
        let (Some(start), Some(end)) = (self.start, self.end) else { return Ok(()) };
        if start >= end {
            let message = format!("end: expected a time after start ({} is not)", end.0);
            return Err(Fault::invalid("reversed_range", message)
                .problem("end", format!("a time after {}", start.0)));
        }
        let candles = self.most(interval);
        if candles > CANDLES_MAX as u64 {
            let message =
                format!("start: expected at most {CANDLES_MAX} candles up to end, not {candles}");
            return Err(Fault::invalid("range_too_long", message)
                .problem("start", format!("at most {CANDLES_MAX} candles before end")));
        }
        Ok(())
    }
}

/// A request that reads the recent-candle cache before the archive.
struct CachedRequest<'a> {
    recent: &'a RecentCandles,
    request: BarRequest<'a>,
    warmed: &'a [Window],
}

/// Candles, of which the first `ahead` only warm up indicators.
struct FoundCandles {
    candles: Candles,
    ahead: usize,
    /// The requested time, as far as its candles are known, where the request names its start.
    span: Option<TimeRange>,
}

impl FoundCandles {
    fn requested(&self) -> Candles {
        self.candles.part(self.ahead..self.candles.len())
    }
}

impl CachedRequest<'_> {
    async fn find(&self, range: Range, newest: Millis) -> Result<FoundCandles, Fault> {
        let count = range.count();
        let end = range.end.map_or(newest, |end| end.min(newest));
        let (requested, span) = match (range.start, range.end) {
            (Some(start), Some(_)) => {
                let (candles, known_to) =
                    self.within(TimeRange::new(start, end), CANDLES_MAX).await?;
                (candles, TimeRange::new(start, known_to.max(start)))
            }
            (Some(start), None) => {
                let candles = self.first(TimeRange::new(start, end), count).await?;
                let next = candles.last().map_or(start, |last| Millis(last.0.saturating_add(1)));
                (candles, TimeRange::new(start, next))
            }
            (None, _) => {
                // The first opening time is an estimate that ignores the venue's gaps; `warm`
                // corrects it.
                let step = self.interval().fixed_ms().unwrap_or(31 * clock::DAY_MS);
                let first = Millis(end.0.saturating_sub(step.saturating_mul(count as i64)));
                let ahead = warm::candles_before(self.warmed, self.interval(), first);
                let all = self.last(end, count + ahead, newest).await?;
                let ahead = all.len().saturating_sub(count);
                let (candles, ahead) = self.warm(all, ahead, newest).await?;
                return Ok(FoundCandles { candles, ahead, span: None });
            }
        };
        let (candles, ahead) = self.warm(requested, 0, newest).await?;
        Ok(FoundCandles { candles, ahead, span: Some(span) })
    }

    /// Prepends missing warm-up candles; the first `ahead` of `candles` are warm-up candles
    /// already.
    async fn warm(
        &self,
        candles: Candles,
        ahead: usize,
        newest: Millis,
    ) -> Result<(Candles, usize), Fault> {
        let requested = candles.part(ahead..candles.len());
        let Some(first) = requested.first() else { return Ok((requested, 0)) };
        let needed = warm::candles_before(self.warmed, self.interval(), first);
        if needed <= ahead {
            return Ok((candles, ahead));
        }
        let before = self.last(first, needed, newest).await?;
        Ok((before.followed_by(&requested), before.len()))
    }

    /// The candles of the span, and the time up to which they are known.
    async fn within(&self, span: TimeRange, most: usize) -> Result<(Candles, Millis), Fault> {
        if let Some(cached) = self.recent.within(self.request.series, span) {
            return Ok((cached, span.to));
        }
        let (bars, known_to) = self.request.known_within(span, most).await?;
        Ok((Candles::of(&bars), known_to))
    }

    async fn first(&self, span: TimeRange, count: usize) -> Result<Candles, Fault> {
        if let Some(cached) = self.recent.within(self.request.series, span) {
            return Ok(cached.part(0..count));
        }
        Ok(Candles::of(&self.request.first(span, count).await?))
    }

    async fn last(&self, end: Millis, count: usize, newest: Millis) -> Result<Candles, Fault> {
        let series = self.request.series;
        if let Some(cached) = self.recent.last(series, end, count) {
            return Ok(cached);
        }
        let found = self.request.last(end, count).await?;
        let candles = Candles::of(&found.bars);
        // A file can be imported again at any time, so only bars of an exchange are cached: those
        // do not change.
        if end >= newest && self.request.venue.bars.is_some() {
            self.recent.insert(series, RecentSeries::new(found.from, found.to, &candles));
        }
        Ok(candles)
    }

    fn interval(&self) -> Interval {
        self.request.series.interval
    }
}
