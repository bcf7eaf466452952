//! Binance spot: quotes, bars, candles and the listing over REST, candles as they form over
//! WebSocket, through the ports of `market`.
//!
//! The exchange is asked as little as possible: answers are cached for as long as they are true,
//! identical questions are asked once, its limits are kept before it enforces them, and an
//! exchange that fails is left alone. What it says is checked before it is believed.

mod answer;
mod budget;
mod client;
mod config;
mod klines;
mod listing;
mod observer;
mod quotes;
mod record;
mod server_time;
mod stream;
mod wire;

use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::{Clock, Millis, TimeRange};
use fault::Fault;
use http_client::{BreakerStatus, SingleFlight, WhenAbandoned, is_fresh};
use market::{
    BarBatch, BarSource, Interval, Kline, KlineSource, Listing, Quote, QuoteSource, Symbol,
    SymbolSource, TradingHours, VenueHealth,
};
use tokio_util::task::TaskTracker;

pub use self::config::{ApiKey, BinanceConfig, StreamConfig};
pub use self::observer::{Observer, Unobserved};

use self::client::{Client, Endpoint};
use self::listing::Book;
use self::quotes::QuoteCache;
use self::server_time::Offset;
use self::stream::Streams;

/// The adapter. Clones share everything.
#[derive(Clone)]
pub struct Binance {
    inner: Arc<Inner>,
}

/// What the calls share; work that outlives its caller holds on to it.
pub(crate) struct Inner {
    config: BinanceConfig,
    /// Who quotes say they come from: the source without what tells one simulation from another.
    said_by: String,
    clock: Arc<dyn Clock>,
    client: Client,
    /// The listing as last told.
    book: RwLock<Option<Arc<Book>>>,
    quotes: QuoteCache,
    offset: Mutex<Option<Offset>>,
    /// When each series began, which never changes.
    first_opens: Mutex<HashMap<SeriesKey, Millis>>,
    /// The last answer to a ping, so that health checks do not become load.
    pinged: Mutex<Option<(Millis, bool)>>,
    flights: AllSingleFlights,
    streams: Streams,
    tasks: TaskTracker,
}

/// A series of bars, by its name here.
type SeriesKey = (String, Interval);
type Quotes = Arc<Vec<Arc<Quote>>>;

/// Everything that can be under way at the exchange.
struct AllSingleFlights {
    book: SingleFlight<(), Arc<Book>>,
    time: SingleFlight<(), Offset>,
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

    /// Tells `observer` of every request.
    pub fn observed(
        config: BinanceConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Fault> {
        config.streams.check()?;
        let client = Client::new(&config, Arc::clone(&clock), observer)?;
        let tasks = TaskTracker::new();
        let flights = AllSingleFlights {
            book: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
            time: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
            ping: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
            tickers: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
            bars: SingleFlight::new(&tasks, WhenAbandoned::Cancel),
            recent: SingleFlight::new(&tasks, WhenAbandoned::Cancel),
            first_open: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
        };
        let inner = Inner {
            quotes: QuoteCache::new(config.quotes_max),
            said_by: config.source.split(':').next().unwrap_or_default().to_owned(),
            config,
            clock,
            client,
            book: RwLock::new(None),
            offset: Mutex::new(None),
            first_opens: Mutex::new(HashMap::new()),
            pinged: Mutex::new(None),
            flights,
            streams: Streams::new(),
            tasks,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Whether the exchange can be relied on right now. Asks it only when nothing is known.
    pub async fn health(&self) -> VenueHealth {
        let breaker = self.inner.client.line.breaker.status();
        let now = self.inner.clock.now();
        if breaker == BreakerStatus::Open {
            return VenueHealth::Down;
        }
        if self.inner.client.budget.is_blocked(now) {
            return VenueHealth::Degraded;
        }
        match self.inner.ping(now).await {
            false => VenueHealth::Down,
            true if breaker == BreakerStatus::Failing => VenueHealth::Degraded,
            true => VenueHealth::Up,
        }
    }

    /// Ends what is followed and waits for what is still under way. Called once, when the house
    /// closes.
    pub async fn drain(&self) {
        self.inner.streams.stop.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }
}

impl Inner {
    async fn ping(self: &Arc<Self>, now: Millis) -> bool {
        let kept = *self.pinged.lock();
        if let Some((_, answered)) =
            kept.filter(|(at, _)| is_fresh(*at, now, self.config.health_age))
        {
            return answered;
        }
        let inner = Arc::clone(self);
        let work = async move { inner.client.get(Endpoint::Ping, &Vec::new()).await.map(drop) };
        let answered = self.flights.ping.run((), work).await.is_ok();
        *self.pinged.lock() = Some((now, answered));
        answered
    }
}

#[async_trait]
impl QuoteSource for Binance {
    async fn latest(&self, symbols: &[Symbol]) -> Result<Vec<Result<Arc<Quote>, Fault>>, Fault> {
        self.inner.latest(symbols).await
    }
}

#[async_trait]
impl BarSource for Binance {
    fn source(&self) -> &str {
        &self.inner.config.source
    }

    fn trading_hours(&self) -> TradingHours {
        TradingHours::AlwaysOpen
    }

    /// As long as its maintenances take: nothing is recorded meanwhile, and until a later row is
    /// there nobody can tell whether those before it do not exist or are late.
    fn publish_delay_max(&self) -> Duration {
        Duration::from_hours(12)
    }

    async fn bars(
        &self,
        code: &str,
        interval: Interval,
        span: TimeRange,
    ) -> Result<BarBatch, Fault> {
        self.inner.bars(code, interval, span).await.map(Arc::unwrap_or_clone)
    }

    async fn first_open(&self, code: &str, interval: Interval) -> Result<Option<Millis>, Fault> {
        self.inner.first_open(code, interval).await
    }
}

#[async_trait]
impl SymbolSource for Binance {
    async fn listing(&self) -> Result<Arc<Listing>, Fault> {
        Ok(Arc::clone(&self.inner.book().await?.listing))
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
        self.inner.recent(code, interval, limit).await.map(Arc::unwrap_or_clone)
    }
}

#[cfg(test)]
mod tests;
