//! Closed candles of a symbol: between two times, or so many up to one.

use std::sync::Arc;

use fault::Fault;
use history::Patience;
use market::{
    Bar, BarSource, DAY_MS, Interval, LiveKlines, Millis, PageRequest, Series, Span, SymbolSource,
    Ticker, Venue, closest,
};
use tokio::time::Instant;

use crate::ports::{Market, VenueCandles};

/// The most candles one request may ask for.
pub(crate) const CANDLES_MAX: usize = 5_000;
/// How many are given when nobody says: an answer that fits a model's patience.
const CANDLES_DEFAULT: usize = 100;
/// How often the search for more candles goes further back over a venue's gaps.
const STRIDES_MAX: u32 = 6;
const SUGGESTIONS_MAX: usize = 3;

/// Which candles are asked for. Times are opening times; `end` is exclusive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) start: Option<Millis>,
    pub(crate) end: Option<Millis>,
    pub(crate) limit: Option<usize>,
}

pub(crate) struct Candlestand {
    pub(crate) market: Market,
}

/// Candles with where they come from.
pub(crate) struct Found {
    pub(crate) ticker: Ticker,
    pub(crate) source: String,
    pub(crate) bars: Vec<Bar>,
}

impl Candlestand {
    pub(crate) fn new(market: Market) -> Self {
        Self { market }
    }

    pub(crate) async fn find(
        &self,
        symbol: &str,
        interval: Interval,
        range: Range,
        deadline: Instant,
    ) -> Result<Found, Fault> {
        check(interval, range)?;
        let ticker = self.ticker(symbol)?;
        let venue = self.venue(&ticker)?;
        let series =
            Series { source: venue.source.clone(), symbol: ticker.symbol.clone(), interval };
        let request = Request { stand: self, venue, series: &series, deadline };
        let bars = request.bars(&ticker, range).await?;
        let source = venue.source.split(':').next().unwrap_or_default().to_owned();
        Ok(Found { ticker, source, bars })
    }

    pub(crate) fn ticker(&self, symbol: &str) -> Result<Ticker, Fault> {
        Ticker::parse(symbol, self.market.default_venue).map_err(|fault| {
            let expected = fault.problems().first().map_or("a symbol", |it| &it.expected);
            let message = format!("symbol: expected {expected}");
            Fault::invalid("invalid_ticker", message).problem("symbol", expected)
        })
    }

    /// Where the live candles of a symbol come from.
    pub(crate) fn live(&self, ticker: &Ticker) -> Result<Arc<dyn LiveKlines>, Fault> {
        self.venue(ticker)?.live.clone().ok_or_else(|| {
            let message = format!("{} has no live candles; read its history", ticker.name);
            Fault::not_found("no_live_candles", message).problem("symbol", "a symbol that trades")
        })
    }

    /// The newest closed candles, however many; for our own use, so there is no limit to hold.
    pub(crate) async fn last(
        &self,
        ticker: &Ticker,
        interval: Interval,
        count: usize,
        deadline: Instant,
    ) -> Result<Vec<Bar>, Fault> {
        let until = self.market.history.closed(interval, Span::new(Millis(0), Millis(i64::MAX))).to;
        self.within(ticker, interval, Span::new(until, until), count, deadline).await
    }

    /// The closed candles of a span, and so many before it.
    pub(crate) async fn within(
        &self,
        ticker: &Ticker,
        interval: Interval,
        span: Span,
        before: usize,
        deadline: Instant,
    ) -> Result<Vec<Bar>, Fault> {
        let venue = self.venue(ticker)?;
        let series =
            Series { source: venue.source.clone(), symbol: ticker.symbol.clone(), interval };
        let request = Request { stand: self, venue, series: &series, deadline };
        let mut bars = Vec::new();
        if let Some(source) = &venue.bars {
            if before > 0 {
                bars = request.last(ticker, source, span.from, before).await?;
            }
            request.complete(ticker, source, span).await?;
        }
        if !span.is_empty() {
            let most = usize::try_from(interval.count_in(span)).unwrap_or(usize::MAX);
            bars.extend(request.page(span, 0, most).await?);
        }
        Ok(bars)
    }

    fn venue(&self, ticker: &Ticker) -> Result<&VenueCandles, Fault> {
        self.market.venues.get(&ticker.symbol.venue).ok_or_else(|| {
            let served: Vec<&str> = self.market.venues.keys().map(|it| it.prefix()).collect();
            let message = format!(
                "the venue of {:?} is not served here; served: {}",
                ticker.name,
                served.join(", ")
            );
            Fault::not_found("unknown_venue", message)
        })
    }

    pub(crate) fn symbols(&self) -> Result<&Arc<dyn SymbolSource>, Fault> {
        let venue: Venue = self.market.default_venue;
        let ports = self.market.venues.get(&venue);
        ports.map(|it| &it.symbols).ok_or_else(|| Fault::internal("the default venue is missing"))
    }

    pub(crate) fn provider(&self) -> &str {
        let ports = self.market.venues.get(&self.market.default_venue);
        ports.and_then(|it| it.source.split(':').next()).unwrap_or_default()
    }
}

/// Refuses what makes no sense before anything is fetched.
fn check(interval: Interval, range: Range) -> Result<(), Fault> {
    let (Some(start), Some(end)) = (range.start, range.end) else { return Ok(()) };
    if start >= end {
        let message = format!("end: expected a time after start ({} is not)", end.0);
        return Err(Fault::invalid("reversed_range", message)
            .problem("end", format!("a time after {}", start.0)));
    }
    let candles = interval.count_in(Span::new(start, end));
    if candles > CANDLES_MAX as u64 {
        let message =
            format!("start: expected at most {CANDLES_MAX} candles up to end, not {candles}");
        return Err(Fault::invalid("range_too_long", message)
            .problem("start", format!("at most {CANDLES_MAX} candles before end")));
    }
    Ok(())
}

