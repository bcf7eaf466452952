//! The adapter of the Moscow Exchange's ISS interface: it implements the ports of `market` for
//! snapshots, quotes, candles, bars, live candles, index constituents, search, dividends, splits
//! and trading days.
//!
//! The exchange publishes no rate limit, so the adapter paces its own requests, caches responses,
//! runs identical requests once, follows all pages, and reports what a response lacks.

mod bars;
mod board_address;
mod calendar;
mod candles;
mod client;
mod closes;
mod code_listing;
mod config;
mod constituents;
#[doc(hidden)]
pub mod fuzzing;
mod listing;
mod live;
mod moscow_time;
mod number;
mod observer;
mod pacer;
mod pages;
mod ports;
mod quotes;
mod reference;
mod response;
mod search;
mod snapshot;
mod stale_cache;
mod tables;
mod traded_days;
mod venue_adapter;
mod weights;

use parking_lot::Mutex;
use std::sync::Arc;

use clock::{Clock, Millis};
use fault::Fault;
use http_client::{Fetch, SingleFlight, WhenAbandoned, is_fresh};
use jiff::civil::Date;
use market::{
    BarBatch, CandleRequest, Delay, Dividend, Interval, SecurityCandles, Split, VenueHealth,
};
use tokio_util::task::TaskTracker;

pub use self::config::{LiveConfig, MoexConfig};
pub use self::observer::{NoopObserver, Observer};

use self::bars::Borders;
use self::board_address::BoardAddress;
use self::calendar::Timetable;
use self::client::{Client, IssRequest};
use self::closes::Closes;
use self::code_listing::CodeListing;
use self::listing::{Board, Description};
use self::live::LiveSeriesRegistry;
use self::search::SearchResults;
use self::snapshot::DatedSnapshot;
use self::stale_cache::StaleCache;
use self::traded_days::TradedDates;
use self::weights::{IndexWeights, PublishedIndex};

/// The adapter of the Moscow Exchange. Clones share all state.
#[derive(Clone)]
pub struct Moex {
    inner: Arc<Inner>,
}

/// The state that all clones share; background tasks hold it, too.
pub(crate) struct Inner {
    config: MoexConfig,
    /// The source in freshness: the configured source without the seed of a simulation.
    source_label: String,
    clock: Arc<dyn Clock>,
    client: Client,
    caches: Caches,
    flights: InFlight,
    /// Time and result of the last ping, so that health checks send few requests.
    pinged: Mutex<Option<(Millis, bool)>>,
    live: LiveSeriesRegistry,
    tasks: TaskTracker,
}

/// A security on a board: the key of caches per listing.
type ListedOn = (BoardAddress, String);

/// The caches of all kinds of responses.
struct Caches {
    board: StaleCache<(), Arc<Board>>,
    codes: StaleCache<(), CodeListing>,
    descriptions: StaleCache<String, Description>,
    snapshots: StaleCache<ListedOn, Arc<DatedSnapshot>>,
    candles: StaleCache<CandleRequest, (Arc<SecurityCandles>, Delay)>,
    borders: StaleCache<ListedOn, Borders>,
    indices: StaleCache<(), Arc<Vec<PublishedIndex>>>,
    weights: StaleCache<(String, Date), Arc<IndexWeights>>,
    closes: StaleCache<Date, Closes>,
    searches: StaleCache<String, SearchResults>,
    dividends: StaleCache<String, Arc<Vec<Dividend>>>,
    splits: StaleCache<(), Arc<Vec<Split>>>,
    timetable: StaleCache<(), Arc<Timetable>>,
    /// By reference share and the last date that is cached.
    sessions: StaleCache<(&'static str, Date), TradedDates>,
}

/// Requests that run in single flight and are not cached.
struct InFlight {
    bars: SingleFlight<(String, Interval, Millis, Millis), Arc<BarBatch>>,
    ping: SingleFlight<(), ()>,
}

impl Caches {
    fn new(clock: &Arc<dyn Clock>, tasks: &TaskTracker) -> Self {
        // Long series take much memory, so few of them are cached.
        const LARGE: usize = 64;
        const SMALL: usize = 2_048;
        use WhenAbandoned::{Cancel, RunToEnd};
        Self {
            board: StaleCache::new(1, RunToEnd, clock, tasks),
            codes: StaleCache::new(1, RunToEnd, clock, tasks),
            descriptions: StaleCache::new(SMALL, RunToEnd, clock, tasks),
            snapshots: StaleCache::new(SMALL, RunToEnd, clock, tasks),
            candles: StaleCache::new(LARGE, Cancel, clock, tasks),
            borders: StaleCache::new(SMALL, RunToEnd, clock, tasks),
            indices: StaleCache::new(1, RunToEnd, clock, tasks),
            weights: StaleCache::new(SMALL / 4, RunToEnd, clock, tasks),
            closes: StaleCache::new(LARGE, RunToEnd, clock, tasks),
            searches: StaleCache::new(SMALL / 8, RunToEnd, clock, tasks),
            dividends: StaleCache::new(SMALL, RunToEnd, clock, tasks),
            splits: StaleCache::new(1, RunToEnd, clock, tasks),
            timetable: StaleCache::new(1, RunToEnd, clock, tasks),
            sessions: StaleCache::new(SMALL / 8, RunToEnd, clock, tasks),
        }
    }
}

impl Moex {
    pub fn new(config: MoexConfig, clock: Arc<dyn Clock>) -> Result<Self, Fault> {
        Self::with_observer(config, clock, Arc::new(NoopObserver))
    }

    /// Reports every request to `observer`.
    pub fn with_observer(
        config: MoexConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Fault> {
        Self::over_fetch(config, clock, observer, None)
    }

    /// Sends requests through `fetch`; `None` for HTTP over TCP and TLS.
    pub(crate) fn over_fetch(
        config: MoexConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
        fetch: Option<Arc<dyn Fetch>>,
    ) -> Result<Self, Fault> {
        let client = Client::new(&config, Arc::clone(&clock), observer, fetch)?;
        let tasks = TaskTracker::new();
        let flights = InFlight {
            bars: SingleFlight::new(&tasks, WhenAbandoned::Cancel),
            ping: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
        };
        let inner = Inner {
            source_label: config.source.split(':').next().unwrap_or_default().to_owned(),
            caches: Caches::new(&clock, &tasks),
            config,
            clock,
            client,
            flights,
            pinged: Mutex::new(None),
            live: LiveSeriesRegistry::default(),
            tasks,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The health of the exchange. It is pinged at most once in `health_age`.
    pub async fn health(&self) -> VenueHealth {
        market::VenueAdapter::health(self).await
    }

    /// Ends all subscriptions and waits for running requests. The server calls it once at shutdown.
    pub async fn drain(&self) {
        market::VenueAdapter::drain(self).await;
    }
}

impl Inner {
    async fn ping(self: &Arc<Self>, now: Millis) -> bool {
        let last_ping = *self.pinged.lock();
        if let Some((_, answered)) =
            last_ping.filter(|(at, _)| is_fresh(*at, now, self.config.health_age))
        {
            return answered;
        }
        let inner = Arc::clone(self);
        let work = async move {
            inner.client.fetch(&IssRequest::new("engines", "engines", "engines")).await.map(drop)
        };
        let answered = self.flights.ping.run((), work).await.is_ok();
        *self.pinged.lock() = Some((now, answered));
        answered
    }
}

#[cfg(test)]
mod tests;
