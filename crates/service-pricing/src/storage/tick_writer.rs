//! Writes ticks to the storage by group commit. A caller gets its reply after its ticks are
//! committed; the ticks that arrive during one commit share the next, so that many callers share
//! one disk write.

use std::sync::Arc;

use clock::Clock;
use fault::{Fault, Kind};
use store::Db;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::storage::ticks::{self, Tick};

/// At most this many deliveries wait, and one commit takes about this many ticks.
const WAITING_MAX: usize = 4_096;
const BATCH_MAX: usize = 2_000;

/// Hands ticks to the task that writes them.
pub(crate) struct TickWriter(mpsc::Sender<Delivery>);

struct Delivery {
    ticks: Vec<Tick>,
    stored: oneshot::Sender<Result<(), Fault>>,
}

impl TickWriter {
    /// Starts the task that writes.
    pub(crate) fn start(
        db: Db,
        clock: Arc<dyn Clock>,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let (sender, deliveries) = mpsc::channel(WAITING_MAX);
        tasks.spawn(store_all(db, clock, deliveries, stop));
        Self(sender)
    }

    /// Returns once the ticks are committed.
    pub(crate) async fn store(&self, ticks: Vec<Tick>) -> Result<(), Fault> {
        let (stored, answer) = oneshot::channel();
        self.0.try_send(Delivery { ticks, stored }).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => Fault::new(
                Kind::Unavailable,
                "overloaded",
                "too many ticks are waiting to be stored; send this one again in a moment",
            )
            .retry_after(std::time::Duration::from_secs(1)),
            mpsc::error::TrySendError::Closed(_) => closing(),
        })?;
        answer.await.unwrap_or_else(|_| Err(closing()))
    }
}

fn closing() -> Fault {
    Fault::unavailable("stopping", "the server is stopping; the tick was not stored")
}

async fn store_all(
    db: Db,
    clock: Arc<dyn Clock>,
    mut deliveries: mpsc::Receiver<Delivery>,
    stop: CancellationToken,
) {
    loop {
        let first = tokio::select! {
            biased;
            first = deliveries.recv() => first,
            () = stop.cancelled() => return,
        };
        let Some(first) = first else { return };
        let mut count = first.ticks.len();
        let mut batch = vec![first];
        while count < BATCH_MAX
            && let Ok(next) = deliveries.try_recv()
        {
            count += next.ticks.len();
            batch.push(next);
        }
        let stored = store(&db, &clock, &mut batch).await;
        for delivery in batch {
            let answer = stored.as_ref().map_err(Fault::shared).copied();
            // The send fails if the caller was cancelled; its tick is stored all the same.
            drop(delivery.stored.send(answer));
        }
    }
}

async fn store(db: &Db, clock: &Arc<dyn Clock>, batch: &mut [Delivery]) -> Result<(), Fault> {
    let all: Vec<Tick> = batch.iter_mut().flat_map(|it| std::mem::take(&mut it.ticks)).collect();
    let mut tx = db.begin().await?;
    ticks::add(&mut tx, &all, clock.now()).await?;
    tx.commit().await
}
