//! The venues this server has, opened once and shared by the services: live crypto, the Moscow
//! Exchange, and imported files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use market::{HealthProbe, StockExchange, Venue, VenueHealth};
use market_binance::{Binance, BinanceConfig, Observer};
use market_files::FileVenue;
use market_moex::{Moex, MoexConfig};
use market_sim::{Sim, SimConfig};
use service_indicators::VenueCandles;
use service_quotes::VenuePorts;
use telemetry::{GaugeHandle, Metrics};
use tokio::net::TcpListener;

use crate::app::Parts;
use crate::config::{MoexProvider, Provider};
use crate::exit::CommandError;

/// Where a bare symbol belongs.
pub(crate) const DEFAULT: Venue = Venue::Binance;

pub(crate) struct Venues {
    binance: Arc<Binance>,
    /// The name the exchange's bars are kept under.
    source: String,
    moex: Arc<Moex>,
    moex_source: String,
    files: Arc<FileVenue>,
}

impl Venues {
    pub(crate) async fn open(parts: &Parts<'_>) -> Result<Self, CommandError> {
        let simulated = Simulated::start_where_needed(parts).await?;
        let config = match &parts.config.provider {
            Provider::Binance(site) => site.adapter("binance")?,
            Provider::Simulated => BinanceConfig::new(&simulated.url, &simulated.source),
        };
        let moex = match &parts.config.moex {
            MoexProvider::Iss(url) => MoexConfig::new(url, "moex"),
            MoexProvider::Simulated => {
                MoexConfig::new(format!("{}/iss", simulated.url), &simulated.source)
            }
        };
        let source = config.source.clone();
        let watch = Arc::new(BinanceMetrics {
            metrics: Arc::clone(&parts.metrics),
            weight: parts.metrics.upstream_weight_used("binance"),
        });
        let binance = Arc::new(Binance::observed(config, Arc::clone(&parts.clock), watch)?);
        let moex_source = moex.source.clone();
        let watch = Arc::new(MoexMetrics(Arc::clone(&parts.metrics)));
        let moex = Arc::new(Moex::with_observer(moex, Arc::clone(&parts.clock), watch)?);
        let files = Arc::new(FileVenue::new(Arc::clone(&parts.archive)));
        Ok(Self { binance, source, moex, moex_source, files })
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
        let moex = VenuePorts {
            source: self.moex_source.clone(),
            quotes: Arc::clone(&self.moex) as _,
            symbols: Arc::clone(&self.moex) as _,
            bars: Some(Arc::clone(&self.moex) as _),
            health: self.moex_probe(),
        };
        BTreeMap::from([(Venue::Binance, binance), (Venue::Moex, moex), (Venue::File, files)])
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
        let moex = VenueCandles {
            source: self.moex_source.clone(),
            symbols: Arc::clone(&self.moex) as _,
            bars: Some(Arc::clone(&self.moex) as _),
            live: Some(Arc::clone(&self.moex) as _),
        };
        BTreeMap::from([(Venue::Binance, binance), (Venue::Moex, moex), (Venue::File, files)])
    }

    /// The Moscow Exchange, whole.
    pub(crate) fn stocks(&self) -> Arc<dyn StockExchange> {
        Arc::clone(&self.moex) as _
    }

    /// Where market data comes from.
    pub(crate) fn provider(&self) -> &str {
        self.source.split(':').next().unwrap_or_default()
    }

    /// Ends what is followed live.
    pub(crate) async fn close(&self) {
        tokio::join!(self.binance.drain(), self.moex.drain());
    }

    fn moex_probe(&self) -> HealthProbe {
        let moex = Arc::clone(&self.moex);
        Box::new(move || {
            let moex = Arc::clone(&moex);
            Box::pin(async move { moex.health().await })
        })
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

/// The simulated exchange, if any venue needs it.
#[derive(Default)]
struct Simulated {
    url: String,
    /// What its bars are kept under.
    source: String,
}

impl Simulated {
    /// Runs it on a loopback port of its own, so that the real adapters talk to it over the real
    /// wire.
    async fn start_where_needed(parts: &Parts<'_>) -> Result<Self, CommandError> {
        let config = parts.config;
        let real = matches!(config.provider, Provider::Binance(_))
            && matches!(config.moex, MoexProvider::Iss(_));
        if real {
            return Ok(Self::default());
        }
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let sim = Sim::new(SimConfig::new(config.sim_seed, Arc::clone(&parts.clock)));
        parts.tasks.spawn(sim.serve(listener, parts.stop.clone()));
        let source = format!("simulated:{}", config.sim_seed);
        Ok(Self { url: format!("http://{address}"), source })
    }
}

/// Counts what is asked of the exchange.
struct BinanceMetrics {
    metrics: Arc<Metrics>,
    weight: GaugeHandle,
}

impl Observer for BinanceMetrics {
    fn upstream(&self, endpoint: &'static str, outcome: &'static str, elapsed: Duration) {
        self.metrics.upstream("binance", endpoint).record(outcome, elapsed);
    }

    fn used_weight(&self, used: u32, _limit: u32) {
        self.weight.set(i64::from(used));
    }

    fn stream(&self, what: &'static str) {
        self.metrics.upstream_stream("binance", what);
    }
}

struct MoexMetrics(Arc<Metrics>);

impl market_moex::Observer for MoexMetrics {
    fn upstream(&self, endpoint: &'static str, outcome: &'static str, elapsed: Duration) {
        self.0.upstream("moex", endpoint).record(outcome, elapsed);
    }

    fn stream(&self, what: &'static str) {
        self.0.upstream_stream("moex", what);
    }
}
