//! The adapter against the simulated exchange, in memory and on paused time: a wait ends as soon as
//! every task waits, so no test depends on the speed of the machine.

mod bars;
mod faults;
mod in_memory;
mod quotes;
mod streams;

use parking_lot::Mutex;

use clock::{DAY_MS, parse_date};
use market::Venue;
use market_sim::{Endpoint, FaultKind, InjectedFault, Sim, SimConfig};
use testkit::{FakeClock, TokioClock};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::in_memory::InMemoryExchange;
use super::*;

/// What the adapter reported about its requests.
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

/// An exchange, an adapter that is connected to it, and the clock of both.
struct Fixture {
    sim: Sim,
    exchange: Arc<InMemoryExchange>,
    clock: Arc<FakeClock>,
    binance: Binance,
    recorder: Arc<Recorder>,
}

fn day(text: &str) -> i64 {
    Millis::start_of(parse_date(text).unwrap()).0
}

/// Bars of every interval are forming at this moment.
fn now() -> i64 {
    day("2026-11-14") + 12 * 3_600_000 + 20 * 60_000 + 31_250
}

const URL: &str = "http://exchange.test";

/// Does not wait for rate limits.
fn config(url: &str) -> BinanceConfig {
    let mut config = BinanceConfig::new(url, "simulated:7");
    config.http.rate_limit_wait_max = Duration::ZERO;
    config
}

async fn fixture() -> Fixture {
    fixture_with(|_| {}).await
}

async fn fixture_with(change: impl FnOnce(&mut BinanceConfig)) -> Fixture {
    fixture_at(now(), change).await
}

async fn fixture_at(now: i64, change: impl FnOnce(&mut BinanceConfig)) -> Fixture {
    let clock = Arc::new(FakeClock::new(Millis(now)));
    let sim = Sim::new(SimConfig::new(7, Arc::clone(&clock) as Arc<dyn Clock>));
    let exchange = InMemoryExchange::new(&sim);
    let mut config = config(URL);
    change(&mut config);
    let recorder = Arc::new(Recorder::default());
    let observer = Arc::clone(&recorder) as Arc<dyn Observer>;
    let network = exchange.network();
    let binance =
        Binance::over_network(config, Arc::clone(&clock) as Arc<dyn Clock>, observer, network)
            .unwrap();
    Fixture { sim, exchange, clock, binance, recorder }
}

/// An adapter of its own for an exchange.
fn adapter(
    exchange: &Arc<InMemoryExchange>,
    config: BinanceConfig,
    clock: Arc<dyn Clock>,
) -> Binance {
    Binance::over_network(config, clock, Arc::new(Unobserved), exchange.network()).unwrap()
}

impl Fixture {
    fn inject(&self, fault: InjectedFault) {
        self.sim.faults().add(fault).unwrap();
    }

    fn requests(&self, endpoint: Endpoint) -> u64 {
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

/// The only test of this crate that uses real sockets and real time for both protocols.
#[tokio::test]
async fn the_adapter_reads_over_real_sockets() {
    use market::{KlineEvent, LiveKlines, SubscribeOptions};
    let clock: Arc<dyn Clock> = Arc::new(TokioClock::new(Millis(now())));
    let sim = Sim::new(SimConfig::new(7, Arc::clone(&clock)));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut server = JoinSet::new();
    server.spawn(sim.clone().serve(listener, CancellationToken::new()));
    let binance = Binance::new(config(&url), clock).unwrap();
    assert_eq!(binance.health().await, VenueHealth::Up);
    assert!(binance.latest(&symbols(&["BTCUSDT"])).await.unwrap()[0].is_ok());
    let mut feed =
        binance.subscribe("BTCUSDT", Interval::M1, SubscribeOptions::default()).await.unwrap();
    assert_eq!(*feed.next().await.unwrap(), KlineEvent::Connected);
    assert!(matches!(&*feed.next().await.unwrap(), KlineEvent::Candle { .. }));
    binance.drain().await;
}