/// One request on its way through venue and archive.
struct Request<'a> {
    stand: &'a Candlestand,
    venue: &'a VenueCandles,
    series: &'a Series,
    deadline: Instant,
}

impl Request<'_> {
    async fn bars(&self, ticker: &Ticker, range: Range) -> Result<Vec<Bar>, Fault> {
        let limit = range.limit.unwrap_or(CANDLES_DEFAULT).min(CANDLES_MAX);
        let history = &self.stand.market.history;
        let now = history.closed(self.series.interval, Span::new(Millis(0), Millis(i64::MAX))).to;
        let end = range.end.map_or(now, |end| end.min(now));
        let Some(source) = &self.venue.bars else {
            self.known(ticker).await?;
            return self.kept(Span::new(range.start.unwrap_or(Millis(0)), end), range, limit).await;
        };
        match (range.start, range.end) {
            (Some(start), Some(_)) => {
                let span = Span::new(start, end);
                self.complete(ticker, source, span).await?;
                self.page(span, 0, CANDLES_MAX).await
            }
            (Some(start), None) => self.first(ticker, source, Span::new(start, end), limit).await,
            (None, _) => self.last(ticker, source, end, limit).await,
        }
    }

    /// The first candles from the start of the span. A venue's gaps may make it look further.
    async fn first(
        &self,
        ticker: &Ticker,
        source: &Arc<dyn BarSource>,
        span: Span,
        limit: usize,
    ) -> Result<Vec<Bar>, Fault> {
        let mut reach = self.stride(limit);
        for _ in 0..STRIDES_MAX {
            let part = Span::new(span.from, Millis(span.from.0.saturating_add(reach)).min(span.to));
            self.complete(ticker, source, part).await?;
            let bars = self.page(part, 0, limit).await?;
            if bars.len() == limit || part.to >= span.to {
                return Ok(bars);
            }
            reach = reach.saturating_mul(4);
        }
        self.page(span, 0, limit).await
    }

    /// The newest candles before `end`.
    async fn last(
        &self,
        ticker: &Ticker,
        source: &Arc<dyn BarSource>,
        end: Millis,
        limit: usize,
    ) -> Result<Vec<Bar>, Fault> {
        self.known(ticker).await?;
        let code = &self.series.symbol.code;
        let listed = source.first_open(code, self.series.interval).await?.unwrap_or(Millis(0));
        let mut reach = self.stride(limit);
        let mut bars = Vec::new();
        for _ in 0..STRIDES_MAX {
            let span = Span::new(Millis(end.0.saturating_sub(reach)).max(listed), end);
            self.complete(ticker, source, span).await?;
            let count = self.total(span).await?;
            bars = self.page(span, count.saturating_sub(limit as u64), limit).await?;
            if bars.len() == limit || span.from <= listed {
                break;
            }
            reach = reach.saturating_mul(4);
        }
        Ok(bars)
    }

    /// What the archive has, where it is all there is.
    async fn kept(&self, span: Span, range: Range, limit: usize) -> Result<Vec<Bar>, Fault> {
        match (range.start, range.end) {
            (Some(_), Some(_)) => self.page(span, 0, CANDLES_MAX).await,
            (Some(_), None) => self.page(span, 0, limit).await,
            (None, _) => {
                let count = self.total(span).await?;
                self.page(span, count.saturating_sub(limit as u64), limit).await
            }
        }
    }

    /// Time enough for so many candles.
    fn stride(&self, candles: usize) -> i64 {
        let step = self.series.interval.fixed_ms().unwrap_or(31 * DAY_MS);
        step.saturating_mul(candles as i64)
    }

    async fn complete(
        &self,
        ticker: &Ticker,
        source: &Arc<dyn BarSource>,
        span: Span,
    ) -> Result<(), Fault> {
        let history = &self.stand.market.history;
        if span.is_empty() || history.is_complete(self.series, span).await? {
            return Ok(());
        }
        self.known(ticker).await?;
        let patience = Patience { until: self.deadline, progress: &|_, _| {} };
        history.complete(source, self.series, span, &patience).await.map(drop)
    }

    async fn total(&self, span: Span) -> Result<u64, Fault> {
        let series = std::slice::from_ref(self.series);
        let request = PageRequest { series, span, offset: 0, limit: 0 };
        Ok(self.stand.market.history.page(&request).await?.total)
    }

    async fn page(&self, span: Span, offset: u64, limit: usize) -> Result<Vec<Bar>, Fault> {
        let series = std::slice::from_ref(self.series);
        let request = PageRequest { series, span, offset, limit };
        let page = self.stand.market.history.page(&request).await?;
        Ok(page.bars.into_iter().map(|(_, bar)| bar).collect())
    }

    async fn known(&self, ticker: &Ticker) -> Result<(), Fault> {
        let listing = self.venue.symbols.listing().await?;
        let code = ticker.symbol.code.as_str();
        if listing.knows(code) {
            return Ok(());
        }
        let near = closest(code, listing.quote_assets.keys().map(String::as_str), SUGGESTIONS_MAX);
        let mut message = format!("symbol {:?} is not known", ticker.name);
        if !near.is_empty() {
            message.push_str(&format!("; did you mean {}?", near.join(", ")));
        }
        Err(Fault::not_found("unknown_symbol", message).problem("symbol", "a symbol of the venue"))
    }
}
