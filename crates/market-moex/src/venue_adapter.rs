//! `Moex` as the server registers it.

use std::sync::Arc;

use async_trait::async_trait;
use http_client::BreakerStatus;
use market::{BarSource, LiveKlines, Venue, VenueAdapter, VenueHealth};

use crate::Moex;

#[async_trait]
impl VenueAdapter for Moex {
    fn venue(&self) -> Venue {
        Venue::Moex
    }

    fn source(&self) -> &str {
        &self.inner.config.source
    }

    fn bars(self: Arc<Self>) -> Option<Arc<dyn BarSource>> {
        Some(self)
    }

    fn live(self: Arc<Self>) -> Option<Arc<dyn LiveKlines>> {
        Some(self)
    }

    fn breaker_health(&self) -> VenueHealth {
        match self.inner.client.transport.breaker.status() {
            BreakerStatus::Open => VenueHealth::Down,
            BreakerStatus::Failing => VenueHealth::Degraded,
            _ => VenueHealth::Up,
        }
    }

    fn is_blocked(&self) -> bool {
        self.inner.client.pacer.is_blocked(self.inner.clock.now())
    }

    async fn ping(&self) -> bool {
        self.inner.ping(self.inner.clock.now()).await
    }

    async fn drain(&self) {
        self.inner.live.stop.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }
}
