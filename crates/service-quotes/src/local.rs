//! The quotes API in this process: live quotes come from the ticker's venue, history from the bar
//! archive after missing bars were fetched from the venue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::{Millis, TimeRange};
use fault::{Fault, Kind};
use futures_util::future::join_all;
use market::{
    Bar, BarSeries, BarSource, Delay, Freshness, HealthProbe, PageRequest, Quote, QuoteSource,
    SIMULATED, SymbolSource, Ticker, Venue, VenueAdapter, VenueHealth, health_probe, hint_venues,
};
use market_bars::{BarHistory, FillOptions};

use tokio::time::timeout;

use crate::ports::{ApiContext, QuotesApi};
use crate::reply::{
    BarRow, HealthCheck, HealthReply, HealthStatus, HistoryQuery, HistoryReply, LiveReply,
    MissingTicker, QuoteRow, VenueSources,
};

/// How long a reply waits for the opening time of the first bar, which it can do without.
const FIRST_OPEN_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a reply waits for other venues that may know a ticker.
const HINT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a venue may take to answer a health check.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// The ports of one venue that this service uses.
pub struct VenuePorts {
    /// The source name of its bars in the archive.
    pub source: String,
    pub quotes: Arc<dyn QuoteSource>,
    pub symbols: Arc<dyn SymbolSource>,
    /// `None` when all bars are already in the archive, as for imported files.
    pub bars: Option<Arc<dyn BarSource>>,
    pub health: HealthProbe,
}

impl From<Arc<dyn VenueAdapter>> for VenuePorts {
    fn from(adapter: Arc<dyn VenueAdapter>) -> Self {
        Self {
            source: adapter.source().to_owned(),
            health: health_probe(&adapter),
            bars: Arc::clone(&adapter).bars(),
            quotes: Arc::clone(&adapter) as _,
            symbols: adapter,
        }
    }
}

/// What a [`LocalApi`] is built from.
pub struct LocalApiParts {
    pub venues: BTreeMap<Venue, VenuePorts>,
    /// The venue of a ticker without a prefix.
    pub default_venue: Venue,
    pub history: Arc<BarHistory>,
}

/// The quotes API in this process.
pub struct LocalApi {
    venues: BTreeMap<Venue, VenuePorts>,
    default_venue: Venue,
    history: Arc<BarHistory>,
}

/// A ticker that can be served, with its series in the archive.
struct FilledTicker<'a> {
    ticker: &'a Ticker,
    series: BarSeries,
    /// The end of the range in which all of its bars are known.
    known_to: Millis,
    /// How many bars the venue's trading hours imply; `None` when its hours are not known.
    expected: Option<u64>,
}

impl LocalApi {
    pub fn new(parts: LocalApiParts) -> Self {
        let LocalApiParts { venues, default_venue, history } = parts;
        Self { venues, default_venue, history }
    }

