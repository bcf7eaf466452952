//! `Binance` as the server registers it.

use std::sync::Arc;

use async_trait::async_trait;
use http_client::BreakerStatus;
use market::{BarSource, LiveKlines, Venue, VenueAdapter, VenueHealth};

use crate::Binance;

#[async_trait]
impl VenueAdapter for Binance {
    fn venue(&self) -> Venue {
        Venue::Binance
    }

    fn source(&self) -> &str {
        &self.shared.config.source
    }

    fn bars(self: Arc<Self>) -> Option<Arc<dyn BarSource>> {
        Some(self)
    }

    fn live(self: Arc<Self>) -> Option<Arc<dyn LiveKlines>> {
        Some(self)
    }

    fn breaker_health(&self) -> VenueHealth {
        match self.shared.client.transport.breaker.status() {
            BreakerStatus::Open => VenueHealth::Down,
            BreakerStatus::Failing => VenueHealth::Degraded,
            _ => VenueHealth::Up,
        }
    }

    fn is_blocked(&self) -> bool {
        self.shared.client.budget.is_blocked(self.shared.clock.now())
    }

    async fn ping(&self) -> bool {
        self.shared.ping(self.shared.clock.now()).await
    }

    async fn drain(&self) {
        self.shared.streams.stop.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }
}
