//! Writes proposals to the storage by group commit. Proposals that wait during one commit share the
//! next, so that many callers share one disk write. There is no background task: one of the waiting
//! callers writes for all of them.

use std::sync::Arc;

use parking_lot::Mutex;

use fault::{Fault, Kind};
use store::Db;
use tokio::sync::oneshot::{self, error::TryRecvError};

use crate::push::Outbox;
use crate::storage::proposals::{self, StoredProposal};

/// At most this many proposals wait, so one commit takes at most this many.
const WAITING_MAX: usize = 1_000;

#[derive(Default)]
pub(crate) struct ProposalWriter {
    waiting: Mutex<Vec<PendingWrite>>,
    /// Held by the caller that writes.
    writing: tokio::sync::Mutex<()>,
}

struct PendingWrite {
    stored: Arc<StoredProposal>,
    answer: oneshot::Sender<Result<(), Fault>>,
}

impl ProposalWriter {
    /// Returns once the proposal is committed.
    pub(crate) async fn store(
        &self,
        db: &Db,
        outbox: &Outbox,
        stored: &Arc<StoredProposal>,
    ) -> Result<(), Fault> {
        let mut answer = self.add_to_waiting(stored)?;
        loop {
            let _writing = self.writing.lock().await;
            match answer.try_recv() {
                Ok(done) => return done,
                // The caller that wrote for this one was cancelled, so the proposal may or may not
                // be stored. Storing it a second time changes nothing.
                Err(TryRecvError::Closed) => answer = self.add_to_waiting(stored)?,
                Err(TryRecvError::Empty) => {}
            }
            self.write(db, outbox).await;
        }
    }

    fn add_to_waiting(
        &self,
        stored: &Arc<StoredProposal>,
    ) -> Result<oneshot::Receiver<Result<(), Fault>>, Fault> {
        let mut waiting = self.waiting.lock();
        if waiting.len() >= WAITING_MAX {
            let message = "too many proposals are waiting to be stored; ask again in a moment";
            let fault = Fault::new(Kind::Unavailable, "overloaded", message);
            return Err(fault.retry_after(std::time::Duration::from_secs(1)));
        }
        let (answer, receiver) = oneshot::channel();
        waiting.push(PendingWrite { stored: Arc::clone(stored), answer });
        Ok(receiver)
    }

    /// Writes all waiting proposals and answers their callers.
    async fn write(&self, db: &Db, outbox: &Outbox) {
        let mut batch = std::mem::take(&mut *self.waiting.lock());
        // Skips callers that were cancelled; they got no reply.
        batch.retain(|it| !it.answer.is_closed());
        let written = write_all(db, outbox, &batch).await;
        for it in batch {
            drop(it.answer.send(written.as_ref().map_err(Fault::shared).copied()));
        }
    }
}

async fn write_all(db: &Db, outbox: &Outbox, batch: &[PendingWrite]) -> Result<(), Fault> {
    let mut tx = db.begin().await?;
    for it in batch {
        proposals::insert(&mut tx, outbox, &it.stored).await?;
    }
    tx.commit().await?;
    outbox.notify();
    Ok(())
}
