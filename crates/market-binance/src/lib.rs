//! Binance spot: quotes, bars, candles and the listing over REST, live candles over WebSocket, through
//! the ports of `market`. The adapter caches answers, runs identical requests once, keeps the exchange's
//! limits, stops requests after repeated failures, and validates every answer.

mod client;
mod config;
#[doc(hidden)]
pub mod fuzzing;
mod history;
mod klines;
mod listing;
mod observer;
mod quotes;
mod response;
mod server_time;
mod stream;
mod venue_adapter;
mod weight_budget;
mod wire;

use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::{Clock, Millis, TimeRange};
use fault::Fault;
use http_client::{Fetch, SingleFlight, WhenAbandoned, is_fresh};
use market::{
    BarBatch, BarSource, Interval, Kline, KlineSource, Listing, Quote, QuoteSource, Symbol,
    SymbolSource, TradingHours, VenueHealth,
};
use tokio_util::task::TaskTracker;

pub use self::config::{ApiKey, BinanceConfig, StreamConfig};
pub use self::observer::{Observer, Unobserved};

use self::client::{Endpoint, RestClient};
use self::listing::ListedPairs;
use self::quotes::QuoteCache;
use self::server_time::ClockOffset;
use self::stream::Streams;
use self::stream::dial::{Dial, TcpDial};

/// The adapter. Clones share everything.
#[derive(Clone)]
pub struct Binance {
    shared: Arc<BinanceShared>,
}

/// How the adapter reaches the exchange: sockets, or memory in tests.
pub(crate) struct Network {
    /// `None` for HTTP over TCP and TLS.
    pub(crate) fetch: Option<Arc<dyn Fetch>>,
    pub(crate) dial: Arc<dyn Dial>,
}

impl Default for Network {
    fn default() -> Self {
        Self { fetch: None, dial: Arc::new(TcpDial) }
    }
}

/// What all clones share; tasks that outlive their caller hold it.
pub(crate) struct BinanceShared {
    config: BinanceConfig,
    /// The source that quotes name: the configured source without the seed of a simulation.
    source_label: String,
    clock: Arc<dyn Clock>,
    client: RestClient,
    /// The listing, once it was fetched.
    listed_pairs: RwLock<Option<Arc<ListedPairs>>>,
    quotes: QuoteCache,
    offset: Mutex<Option<ClockOffset>>,
    /// The opening time of the first bar of each series, which never changes.
    first_opens: Mutex<HashMap<SeriesKey, Millis>>,
    /// The last result of a ping, so that health checks cause few requests.
    last_ping: Mutex<Option<(Millis, bool)>>,
    single_flights: SingleFlights,
    streams: Streams,
    tasks: TaskTracker,
}

/// A series: symbol and interval.
type SeriesKey = (String, Interval);
type Quotes = Arc<Vec<Arc<Quote>>>;

/// The requests that identical callers share.
struct SingleFlights {
    listed_pairs: SingleFlight<(), Arc<ListedPairs>>,
    time: SingleFlight<(), ClockOffset>,
    ping: SingleFlight<(), ()>,
    tickers: SingleFlight<Vec<String>, Quotes>,
    bars: SingleFlight<(SeriesKey, Millis, Millis), Arc<BarBatch>>,
    recent: SingleFlight<(SeriesKey, usize), Arc<Vec<Kline>>>,
    first_open: SingleFlight<SeriesKey, Option<Millis>>,
}

impl Binance {
    pub fn new(config: BinanceConfig, clock: Arc<dyn Clock>) -> Result<Self, Fault> {
        Self::observed(config, clock, Arc::new(Unobserved))
    }

    /// Reports every request to `observer`.
    pub fn observed(
        config: BinanceConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Fault> {
        Self::over_network(config, clock, observer, Network::default())
    }

    /// Reaches the exchange through `network`.
    pub(crate) fn over_network(
        config: BinanceConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
        network: Network,
    ) -> Result<Self, Fault> {
        config.streams.check()?;
        let client = RestClient::new(&config, Arc::clone(&clock), observer, network.fetch)?;
        let tasks = TaskTracker::new();
        let single_flights = SingleFlights {
            listed_pairs: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
            time: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
            ping: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
            tickers: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
            bars: SingleFlight::new(&tasks, WhenAbandoned::Cancel),
            recent: SingleFlight::new(&tasks, WhenAbandoned::Cancel),
            first_open: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
        };
        let shared = BinanceShared {
            quotes: QuoteCache::new(config.quotes_max),
            source_label: config.source.split(':').next().unwrap_or_default().to_owned(),
            config,
            clock,
            client,
            listed_pairs: RwLock::new(None),
            offset: Mutex::new(None),
            first_opens: Mutex::new(HashMap::new()),
            last_ping: Mutex::new(None),
            single_flights,
            streams: Streams::new(network.dial),
            tasks,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Whether the exchange works. Sends a ping only if the last one is too old.
    pub async fn health(&self) -> VenueHealth {
        market::VenueAdapter::health(self).await
    }

    /// Ends all subscriptions and waits for running tasks. Called once, at shutdown.
    pub async fn drain(&self) {
        market::VenueAdapter::drain(self).await;
    }
}

impl BinanceShared {
    async fn ping(self: &Arc<Self>, now: Millis) -> bool {
        let last_ping = *self.last_ping.lock();
        if let Some((_, answered)) =
            last_ping.filter(|(at, _)| is_fresh(*at, now, self.config.health_age))
        {
            return answered;
        }
        let shared = Arc::clone(self);
        let work = async move { shared.client.get(Endpoint::Ping, &Vec::new()).await.map(drop) };
        let answered = self.single_flights.ping.run((), work).await.is_ok();
        *self.last_ping.lock() = Some((now, answered));
        answered
    }
}

#[async_trait]
impl QuoteSource for Binance {
    async fn latest(&self, symbols: &[Symbol]) -> Result<Vec<Result<Arc<Quote>, Fault>>, Fault> {
        self.shared.latest(symbols).await
    }
}

#[async_trait]
impl BarSource for Binance {
    fn source(&self) -> &str {
        &self.shared.config.source
    }

    fn trading_hours(&self) -> TradingHours {
        TradingHours::AlwaysOpen
    }

    /// The length of a maintenance: no rows are recorded during one, and until a later row exists a missing
    /// row may still come.
    fn publish_delay_max(&self) -> Duration {
        Duration::from_hours(12)
    }

    async fn bars(
        &self,
        code: &str,
        interval: Interval,
        span: TimeRange,
    ) -> Result<BarBatch, Fault> {
        self.shared.bars(code, interval, span).await.map(Arc::unwrap_or_clone)
    }

    async fn first_open(&self, code: &str, interval: Interval) -> Result<Option<Millis>, Fault> {
        self.shared.first_open(code, interval).await
    }
}

#[async_trait]
impl SymbolSource for Binance {
    async fn listing(&self) -> Result<Arc<Listing>, Fault> {
        Ok(Arc::clone(&self.shared.listed_pairs().await?.listing))
    }
}

#[async_trait]
impl KlineSource for Binance {
    async fn klines(
        &self,
        code: &str,
        interval: Interval,
        limit: usize,
    ) -> Result<Vec<Kline>, Fault> {
        self.shared.recent(code, interval, limit).await.map(Arc::unwrap_or_clone)
    }
}

#[cfg(test)]
mod tests;