    /// Parses the names, sorts the tickers and removes duplicates. The fault names the first
    /// invalid name.
    fn parse_tickers(&self, names: &[String]) -> Result<Vec<Ticker>, Fault> {
        let mut tickers = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            let ticker = Ticker::parse(name, self.default_venue).map_err(|fault| {
                let expected = fault.problems().first().map_or("a ticker", |it| &it.expected);
                let message = format!("{}: expected {expected}", fault.message());
                Fault::invalid("invalid_ticker", message)
                    .problem(format!("tickers[{at}]"), expected)
            })?;
            tickers.push(ticker);
        }
        tickers.sort_unstable();
        tickers.dedup();
        Ok(tickers)
    }

    /// The faults of tickers that their venue does not know, with the venues that know them.
    async fn with_venue_hints<'a>(
        &self,
        faults: Vec<(&'a Ticker, Fault)>,
    ) -> Vec<(&'a str, Fault)> {
        let symbols = |(venue, ports): (&Venue, &VenuePorts)| (*venue, Arc::clone(&ports.symbols));
        let venues: Vec<(Venue, Arc<dyn SymbolSource>)> = self.venues.iter().map(symbols).collect();
        let hints = faults.into_iter().map(|(ticker, fault)| {
            let (venues, without_hint) = (venues.clone(), fault.shared());
            async move {
                let hinted = timeout(HINT_TIMEOUT, hint_venues(fault, ticker, venues)).await;
                (ticker.name.as_str(), hinted.unwrap_or(without_hint))
            }
        });
        join_all(hints).await
    }

    fn venue(&self, ticker: &Ticker) -> Result<&VenuePorts, Fault> {
        let found = self.venues.get(&ticker.symbol.venue);
        found.ok_or_else(|| ticker.not_served(self.venues.keys().copied()))
    }

    /// Fetches the bars of the range that the archive lacks.
    async fn fill_ticker<'a>(
        &self,
        cx: &ApiContext,
        ticker: &'a Ticker,
        query: &HistoryQuery,
        range: TimeRange,
    ) -> Result<FilledTicker<'a>, Fault> {
        let venue = self.venue(ticker)?;
        let series = BarSeries {
            source: venue.source.clone(),
            symbol: ticker.symbol.clone(),
            interval: query.interval,
        };
        let Some(bars) = &venue.bars else {
            require_listed(venue, ticker).await?;
            return Ok(FilledTicker { ticker, series, known_to: range.to, expected: None });
        };
        let mut known_to = range.to;
        if !self.history.is_complete(&series, range).await? {
            require_listed(venue, ticker).await?;
            let report = |stored: u64, total: u64| {
                cx.progress.report(stored as f64, Some(total as f64), "bars fetched");
            };
            let options = FillOptions { deadline: cx.deadline, progress: &report };
            known_to = self.history.fill(bars, &series, range, &options).await?;
        }
        // Usually cached. A venue that does not answer must not delay bars of the archive.
        let first = bars.first_open(&ticker.symbol.code, query.interval);
        let first = timeout(FIRST_OPEN_TIMEOUT, first).await.ok().and_then(Result::ok).flatten();
        let expected = first.and_then(|first| {
            let listed = range.overlap(TimeRange::new(first, known_to.max(first)));
            bars.trading_hours().expected_bars(query.interval, listed)
        });
        Ok(FilledTicker { ticker, series, known_to, expected })
    }

    async fn history_freshness(&self, served: &[FilledTicker<'_>]) -> Option<Freshness> {
        let as_of = served.iter().map(|it| it.known_to).min()?;
        let series: Vec<BarSeries> = served.iter().map(|it| it.series.clone()).collect();
        let received = self.history.received_at(&series).await.ok()?;
        let mut sources: Vec<&str> = series.iter().map(|it| source_label(&it.source)).collect();
        sources.sort_unstable();
        sources.dedup();
        let imported = series.iter().all(|it| it.symbol.venue == Venue::File);
        Some(Freshness {
            source: sources.join(", "),
            as_of,
            received_at: received.into_iter().flatten().min().unwrap_or(as_of),
            delay: if imported { Delay::Static } else { Delay::RealTime },
            stale: false,
            fallback: None,
        })
    }
}

/// The source without its suffix, which distinguishes simulations: `simulated:x` is `simulated`.
fn source_label(source: &str) -> &str {
    source.split(':').next().unwrap_or_default()
}

async fn require_listed(venue: &VenuePorts, ticker: &Ticker) -> Result<(), Fault> {
    venue.symbols.listing().await?.require(ticker, "ticker")
}

/// The fault of a request of which no ticker could be served: the only one, the first retryable
/// one, or the messages of all of them as `NotFound`.
fn nothing_served(faults: Vec<(String, Fault)>) -> Fault {
    let retryable = faults.iter().position(|(_, fault)| fault.kind().is_retryable());
    let mut faults = faults;
    match (faults.len(), retryable) {
        (0, _) => Fault::internal("no tickers were requested"),
        (1, _) => faults.swap_remove(0).1,
        (_, Some(at)) => faults.swap_remove(at).1,
        (_, None) => {
            let messages: Vec<&str> = faults.iter().map(|(_, fault)| fault.message()).collect();
            Fault::new(Kind::NotFound, "unknown_symbol", messages.join("; "))
        }
    }
}

