//! Queues pushes that are pending without a job: after the kill switch, after a full queue, or
//! where a job was lost. It also measures how many prices wait.

use std::sync::Arc;
use std::time::Duration;

use fault::Fault;
use store::Db;

use crate::push::PushMeter;
use crate::push::outbox::Outbox;
use crate::storage::pushes::{self, PushState};
use crate::storage::switch;

/// One pass queues at most this many pushes.
const PUSHES_PER_PASS: u32 = 500;

/// Repeats the search for pending pushes without a job.
pub(crate) struct Requeuer {
    pub(crate) db: Db,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) meter: Option<Arc<dyn PushMeter>>,
    pub(crate) interval: Duration,
}

impl Requeuer {
    /// Repeats passes until the future is dropped; each pass begins where the last one ended.
    pub(crate) async fn run(self) {
        let mut after = String::new();
        loop {
            after = match self.pass(&after).await {
                Ok(next) => next.unwrap_or_default(),
                Err(fault) => {
                    tracing::warn!(code = fault.code(), "waiting pushes were not queued: {fault}");
                    String::new()
                }
            };
            tokio::time::sleep(self.interval).await;
        }
    }

    async fn pass(&self, after: &str) -> Result<Option<String>, Fault> {
        self.measure().await?;
        match switch::is_on(&self.db).await? {
            true => Ok(None),
            false => self.outbox.enqueue_pending(&self.db, after, PUSHES_PER_PASS).await,
        }
    }

    async fn measure(&self) -> Result<(), Fault> {
        let Some(meter) = &self.meter else { return Ok(()) };
        let counts = pushes::counts(&self.db, None).await?;
        for target in self.outbox.targets() {
            let of = counts.iter().find(|it| it.target == target && it.state == PushState::Pending);
            meter.waiting(target, of.map_or(0, |it| it.count));
        }
        Ok(())
    }
}
