//! The port to one venue as a whole. A server registers each venue as one [`VenueAdapter`].

use std::sync::Arc;

use async_trait::async_trait;

use crate::{BarSource, HealthProbe, LiveKlines, QuoteSource, SymbolSource, Venue, VenueHealth};

/// Everything a server needs of a venue: quotes and symbols always, bars and live candles if the
/// venue has them, and its health.
#[async_trait]
pub trait VenueAdapter: QuoteSource + SymbolSource + 'static {
    /// The venue whose symbols this adapter serves.
    fn venue(&self) -> Venue;

    /// The name under which the archive stores the venue's bars, such as `binance` or
    /// `simulated:42`.
    fn source(&self) -> &str;

    /// The source without the part that tells one simulation from another, as answers show it.
    fn source_label(&self) -> &str {
        self.source().split(':').next().unwrap_or_default()
    }

    /// Historical bars; `None` if the archive already has everything, as for imported files.
    fn bars(self: Arc<Self>) -> Option<Arc<dyn BarSource>> {
        None
    }

    /// Candles as they form; `None` if nothing is traded, as for imported files.
    fn live(self: Arc<Self>) -> Option<Arc<dyn LiveKlines>> {
        None
    }

    /// What the circuit breaker knows without a request: open = down, failing = degraded.
    fn breaker_health(&self) -> VenueHealth {
        VenueHealth::Up
    }

    /// Whether the venue has told us to send no requests for a while.
    fn is_blocked(&self) -> bool {
        false
    }

    /// Whether the venue answers. Implementations cache the answer.
    async fn ping(&self) -> bool {
        true
    }

    /// Whether the venue can be relied on now. Pings it only if nothing else decides.
    async fn health(&self) -> VenueHealth {
        let breaker = self.breaker_health();
        if breaker == VenueHealth::Down {
            return VenueHealth::Down;
        }
        if self.is_blocked() {
            return VenueHealth::Degraded;
        }
        if self.ping().await { breaker } else { VenueHealth::Down }
    }

    /// Ends all live subscriptions and waits for requests under way. Called once, at shutdown.
    async fn drain(&self) {}
}

/// A probe that asks `adapter` for its health.
pub fn health_probe(adapter: &Arc<dyn VenueAdapter>) -> HealthProbe {
    let adapter = Arc::clone(adapter);
    Box::new(move || {
        let adapter = Arc::clone(&adapter);
        Box::pin(async move { adapter.health().await })
    })
}
