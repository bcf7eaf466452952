//! The venues this server has, opened once and shared by the services: live crypto and imported
//! files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use exchange_sim::{Sim, SimConfig};
use market::{HealthProbe, Venue, VenueHealth};
use market_binance::{Binance, BinanceConfig, Observer};
use market_files::FileVenue;
use service_indicators::VenueCandles;
use service_quotes::VenuePorts;
use telemetry::{Level, Metrics};
use tokio::net::TcpListener;

use crate::app::Parts;
use crate::config::Provider;
use crate::exit::Failure;

/// Where a bare symbol belongs.
pub(crate) const DEFAULT: Venue = Venue::Binance;

pub(crate) struct Venues {
    binance: Arc<Binance>,
    /// The name the exchange's bars are kept under.
    source: String,
    files: Arc<FileVenue>,
}

impl Venues {
    pub(crate) async fn open(parts: &Parts<'_>) -> Result<Self, Failure> {
        let config = match &parts.config.provider {
            Provider::Binance(site) => site.adapter("binance")?,
            Provider::Simulated => {
                let seed = parts.config.sim_seed;
                let rest_url = start_simulated(parts, seed).await?;
                BinanceConfig::new(rest_url, format!("simulated:{seed}"))
            }
        };
        let source = config.source.clone();
        let watch = Arc::new(Watch {
            metrics: Arc::clone(&parts.metrics),
            weight: parts.metrics.upstream_weight_used("binance"),
        });
        let binance = Arc::new(Binance::observed(config, Arc::clone(&parts.clock), watch)?);
        let files = Arc::new(FileVenue::new(Arc::clone(&parts.archive)));
        Ok(Self { binance, source, files })
    }

    pub(crate) fn for_quotes(&self) -> BTreeMap<Venue, VenuePorts> {
        let binance = VenuePorts {
            source: self.source.clone(),
            quotes: Arc::clone(&self.binance) as _,
            symbols: Arc::clone(&self.binance) as _,
            bars: Some(Arc::clone(&self.binance) as _),
            health: self.probe(),
        };
        let files = VenuePorts {
            source: market_files::SOURCE.to_owned(),
            quotes: Arc::clone(&self.files) as _,
            symbols: Arc::clone(&self.files) as _,
            bars: None,
            health: Box::new(|| Box::pin(std::future::ready(VenueHealth::Up))),
        };
        BTreeMap::from([(Venue::Binance, binance), (Venue::File, files)])
    }

    pub(crate) fn for_candles(&self) -> BTreeMap<Venue, VenueCandles> {
        let binance = VenueCandles {
            source: self.source.clone(),
            symbols: Arc::clone(&self.binance) as _,
            bars: Some(Arc::clone(&self.binance) as _),
            live: Some(Arc::clone(&self.binance) as _),
        };
        let files = VenueCandles {
            source: market_files::SOURCE.to_owned(),
            symbols: Arc::clone(&self.files) as _,
            bars: None,
            live: None,
        };
        BTreeMap::from([(Venue::Binance, binance), (Venue::File, files)])
    }

    /// Where market data comes from.
    pub(crate) fn provider(&self) -> &str {
        self.source.split(':').next().unwrap_or_default()
    }

    /// Ends what is followed live.
    pub(crate) async fn close(&self) {
        self.binance.drain().await;
    }

    /// Asks the exchange how it is.
    pub(crate) fn probe(&self) -> HealthProbe {
        let binance = Arc::clone(&self.binance);
        Box::new(move || {
            let binance = Arc::clone(&binance);
            Box::pin(async move { binance.health().await })
        })
    }
}

/// Runs the simulated exchange on a loopback port of its own, so that the real adapter talks to it
/// over the real wire.
async fn start_simulated(parts: &Parts<'_>, seed: u64) -> Result<String, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let sim = Sim::new(SimConfig::new(seed, Arc::clone(&parts.clock)));
    parts.tasks.spawn(sim.serve(listener, parts.stop.clone()));
    Ok(format!("http://{address}"))
}

/// Counts what is asked of the exchange.
struct Watch {
    metrics: Arc<Metrics>,
    weight: Level,
}

impl Observer for Watch {
    fn upstream(&self, endpoint: &'static str, outcome: &'static str, elapsed: Duration) {
        self.metrics.upstream("binance", endpoint).record(outcome, elapsed);
    }

    fn used_weight(&self, used: u32, _limit: u32) {
        self.weight.set(i64::from(used));
    }
}