fn quote_row(ticker: &Ticker, quote: &Quote) -> QuoteRow {
    QuoteRow {
        ticker: ticker.name.clone(),
        price: quote.price.to_string(),
        currency: quote.currency.clone(),
        as_of: quote.freshness.as_of.to_rfc3339(),
        volume: quote.volume.and_then(market::Decimal::round_to_integer),
    }
}

fn bar_row(ticker: &Arc<str>, bar: &Bar) -> BarRow {
    BarRow {
        ticker: Arc::clone(ticker),
        timestamp: bar.open_time.to_rfc3339(),
        open: bar.open.to_string(),
        high: bar.high.to_string(),
        low: bar.low.to_string(),
        close: bar.close.to_string(),
        volume: bar.volume.map(|volume| volume.to_string()),
    }
}

/// The freshness of the reply: that of its oldest quote, stale when any quote is stale, and from
/// the sources of all quotes.
fn merge_freshness(oldest: Option<Freshness>, quote: &Quote) -> Option<Freshness> {
    let Some(mut oldest) = oldest else { return Some(quote.freshness.clone()) };
    let stale = oldest.stale || quote.freshness.stale;
    let mut sources: BTreeSet<&str> = oldest.source.split(", ").collect();
    sources.insert(&quote.freshness.source);
    let source = sources.into_iter().collect::<Vec<_>>().join(", ");
    if quote.freshness.as_of < oldest.as_of {
        oldest = quote.freshness.clone();
    }
    Some(Freshness { stale, source, ..oldest })
}

#[async_trait]
impl QuotesApi for LocalApi {
    async fn live(&self, cx: &ApiContext, names: &[String]) -> Result<LiveReply, Fault> {
        let tickers = self.parse_tickers(names)?;
        let mut found: BTreeMap<&str, QuoteRow> = BTreeMap::new();
        let mut faults: Vec<(&Ticker, Fault)> = Vec::new();
        let mut freshness = None;
        let mut by_venue: BTreeMap<Venue, Vec<&Ticker>> = BTreeMap::new();
        for ticker in &tickers {
            by_venue.entry(ticker.symbol.venue).or_default().push(ticker);
        }
        // Requests to the venues run concurrently; `Venue` has three variants.
        let answers = join_all(by_venue.into_values().map(|tickers| self.latest(tickers))).await;
        for (ticker, quote) in answers.into_iter().flatten() {
            match quote {
                Err(fault) => faults.push((ticker, fault)),
                Ok(quote) => {
                    freshness = merge_freshness(freshness, &quote);
                    found.insert(&ticker.name, quote_row(ticker, &quote));
                }
            }
        }
        let faults: BTreeMap<&str, Fault> =
            self.with_venue_hints(faults).await.into_iter().collect();
        if found.is_empty() {
            let faults = faults.into_iter().map(|(name, fault)| (name.to_owned(), fault));
            return Err(nothing_served(faults.collect()));
        }
        let missing: Vec<MissingTicker> =
            faults.iter().map(|(name, fault)| MissingTicker::of(name, fault)).collect();
        Ok(LiveReply {
            source_status: MissingTicker::status_of(&missing),
            missing,
            quotes: found.into_values().collect(),
            freshness,
            request_id: Arc::clone(&cx.request_id),
        })
    }

    async fn historical(
        &self,
        cx: &ApiContext,
        query: &HistoryQuery,
    ) -> Result<HistoryReply, Fault> {
        let tickers = self.parse_tickers(&query.tickers)?;
        let range =
            self.history.closed_part(query.interval, TimeRange::of_days(query.from, query.to));
        let mut served = Vec::new();
        let mut faults = Vec::new();
        for (ticker, prepared) in self.fill_tickers(cx, &tickers, query, range).await {
            match prepared {
                Ok(ready) => served.push(ready),
                Err(fault) => faults.push((ticker, fault)),
            }
        }
        let hinted = self.with_venue_hints(faults).await.into_iter();
        let faults: Vec<(String, Fault)> =
            hinted.map(|(name, fault)| (name.to_owned(), fault)).collect();
        if served.is_empty() {
            return Err(nothing_served(faults));
        }
        let series: Vec<BarSeries> = served.iter().map(|it| it.series.clone()).collect();
        let offset = query.offset();
        let request = PageRequest { series: &series, range, offset, limit: query.page_size };
        let page = self.history.page(&request).await?;
        let names: Vec<Arc<str>> =
            served.iter().map(|it| Arc::from(it.ticker.name.as_str())).collect();
        let expected: Option<u64> = served.iter().map(|it| it.expected).sum();
        let missing: Vec<MissingTicker> =
            faults.iter().map(|(name, fault)| MissingTicker::of(name, fault)).collect();
        Ok(HistoryReply {
            bars: page.bars.iter().map(|(at, bar)| bar_row(&names[*at], bar)).collect(),
            total: page.total,
            source_status: MissingTicker::status_of(&missing),
            missing,
            freshness: self.history_freshness(&served).await,
            gaps: expected.map(|expected| expected.saturating_sub(page.total)),
            request_id: Arc::clone(&cx.request_id),
        })
    }

