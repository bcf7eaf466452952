//! Simulated exchange, adapter, service and WebSocket transport in one process, on a clock that runs 600
//! times as fast: a minute lasts 0.1 s.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::{Clock, Millis, SystemClock};
use contract::{Authenticator, CallRecord, Caller, Catalog, Credential, Meter, Pipeline, View};
use fault::Fault;
use limits::{RateLimit, RateLimiter};
use market::{BarArchive, HealthProbe, Venue, VenueHealth};
use market_bars::BarHistory;
use market_bars::BarStore;
use market_binance::{Binance, BinanceConfig};
use market_sim::{Sim, SimConfig, StreamRules};
use service_indicators::{Market, Tasks, VenueCandles};
use store::{Db, StoreConfig};
use testkit::TempFolder;
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use transport_http::{
    AllowedHosts, BodyLimits, ClientLimits, EdgeConfig, Limits, RequestMemory, ServerHealth,
    StreamOptions, SystemPages, TrustedProxies,
};

use crate::Outcome;

const SCALE: u32 = 600;
const SOURCE: &str = "simulated:7";

struct FastClock {
    began: Instant,
    start: Millis,
}

impl Clock for FastClock {
    fn now(&self) -> Millis {
        let passed = (self.began.elapsed() * SCALE).as_millis();
        Millis(self.start.0.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX)))
    }
}

pub(crate) struct BenchStack {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sim: Sim,
    pub(crate) binance: Arc<Binance>,
    /// The address that subscribers connect to.
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
    _folder: TempFolder,
}

impl BenchStack {
    pub(crate) async fn start() -> Outcome<Self> {
        let clock: Arc<dyn Clock> =
            Arc::new(FastClock { began: Instant::now(), start: SystemClock.now() });
        let tasks = Tasks { tracker: TaskTracker::new(), stop: CancellationToken::new() };
        let (sim, exchange) = exchange(&clock, &tasks).await?;
        let binance = Arc::new(Binance::new(scaled_config(exchange), Arc::clone(&clock))?);
        let folder = TempFolder::new();
        let config = StoreConfig { data_dir: folder.path().to_owned(), url: None };
        let db = Db::open(&config).await?;
        db.migrate(&[market_bars::MIGRATIONS]).await?;
        let archive: Arc<dyn BarArchive> = Arc::new(BarStore::new(db));
        let stop = tasks.stop.clone();
        let history =
            BarHistory::new(archive, Arc::clone(&clock), tasks.tracker.clone(), stop.clone());
        let venue = VenueCandles {
            source: SOURCE.to_owned(),
            symbols: Arc::clone(&binance) as _,
            bars: Some(Arc::clone(&binance) as _),
            live: Some(Arc::clone(&binance) as _),
        };
        let health: HealthProbe = Box::new(|| Box::pin(std::future::ready(VenueHealth::Up)));
        let market = Market {
            venues: BTreeMap::from([(Venue::Binance, venue)]),
            default_venue: Venue::Binance,
            history: Arc::new(history),
            health,
        };
        let service =
            service_indicators::service(market, Arc::clone(&clock), "bench", tasks.clone())?;
        let timeout = Duration::from_secs(30);
        let catalog = Catalog::new(vec![service])?;
        let pipeline = Pipeline::new(catalog, Arc::new(Open), Arc::new(Open), timeout);
        let address = serve(&Arc::new(pipeline), &tasks).await?;
        Ok(Self { clock, sim, binance, address, stop, _folder: folder })
    }
}

impl Drop for BenchStack {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn exchange(clock: &Arc<dyn Clock>, tasks: &Tasks) -> Outcome<(Sim, SocketAddr)> {
    let mut config = SimConfig::new(7, Arc::clone(clock));
    config.streams = StreamRules {
        time_scale: f64::from(SCALE),
        ping_every: Duration::from_millis(50),
        shutdown_notice: Duration::from_secs(1),
        messages_per_second: 100_000,
        ..StreamRules::default()
    };
    let sim = Sim::new(config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tasks.tracker.spawn(sim.clone().serve(listener, tasks.stop.clone()));
    Ok((sim, address))
}

/// The settings of production, divided by the speed of the clock where they are real time. Each series has
/// its own connection, so that more connections can break.
fn scaled_config(exchange: SocketAddr) -> BinanceConfig {
    let mut config = BinanceConfig::new(format!("http://{exchange}"), SOURCE);
    config.http.rate_limit_wait_max = Duration::ZERO;
    config.http.retry_wait = Duration::from_millis(1);
    config.http.retry_wait_max = Duration::from_millis(2);
    let streams = &mut config.streams;
    streams.connect_timeout = Duration::from_secs(2);
    streams.ack_timeout = Duration::from_secs(2);
    streams.silence_max = Duration::from_millis(120);
    streams.stream_silence = Duration::from_secs(2);
    streams.send_interval = Duration::from_millis(1);
    streams.backoff = Duration::from_millis(2);
    streams.backoff_max = Duration::from_millis(5);
    streams.gap_wait = Duration::from_millis(4);
    streams.close_grace = Duration::from_secs(6);
    streams.lag_wait = Duration::from_millis(4);
    streams.lag_wait_max = Duration::from_millis(30);
    streams.tick = Duration::from_millis(2);
    streams.idle_series_ttl = Duration::from_millis(50);
    streams.streams_per_connection = 1;
    config
}

async fn serve(pipeline: &Arc<Pipeline>, tasks: &Tasks) -> Outcome<SocketAddr> {
    let condition =
        || ServerHealth { status: "ok", provider: SOURCE.to_owned(), sources: Default::default() };
    let pages = SystemPages {
        version: "bench",
        health: Box::new(move || Box::pin(std::future::ready(condition()))),
        metrics: Box::new(|_| String::new()),
    };
    let view = View::default();
    // All clients have one address and reconnect ten thousand times.
    let client_limits = ClientLimits { open_max: 0, per_minute: 0 };
    let streams = StreamOptions { client_limits, ..StreamOptions::default() };
    let routes = transport_http::router(pipeline, &view, pages, &streams, &[]);
    let router = transport_http::with_edge(
        routes,
        EdgeConfig {
            limiter: RateLimiter::new(RateLimit { burst: 1, per_second: 0.0 }, 16),
            authenticator: Arc::clone(pipeline.authenticator()),
            hosts: AllowedHosts::Any,
            cors_origins: Vec::new(),
            own_origin: None,
            trusted_proxies: TrustedProxies::default(),
            memory: RequestMemory::default(),
            body: BodyLimits { bytes_max: 64 * 1024, timeout: Duration::from_secs(10) },
            meter: Box::new(|_, _, _, _| {}),
            on_rate_limited: Box::new(|| {}),
        },
    );
    let limits = Limits {
        connections_max: 1_000,
        connections_per_client_max: 0,
        trusted_proxies: TrustedProxies::default(),
        header_timeout: Duration::from_secs(10),
        shutdown_timeout: Duration::from_secs(1),
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let stop = tasks.stop.clone();
    tasks.tracker.spawn(transport_http::serve(listener, router, limits, stop, |_| {}));
    Ok(address)
}

/// Allows every read and records nothing.
struct Open;

#[async_trait]
impl Authenticator for Open {
    async fn authenticate(&self, _: &Credential, _: &str) -> Result<Caller, Fault> {
        Ok(Caller::new("bench", ["read".to_owned()]))
    }
}

impl Meter for Open {
    fn record(&self, _: &CallRecord<'_>) {}
}
