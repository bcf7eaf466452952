//! The fence of one hold of a job, for use inside the handler's own transactions.

use std::sync::Arc;

use clock::Clock;
use fault::{Fault, Kind};
use serde::Serialize;
use store::{Db, Tx};

use crate::context::RunningJob;
use crate::job::JobState;
use crate::new::to_json;
use crate::outcome::ended_as;
use crate::sql::{self, JobHold};

/// Checks inside a transaction that this hold of the job is still the latest. It can be cloned and
/// outlive the handler; it fails once another worker has taken the job over.
#[derive(Clone)]
pub struct Fence {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) running_job: Arc<RunningJob>,
}

impl Fence {
    /// The number of this hold, higher than that of every earlier hold of the job, for external
    /// systems that refuse lower numbers.
    pub fn number(&self) -> i64 {
        self.running_job.fence
    }

    fn hold(&self) -> JobHold<'_> {
        self.running_job.hold()
    }

    /// Fails with `lease_lost` unless this hold is the latest; no other worker can take the job
    /// before the transaction ends. Call it early in a short transaction: on PostgreSQL it locks
    /// the job's row.
    pub async fn ensure_held(&self, tx: &mut Tx) -> Result<(), Fault> {
        if sql::lock_hold(&self.db, tx, self.hold()).await? { Ok(()) } else { Err(lost()) }
    }

    /// Completes the job in the caller's transaction, so that the job completes if and only if its
    /// effects are committed. The handler commits and then returns
    /// [`crate::JobOutcome::Committed`]; on a fault it must not commit.
    pub async fn complete_in(&self, tx: &mut Tx, result: &impl Serialize) -> Result<(), Fault> {
        let mut ending = ended_as(JobState::Completed);
        ending.result = Some(to_json(result, "result")?);
        let progress = self.running_job.progress().value;
        let now = self.clock.now();
        match sql::end(tx, self.hold(), &ending, &progress, now).await? {
            Some(_) => Ok(()),
            None => Err(lost()),
        }
    }
}

fn lost() -> Fault {
    Fault::new(Kind::Conflict, "lease_lost", "another worker has taken this job over")
}
