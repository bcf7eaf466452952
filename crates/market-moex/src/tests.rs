//! Tests of the adapter against the simulated exchange, in memory and on paused time: a wait ends as
//! soon as every task waits, so no test depends on the speed of the machine.

mod constituents;
mod faults;
mod prices;
mod reference;
mod series;
mod streams;

use std::time::Duration;

use clock::parse_date;
use http_client::InMemoryFetch;
use market::{
    CandleSource, CandleStep, IndexConstituents, IndexSource, SecuritySnapshot, SecuritySource,
    Symbol, Venue, WithFreshness,
};
use market_sim::{FaultKind, InjectedFault, Sim, SimConfig};
use testkit::FakeClock;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::*;

/// The requests that the adapter reported.
#[derive(Default)]
struct Recorder(Mutex<Vec<(&'static str, &'static str)>>);

impl Observer for Recorder {
    fn upstream(&self, endpoint: &'static str, outcome: &'static str, _elapsed: Duration) {
        self.0.lock().push((endpoint, outcome));
    }
}

/// An exchange, an adapter that uses it, and the clock of both.
struct Fixture {
    sim: Sim,
    clock: Arc<FakeClock>,
    moex: Moex,
    recorder: Arc<Recorder>,
    /// Ends the exchange with the fixture.
    _server: DropGuard,
}

/// A time in Moscow.
fn moscow(text: &str) -> Millis {
    moscow_time::to_instant(text.parse().unwrap()).0
}

fn date(text: &str) -> Date {
    parse_date(text).unwrap()
}

/// A Wednesday, in the middle of the main session.
const NOON: &str = "2026-11-11T12:20:31";

const URL: &str = "http://exchange.test";

/// Retries within milliseconds, refuses a request that the pacer would delay, and has no rate
/// limit.
fn config(url: &str) -> MoexConfig {
    let mut config = MoexConfig {
        requests_per_second: 1_000_000,
        burst: 1_000_000,
        ..MoexConfig::new(format!("{url}/iss"), "simulated:7")
    };
    config.http.rate_limit_wait_max = Duration::ZERO;
    config.http.retry_wait = Duration::from_millis(1);
    config.http.retry_wait_max = Duration::from_millis(2);
    config
}

async fn fixture() -> Fixture {
    fixture_at(NOON, |_| {}).await
}

async fn fixture_at(now: &str, change: impl FnOnce(&mut MoexConfig)) -> Fixture {
    let clock = Arc::new(FakeClock::new(moscow(now)));
    let sim = Sim::new(SimConfig::new(7, Arc::clone(&clock) as Arc<dyn Clock>));
    let cancel = CancellationToken::new();
    let server = sim.serve_in_memory(cancel.clone());
    let fetch = InMemoryFetch::new(format!("{URL}/iss"), move || Ok(server.connect()));
    let mut config = config(URL);
    change(&mut config);
    let recorder = Arc::new(Recorder::default());
    let observer = Arc::clone(&recorder) as Arc<dyn Observer>;
    let own_clock = Arc::clone(&clock) as Arc<dyn Clock>;
    let moex = Moex::over_fetch(config, own_clock, observer, Some(Arc::new(fetch))).unwrap();
    Fixture { sim, clock, moex, recorder, _server: cancel.drop_guard() }
}

impl Fixture {
    fn inject(&self, injected: InjectedFault) {
        self.sim.faults().add(injected).unwrap();
    }

    /// The number of requests of a kind.
    fn request_count(&self, kind: &str) -> usize {
        self.recorder.0.lock().iter().filter(|(endpoint, _)| *endpoint == kind).count()
    }

    async fn snapshot(&self, code: &str) -> Result<WithFreshness<Arc<SecuritySnapshot>>, Fault> {
        self.moex.snapshot(code, None).await
    }

    async fn candles(
        &self,
        code: &str,
        step: CandleStep,
        from: &str,
        to: &str,
    ) -> Result<WithFreshness<Arc<SecurityCandles>>, Fault> {
        let (from, to) = (date(from), date(to));
        let request = CandleRequest { code: code.to_owned(), board: None, step, from, to };
        self.moex.candles(&request).await
    }

    async fn constituents(
        &self,
        index: &str,
        day: &str,
    ) -> Result<WithFreshness<Arc<IndexConstituents>>, Fault> {
        self.moex.constituents(index, date(day)).await
    }
}

fn symbols(codes: &[&str]) -> Vec<Symbol> {
    let symbol = |code: &&str| Symbol { venue: Venue::Moex, code: (*code).to_owned() };
    codes.iter().map(symbol).collect()
}

/// The only test of this crate that reads over a real socket.
#[tokio::test]
async fn the_adapter_reads_over_a_real_socket() {
    let clock: Arc<dyn Clock> = Arc::new(FakeClock::new(moscow(NOON)));
    let sim = Sim::new(SimConfig::new(7, Arc::clone(&clock)));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut server = JoinSet::new();
    server.spawn(sim.clone().serve(listener, CancellationToken::new()));
    let moex = Moex::new(config(&url), clock).unwrap();
    assert!(moex.snapshot("SBER", None).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_adapter_implements_stock_exchange() {
    let fixture = fixture().await;
    let exchange: Arc<dyn market::StockExchange> = Arc::new(fixture.moex.clone());
    assert!(exchange.snapshot("SBER", Some("TQBR")).await.is_ok());
}
