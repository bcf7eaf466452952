//! One hold of one job, for use inside the handler's own transactions.

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

/// Proof that a job is held. It can be cloned and outlive the handler; it is worth something only
/// as long as nobody has taken the job over.
#[derive(Clone)]
pub struct Fence {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) running_job: Arc<RunningJob>,
}

impl Fence {
    /// The number of this hold: higher than that of any hold of the job before, for systems that
    /// refuse lower ones.
    pub fn number(&self) -> i64 {
        self.running_job.fence
    }

    fn hold(&self) -> JobHold<'_> {
        self.running_job.hold()
    }

    /// A fault unless the job is still held; if it is, it stays so until the transaction ends, and
    /// what the transaction does is done by the job's only holder. Take it early in the
    /// transaction and keep that short: on PostgreSQL it locks the job's row.
    pub async fn ensure_held(&self, tx: &mut Tx) -> Result<(), Fault> {
        if sql::secure(&self.db, tx, self.hold()).await? { Ok(()) } else { Err(lost()) }
    }

    /// Completes the job in the caller's transaction, so that its effects and its completion are
    /// one. The handler commits and then returns [`crate::JobOutcome::Committed`]; on a fault it must
    /// not commit.
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
