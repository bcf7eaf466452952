//! The venues this server has, as the services see them: live crypto and imported files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use exchange_sim::{Sim, SimConfig};
use market::Venue;
use market_binance::{Binance, BinanceConfig, Observer};
use market_files::FileVenue;
use service_quotes::VenuePorts;
use telemetry::{Level, Metrics};
use tokio::net::TcpListener;

use crate::app::Parts;
use crate::config::Provider;
use crate::exit::Failure;

pub(crate) async fn all(parts: &Parts<'_>) -> Result<BTreeMap<Venue, VenuePorts>, Failure> {
    let mut venues = BTreeMap::new();
    venues.insert(Venue::Binance, binance(parts).await?);
    venues.insert(Venue::File, files(parts));
    Ok(venues)
}

async fn binance(parts: &Parts<'_>) -> Result<VenuePorts, Failure> {
    let (rest_url, source) = match &parts.config.provider {
        Provider::Binance { rest_url } => (rest_url.clone(), "binance".to_owned()),
        Provider::Simulated => {
            let seed = parts.config.sim_seed;
            (start_simulated(parts, seed).await?, format!("simulated:{seed}"))
        }
    };
    let config = BinanceConfig::new(rest_url, source.clone());
    let watch = Arc::new(Watch {
        metrics: Arc::clone(&parts.metrics),
        weight: parts.metrics.upstream_weight_used("binance"),
    });
    let venue = Arc::new(Binance::observed(config, Arc::clone(&parts.clock), watch)?);
    let health = Arc::clone(&venue);
    Ok(VenuePorts {
        source,
        quotes: Arc::clone(&venue) as _,
        symbols: Arc::clone(&venue) as _,
        bars: Some(venue),
        health: Box::new(move || {
            let venue = Arc::clone(&health);
            Box::pin(async move { venue.health().await })
        }),
    })
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

fn files(parts: &Parts<'_>) -> VenuePorts {
    let venue = Arc::new(FileVenue::new(Arc::clone(&parts.archive)));
    VenuePorts {
        source: market_files::SOURCE.to_owned(),
        quotes: Arc::clone(&venue) as _,
        symbols: venue,
        bars: None,
        health: Box::new(|| Box::pin(std::future::ready(market::VenueHealth::Up))),
    }
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
