//! The exchange's clock, which alone decides whether a bar is closed.

use std::sync::Arc;

use clock::Millis;
use fault::Fault;
use http_client::is_fresh;

use crate::Inner;
use crate::client::{Client, Endpoint};
use crate::wire::{ServerTime, is_plausible};

/// How far the exchange's clock is ahead of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offset {
    ahead_ms: i64,
    learnt_at: Millis,
}

impl Inner {
    /// Never later than the exchange's own clock, so that no forming bar is taken for a closed one.
    pub(crate) async fn server_now(self: &Arc<Self>) -> Result<Millis, Fault> {
        let kept = *self.offset.lock();
        let now = self.clock.now();
        let offset = match kept {
            Some(offset) if is_fresh(offset.learnt_at, now, self.config.server_time_age) => offset,
            Some(offset) => self.fetch_offset().await.unwrap_or(offset),
            None => self.fetch_offset().await?,
        };
        Ok(Millis(self.clock.now().0.saturating_add(offset.ahead_ms)))
    }

    /// The exchange's clock by what was last learnt of it, for deadlines; nothing is closed by it.
    pub(crate) fn server_now_about(&self) -> Millis {
        let kept = *self.offset.lock();
        let ahead_ms = kept.map_or(0, |offset| offset.ahead_ms);
        Millis(self.clock.now().0.saturating_add(ahead_ms))
    }

    async fn fetch_offset(self: &Arc<Self>) -> Result<Offset, Fault> {
        let inner = Arc::clone(self);
        let work = async move {
            let body = inner.client.get(Endpoint::Time, &Vec::new()).await?;
            // Taken after the answer: the exchange's clock has moved on since it was read.
            let now = inner.clock.now();
            let time: ServerTime = Client::read(Endpoint::Time, &body)?;
            if !is_plausible(time.server_time) {
                let message = format!("the exchange's clock reads {} ms", time.server_time);
                return Err(Fault::unavailable("upstream_malformed", message));
            }
            let offset = Offset { ahead_ms: time.server_time - now.0, learnt_at: now };
            *inner.offset.lock() = Some(offset);
            Ok(offset)
        };
        self.flights.time.run((), work).await
    }
}
