//! Moscow Exchange over its ISS interface: snapshots, quotes, candles, bars, candles as they form,
//! baskets of indices, search, dividends, splits and the calendar, through the ports of `market`.
//!
//! The exchange publishes no limits, so it is asked at a pace of our own, and as little as
//! possible: answers are kept for as long as they are true, identical questions are asked once,
//! pages are followed to the end, and what an answer lacks is said.

mod answer;
mod bars;
mod basket;
mod calendar;
mod candles;
mod client;
mod config;
mod days;
mod listing;
mod live;
mod number;
mod observer;
mod pace;
mod pages;
mod place;
mod ports;
mod quotes;
mod reference;
mod search;
mod sessions;
mod shelf;
mod snapshot;
mod symbols;
mod tables;
mod weights;
mod zone;

use parking_lot::Mutex;
use std::sync::Arc;

use clock::{Clock, Millis};
use fault::Fault;
use http_client::{BreakerStatus, SingleFlight, WhenAbandoned, is_fresh};
use jiff::civil::Date;
use market::{
    BarBatch, CandleRequest, Delay, Dividend, Interval, SecurityCandles, Split, VenueHealth,
};
use tokio_util::task::TaskTracker;

pub use self::config::{LiveConfig, MoexConfig};
pub use self::observer::{NoopObserver, Observer};

use self::bars::Borders;
use self::calendar::Timetable;
use self::client::{Client, Question};
use self::days::Closes;
use self::listing::{Board, Description};
use self::live::Live;
use self::place::Place;
use self::search::Finds;
use self::sessions::Sessions;
use self::shelf::Shelf;
use self::snapshot::Shot;
use self::symbols::Codes;
use self::weights::{IndexName, Weights};

/// The adapter. Clones share everything.
#[derive(Clone)]
pub struct Moex {
    inner: Arc<Inner>,
}

/// What the calls share; work that outlives its caller holds on to it.
pub(crate) struct Inner {
    config: MoexConfig,
    /// Who answers say they come from: the source without what tells one simulation from another.
    said_by: String,
    clock: Arc<dyn Clock>,
    client: Client,
    shelves: Shelves,
    flights: AllSingleFlights,
    /// The last answer to a ping, so that health checks do not become load.
    pinged: Mutex<Option<(Millis, bool)>>,
    live: Live,
    tasks: TaskTracker,
}

/// A security on a board.
type Spot = (Place, String);

/// Everything that is kept for a while.
struct Shelves {
    board: Shelf<(), Arc<Board>>,
    codes: Shelf<(), Codes>,
    descriptions: Shelf<String, Description>,
    shots: Shelf<Spot, Arc<Shot>>,
    candles: Shelf<CandleRequest, (Arc<SecurityCandles>, Delay)>,
    borders: Shelf<Spot, Borders>,
    indices: Shelf<(), Arc<Vec<IndexName>>>,
    weights: Shelf<(String, Date), Arc<Weights>>,
    closes: Shelf<Date, Closes>,
    finds: Shelf<String, Finds>,
    dividends: Shelf<String, Arc<Vec<Dividend>>>,
    splits: Shelf<(), Arc<Vec<Split>>>,
    timetable: Shelf<(), Arc<Timetable>>,
    /// By witness and the last day they tell of.
    sessions: Shelf<(&'static str, Date), Sessions>,
}

/// What is under way and not kept.
struct AllSingleFlights {
    bars: SingleFlight<(String, Interval, Millis, Millis), Arc<BarBatch>>,
    ping: SingleFlight<(), ()>,
}

impl Shelves {
    fn new(clock: &Arc<dyn Clock>, tasks: &TaskTracker) -> Self {
        // Long series are worth keeping for a few callers, not for all.
        const LARGE: usize = 64;
        const SMALL: usize = 2_048;
        use WhenAbandoned::{Cancel, RunToEnd};
        Self {
            board: Shelf::new(1, RunToEnd, clock, tasks),
            codes: Shelf::new(1, RunToEnd, clock, tasks),
            descriptions: Shelf::new(SMALL, RunToEnd, clock, tasks),
            shots: Shelf::new(SMALL, RunToEnd, clock, tasks),
            candles: Shelf::new(LARGE, Cancel, clock, tasks),
            borders: Shelf::new(SMALL, RunToEnd, clock, tasks),
            indices: Shelf::new(1, RunToEnd, clock, tasks),
            weights: Shelf::new(SMALL / 4, RunToEnd, clock, tasks),
            closes: Shelf::new(LARGE, RunToEnd, clock, tasks),
            finds: Shelf::new(SMALL / 8, RunToEnd, clock, tasks),
            dividends: Shelf::new(SMALL, RunToEnd, clock, tasks),
            splits: Shelf::new(1, RunToEnd, clock, tasks),
            timetable: Shelf::new(1, RunToEnd, clock, tasks),
            sessions: Shelf::new(SMALL / 8, RunToEnd, clock, tasks),
        }
    }
}

impl Moex {
    pub fn new(config: MoexConfig, clock: Arc<dyn Clock>) -> Result<Self, Fault> {
        Self::with_observer(config, clock, Arc::new(NoopObserver))
    }

    /// Tells `observer` of every request.
    pub fn with_observer(
        config: MoexConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Fault> {
        let client = Client::new(&config, Arc::clone(&clock), observer)?;
        let tasks = TaskTracker::new();
        let flights = AllSingleFlights {
            bars: SingleFlight::new(&tasks, WhenAbandoned::Cancel),
            ping: SingleFlight::new(&tasks, WhenAbandoned::RunToEnd),
        };
        let inner = Inner {
            said_by: config.source.split(':').next().unwrap_or_default().to_owned(),
            shelves: Shelves::new(&clock, &tasks),
            config,
            clock,
            client,
            flights,
            pinged: Mutex::new(None),
            live: Live::default(),
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
        if self.inner.client.pace.is_blocked(now) {
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
        self.inner.live.stop.cancel();
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
        let work = async move {
            inner.client.ask(&Question::new("engines", "engines", "engines")).await.map(drop)
        };
        let answered = self.flights.ping.run((), work).await.is_ok();
        *self.pinged.lock() = Some((now, answered));
        answered
    }
}

#[cfg(test)]
mod tests;
