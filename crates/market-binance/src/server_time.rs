//! The exchange's clock, which decides whether a bar is closed.

use std::sync::Arc;

use clock::Millis;
use fault::Fault;
use http_client::is_fresh;

use crate::BinanceShared;
use crate::client::{Endpoint, RestClient};
use crate::wire::{ServerTime, is_plausible};

/// How far the exchange's clock is ahead of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockOffset {
    ahead_ms: i64,
    learnt_at: Millis,
}

impl BinanceShared {
    /// Never later than the exchange's clock, so that no forming bar counts as closed.
    pub(crate) async fn server_now(self: &Arc<Self>) -> Result<Millis, Fault> {
        let offset_now = *self.offset.lock();
        let now = self.clock.now();
        let offset = match offset_now {
            Some(offset) if is_fresh(offset.learnt_at, now, self.config.server_time_age) => offset,
            Some(offset) => self.fetch_offset().await.unwrap_or(offset),
            None => self.fetch_offset().await?,
        };
        Ok(Millis(self.clock.now().0.saturating_add(offset.ahead_ms)))
    }

    /// The exchange's clock by the last known offset, for deadlines only.
    pub(crate) fn server_now_about(&self) -> Millis {
        let offset_now = *self.offset.lock();
        let ahead_ms = offset_now.map_or(0, |offset| offset.ahead_ms);
        Millis(self.clock.now().0.saturating_add(ahead_ms))
    }

    async fn fetch_offset(self: &Arc<Self>) -> Result<ClockOffset, Fault> {
        let shared = Arc::clone(self);
        let work = async move {
            let body = shared.client.get(Endpoint::Time, &Vec::new()).await?;
            // Read after the response, so the offset is never too large.
            let now = shared.clock.now();
            let time: ServerTime = RestClient::read(Endpoint::Time, &body)?;
            if !is_plausible(time.server_time) {
                let message = format!("the exchange's clock reads {} ms", time.server_time);
                return Err(Fault::unavailable("upstream_malformed", message));
            }
            let offset = ClockOffset { ahead_ms: time.server_time - now.0, learnt_at: now };
            *shared.offset.lock() = Some(offset);
            Ok(offset)
        };
        self.single_flights.time.run((), work).await
    }
}