    async fn health(&self, cx: &ApiContext) -> Result<HealthReply, Fault> {
        let mut checks = Vec::new();
        for (venue, ports) in &self.venues {
            // Reading the listing detects a venue that is down before its first request. It is
            // cached, so most health checks send no request to the venue.
            let probed = async { ((ports.health)().await, ports.symbols.listing().await) };
            let (status, detail) = match timeout(HEALTH_TIMEOUT, probed).await {
                Err(_) => (HealthStatus::Down, Some("no answer in time".to_owned())),
                Ok((_, Err(fault))) => (HealthStatus::Down, Some(fault.message().to_owned())),
                Ok((VenueHealth::Down, Ok(_))) => (HealthStatus::Down, None),
                Ok((VenueHealth::Degraded, Ok(_))) => (HealthStatus::Degraded, None),
                Ok((VenueHealth::Up, Ok(_))) => (HealthStatus::Ok, None),
            };
            let simulated = source_label(&ports.source) == SIMULATED;
            let detail = detail.or_else(|| simulated.then(|| SIMULATED.to_owned()));
            checks.push(HealthCheck { name: venue.prefix().to_lowercase(), status, detail });
        }
        let archive = self.history.check().await;
        let status = if archive.is_ok() { HealthStatus::Ok } else { HealthStatus::Down };
        let detail = archive.err().map(|fault| fault.message().to_owned());
        checks.push(HealthCheck { name: "archive".to_owned(), status, detail });
        Ok(HealthReply::of(checks, self.sources(), Arc::clone(&cx.request_id)))
    }

    fn sources(&self) -> VenueSources {
        let label = |ports: &VenuePorts| source_label(&ports.source).to_owned();
        let venues = self.venues.iter();
        venues.map(|(venue, ports)| (venue.prefix().to_lowercase(), label(ports))).collect()
    }
}

impl LocalApi {
    /// The latest quotes of tickers of one venue, in their order. A fault of the venue is the fault
    /// of each ticker.
    async fn latest<'a>(
        &self,
        tickers: Vec<&'a Ticker>,
    ) -> Vec<(&'a Ticker, Result<Arc<Quote>, Fault>)> {
        let Some(first) = tickers.first() else { return Vec::new() };
        let symbols: Vec<_> = tickers.iter().map(|it| it.symbol.clone()).collect();
        let quotes = match self.venue(first) {
            Ok(venue) => venue.quotes.latest(&symbols).await,
            Err(fault) => Err(fault),
        };
        match quotes {
            Ok(quotes) => tickers.into_iter().zip(quotes).collect(),
            Err(fault) => tickers.into_iter().map(|it| (it, Err(fault.shared()))).collect(),
        }
    }

    /// Fills all tickers at the same time; [`BarHistory`] bounds how many fills run at once.
    async fn fill_tickers<'a>(
        &self,
        cx: &ApiContext,
        tickers: &'a [Ticker],
        query: &HistoryQuery,
        range: TimeRange,
    ) -> Vec<(&'a Ticker, Result<FilledTicker<'a>, Fault>)> {
        let prepared = tickers.iter().map(|ticker| async move {
            (ticker, self.fill_ticker(cx, ticker, query, range).await)
        });
        join_all(prepared).await
    }
}

#[cfg(test)]
mod tests;
