//! The venues of this server, opened once and shared by the services. A new venue is one line in
//! [`Venues::open`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use market::{HealthProbe, SIMULATED, StockExchange, Venue, VenueAdapter, health_probe};
use market_binance::{Binance, BinanceConfig, Observer};
use market_files::FileVenue;
use market_moex::{Moex, MoexConfig};
use market_sim::{Sim, SimConfig};
use telemetry::{GaugeHandle, Metrics};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::Parts;
use crate::config::{MoexProvider, Provider};
use crate::exit::CommandError;

/// The venue of a symbol without a prefix.
pub(crate) const DEFAULT: Venue = Venue::Binance;

pub(crate) struct Venues {
    adapters: Vec<Arc<dyn VenueAdapter>>,
    default: Arc<dyn VenueAdapter>,
    stocks: Arc<dyn StockExchange>,
}

impl Venues {
    pub(crate) async fn open(parts: &Parts<'_>) -> Result<Self, CommandError> {
        let simulated = Simulated::start_if_needed(parts).await?;
        let binance = binance(parts, &simulated)?;
        let moex = moex(parts, &simulated)?;
        Ok(Self {
            default: Arc::clone(&binance) as _,
            stocks: Arc::clone(&moex) as _,
            adapters: vec![binance, moex, Arc::new(FileVenue::new(Arc::clone(&parts.archive)))],
        })
    }

    /// Each venue as a service needs it.
    pub(crate) fn ports<P: From<Arc<dyn VenueAdapter>>>(&self) -> BTreeMap<Venue, P> {
        let port = |adapter: &Arc<dyn VenueAdapter>| (adapter.venue(), Arc::clone(adapter).into());
        self.adapters.iter().map(port).collect()
    }

    /// The Moscow Exchange with its securities, indices and calendar.
    pub(crate) fn stocks(&self) -> Arc<dyn StockExchange> {
        Arc::clone(&self.stocks)
    }

    /// Where the data of the default venue come from, as `/health` shows it.
    pub(crate) fn provider(&self) -> &str {
        self.default.source_label()
    }

    /// Where the data of a venue come from, as answers show it.
    pub(crate) fn source(&self, venue: Venue) -> &str {
        let found = self.adapters.iter().find(|adapter| adapter.venue() == venue);
        found.map(|adapter| adapter.source_label()).unwrap_or_default()
    }

    /// By venue, where its data come from.
    pub(crate) fn sources(&self) -> BTreeMap<String, String> {
        let named = |adapter: &Arc<dyn VenueAdapter>| {
            (adapter.venue().prefix().to_lowercase(), adapter.source_label().to_owned())
        };
        self.adapters.iter().map(named).collect()
    }

    /// The health of the default venue.
    pub(crate) fn probe(&self) -> HealthProbe {
        health_probe(&self.default)
    }

    /// Asks each real exchange for its symbols in the background, and logs which cannot be reached.
    pub(crate) fn check_in_background(&self, tasks: &TaskTracker, stop: &CancellationToken) {
        let real = |adapter: &&Arc<dyn VenueAdapter>| {
            adapter.venue() != Venue::File && adapter.source_label() != SIMULATED
        };
        for adapter in self.adapters.iter().filter(real) {
            let (adapter, stop) = (Arc::clone(adapter), stop.clone());
            tasks.spawn(async move {
                let listing = tokio::select! {
                    listing = adapter.listing() => listing,
                    () = stop.cancelled() => return,
                };
                if let Err(fault) = listing {
                    let venue = adapter.venue().prefix();
                    tracing::warn!(venue, code = fault.code(), "{fault}");
                }
            });
        }
    }

    /// Ends all live subscriptions of all venues.
    pub(crate) async fn close(&self) {
        let drains = self.adapters.iter().map(|adapter| adapter.drain());
        futures_util::future::join_all(drains).await;
    }
}

fn binance(parts: &Parts<'_>, simulated: &Simulated) -> Result<Arc<Binance>, CommandError> {
    let config = match &parts.config.provider {
        Provider::Binance(site) => site.adapter("binance")?,
        Provider::Simulated => BinanceConfig::new(&simulated.url, &simulated.source),
    };
    let metrics = BinanceMetrics {
        metrics: Arc::clone(&parts.metrics),
        weight: parts.metrics.upstream_weight_used("binance"),
    };
    Ok(Arc::new(Binance::observed(config, Arc::clone(&parts.clock), Arc::new(metrics))?))
}

fn moex(parts: &Parts<'_>, simulated: &Simulated) -> Result<Arc<Moex>, CommandError> {
    let config = match &parts.config.moex {
        MoexProvider::Iss(url) => MoexConfig::new(url, "moex"),
        MoexProvider::Simulated => {
            MoexConfig::new(format!("{}/iss", simulated.url), &simulated.source)
        }
    };
    let metrics = MoexMetrics(Arc::clone(&parts.metrics));
    Ok(Arc::new(Moex::with_observer(config, Arc::clone(&parts.clock), Arc::new(metrics))?))
}

/// The simulated exchange, if a venue uses it.
#[derive(Default)]
struct Simulated {
    url: String,
    /// The name under which the archive stores its bars.
    source: String,
}

impl Simulated {
    /// Runs it on its own loopback port, so that the real adapters speak their real protocols to it.
    async fn start_if_needed(parts: &Parts<'_>) -> Result<Self, CommandError> {
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

/// Counts requests to Binance, their weight and stream events.
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

/// Counts requests to the Moscow Exchange and stream events.
struct MoexMetrics(Arc<Metrics>);

impl market_moex::Observer for MoexMetrics {
    fn upstream(&self, endpoint: &'static str, outcome: &'static str, elapsed: Duration) {
        self.0.upstream("moex", endpoint).record(outcome, elapsed);
    }

    fn stream(&self, what: &'static str) {
        self.0.upstream_stream("moex", what);
    }
}
