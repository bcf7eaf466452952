//! The adapter against the simulated exchange, over a real socket.

mod bars;
mod faults;
mod quotes;
mod streams;

use parking_lot::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use clock::{DAY_MS, parse_date};
use market::Venue;
use market_sim::{Endpoint as Served, FaultKind, InjectedFault as Trouble, Sim, SimConfig};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::*;

struct FakeClock(AtomicI64);

impl FakeClock {
    fn at(now: i64) -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(now)))
    }

    fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_millis() as i64, Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}

/// What the adapter told of its requests.
#[derive(Default)]
struct Recorder {
    outcomes: Mutex<Vec<(&'static str, &'static str)>>,
    weights: Mutex<Vec<(u32, u32)>>,
}

impl Observer for Recorder {
    fn upstream(&self, endpoint: &'static str, outcome: &'static str, _elapsed: Duration) {
        self.outcomes.lock().push((endpoint, outcome));
    }

    fn used_weight(&self, used: u32, limit: u32) {
        self.weights.lock().push((used, limit));
    }
}

/// An exchange, an adapter that talks to it, and the clock that both go by.
struct World {
    sim: Sim,
    url: String,
    clock: Arc<FakeClock>,
    binance: Binance,
    seen: Arc<Recorder>,
    /// Ends the exchange with the world.
    _server: JoinSet<()>,
}

fn day(text: &str) -> i64 {
    Millis::start_of(parse_date(text).unwrap()).0
}

/// Bars of every interval are forming at this moment.
fn now() -> i64 {
    day("2026-11-14") + 12 * 3_600_000 + 20 * 60_000 + 31_250
}

/// Quick to retry, and without patience.
fn config(url: &str) -> BinanceConfig {
    let mut config = BinanceConfig::new(url, "simulated:7");
    config.http.rate_limit_wait_max = Duration::ZERO;
    config.http.retry_wait = Duration::from_millis(1);
    config.http.retry_wait_max = Duration::from_millis(2);
    config
}

async fn world() -> World {
    world_with(|_| {}).await
}

async fn world_with(change: impl FnOnce(&mut BinanceConfig)) -> World {
    world_at(now(), change).await
}

async fn world_at(now: i64, change: impl FnOnce(&mut BinanceConfig)) -> World {
    let clock = FakeClock::at(now);
    let sim = Sim::new(SimConfig::new(7, Arc::clone(&clock) as Arc<dyn Clock>));
    let (url, server) = serve(&sim).await;
    let mut config = config(&url);
    change(&mut config);
    let seen = Arc::new(Recorder::default());
    let observer = Arc::clone(&seen) as Arc<dyn Observer>;
    let binance =
        Binance::observed(config, Arc::clone(&clock) as Arc<dyn Clock>, observer).unwrap();
    World { sim, url, clock, binance, seen, _server: server }
}

async fn serve(sim: &Sim) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut server = JoinSet::new();
    server.spawn(sim.clone().serve(listener, CancellationToken::new()));
    (url, server)
}

impl World {
    fn trouble(&self, trouble: Trouble) {
        self.sim.faults().add(trouble).unwrap();
    }

    fn requests(&self, endpoint: Served) -> u64 {
        self.sim.requests(endpoint)
    }

    async fn latest(&self, codes: &[&str]) -> Result<Vec<Result<Arc<Quote>, Fault>>, Fault> {
        self.binance.latest(&symbols(codes)).await
    }

    async fn quote(&self, code: &str) -> Arc<Quote> {
        self.latest(&[code]).await.unwrap().remove(0).unwrap()
    }

    async fn bars(&self, interval: Interval, from: i64, to: i64) -> Result<BarBatch, Fault> {
        self.binance.bars("BTCUSDT", interval, TimeRange::new(Millis(from), Millis(to))).await
    }
}

fn symbols(codes: &[&str]) -> Vec<Symbol> {
    let symbol = |code: &&str| Symbol { venue: Venue::Binance, code: (*code).to_owned() };
    codes.iter().map(symbol).collect()
}
