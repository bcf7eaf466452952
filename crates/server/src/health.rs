//! The health of the server for `/health`. Any client may ask often, so the result is cached for a
//! second.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use market::{HealthProbe, VenueHealth};
use market_bars::BarHistory;
use tokio::time::{Instant, timeout};
use transport_http::{ServerHealth, ServerHealthProbe};

/// How long a result is cached.
const AGE_MAX: Duration = Duration::from_secs(1);
/// The timeout of the exchange's health check; the archive has a timeout of its own.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) struct HealthMonitor {
    exchange: HealthProbe,
    history: Arc<BarHistory>,
    provider: String,
    /// By venue, where its data come from.
    sources: BTreeMap<String, String>,
    seen: Mutex<Option<(Instant, &'static str)>>,
}

impl HealthMonitor {
    pub(crate) fn new(exchange: HealthProbe, history: Arc<BarHistory>, provider: &str) -> Self {
        let (provider, sources) = (provider.to_owned(), BTreeMap::new());
        Self { exchange, history, provider, sources, seen: Mutex::default() }
    }

    pub(crate) fn with_sources(self, sources: BTreeMap<String, String>) -> Self {
        Self { sources, ..self }
    }

    pub(crate) fn probe(self) -> ServerHealthProbe {
        let watcher = Arc::new(self);
        Box::new(move || {
            let watcher = Arc::clone(&watcher);
            Box::pin(async move { watcher.health().await })
        })
    }

    async fn health(&self) -> ServerHealth {
        let seen = *self.seen.lock();
        let status = match seen.filter(|(at, _)| at.elapsed() < AGE_MAX) {
            Some((_, status)) => status,
            None => {
                let status = self.check().await;
                let now = Some((Instant::now(), status));
                *self.seen.lock() = now;
                status
            }
        };
        let (provider, sources) = (self.provider.clone(), self.sources.clone());
        ServerHealth { status, provider, sources }
    }

    async fn check(&self) -> &'static str {
        let exchange = timeout(CHECK_TIMEOUT, (self.exchange)());
        match tokio::join!(exchange, self.history.check()) {
            (Ok(VenueHealth::Down), _) | (_, Err(_)) => "error",
            (Ok(VenueHealth::Degraded) | Err(_), Ok(())) => "degraded",
            (Ok(VenueHealth::Up), Ok(())) => "ok",
        }
    }
}
