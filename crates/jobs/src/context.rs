//! What a handler knows about the job it runs, and how it reports progress.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use clock::{Clock, Millis};
use fault::Fault;
use serde::de::DeserializeOwned;
use store::Db;
use tokio_util::sync::CancellationToken;

use crate::fence::Fence;
use crate::job::{Job, JobProgress};
use crate::new::{NOTE_MAX, clipped};
use crate::sql::JobHold;

/// Why a running job should stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The job was cancelled.
    Cancelled,
    /// Another worker holds the job; writes of this one are refused.
    LeaseLost,
}

/// A job that this process holds, shared by its handler and the worker that renews its lease.
pub(crate) struct RunningJob {
    pub(crate) job: Job,
    pub(crate) fence: i64,
    lease_until: AtomicI64,
    progress: Mutex<ReportedProgress>,
    stop: CancellationToken,
    why: OnceLock<StopReason>,
}

/// The latest progress of a handler, and whether it was written.
#[derive(Clone, Default)]
pub(crate) struct ReportedProgress {
    pub(crate) value: JobProgress,
    /// Counts the reports.
    pub(crate) times: u64,
    /// The number of reports when progress was last written.
    written: u64,
}

impl ReportedProgress {
    pub(crate) fn has_unwritten(&self) -> bool {
        self.times > self.written
    }
}

impl RunningJob {
    pub(crate) fn new(job: Job, fence: i64) -> Self {
        let lease_until = job.lease_until.map_or(i64::MIN, |until| until.0);
        Self {
            job,
            fence,
            lease_until: AtomicI64::new(lease_until),
            progress: Mutex::default(),
            stop: CancellationToken::new(),
            why: OnceLock::new(),
        }
    }

    pub(crate) fn hold_key(&self) -> (String, i64) {
        (self.job.id.clone(), self.fence)
    }

    pub(crate) fn hold(&self) -> JobHold<'_> {
        JobHold { id: &self.job.id, fence: self.fence }
    }

    pub(crate) fn stop(&self, why: StopReason) {
        // The first reason is kept.
        self.why.get_or_init(|| why);
        self.stop.cancel();
    }

    /// Resolves with the reason once the job should stop.
    pub(crate) async fn stopped(&self) -> StopReason {
        self.stop.cancelled().await;
        self.why.get().copied().unwrap_or(StopReason::Cancelled)
    }

    pub(crate) fn lease_until(&self) -> Millis {
        Millis(self.lease_until.load(Ordering::Relaxed))
    }

    pub(crate) fn progress(&self) -> ReportedProgress {
        self.progress.lock().clone()
    }

    fn report(&self, value: JobProgress) {
        let mut reported = self.progress.lock();
        if reported.value != value {
            reported.value = value;
            reported.times += 1;
        }
    }

    /// Notes that the lease and the progress were written.
    pub(crate) fn renewed(&self, until: Millis, written: &ReportedProgress) {
        self.lease_until.store(until.0, Ordering::Relaxed);
        let mut reported = self.progress.lock();
        reported.written = written.times;
    }
}

/// Given to a handler; clones may be moved to other tasks and to blocking threads.
#[derive(Clone)]
pub struct JobContext {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) running_job: Arc<RunningJob>,
    pub(crate) stopping: CancellationToken,
}

impl JobContext {
    /// The job as it was when this attempt began.
    pub fn job(&self) -> &Job {
        &self.running_job.job
    }

    /// The id of the job.
    pub fn id(&self) -> &str {
        &self.running_job.job.id
    }

    /// The kind of the job.
    pub fn kind(&self) -> &str {
        &self.running_job.job.kind
    }

    /// The payload of the job; a fault where the JSON does not fit the type.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        self.running_job.job.payload_as()
    }

    /// Reports progress. The call only stores the values in memory; the worker writes the latest ones
    /// every [`crate::WorkerConfig::progress_interval`] and when the attempt ends. A note is cut at
    /// 512 bytes.
    pub fn progress(&self, done: u64, total: Option<u64>, note: Option<&str>) {
        let note = note.map(|note| clipped(note, NOTE_MAX));
        self.running_job.report(JobProgress { done, total, note });
    }

    /// Resolves when the job should stop, because it was cancelled or its lease was lost. A handler
    /// that goes on is dropped after the worker's `stop_grace`.
    pub async fn cancelled(&self) -> StopReason {
        self.running_job.stopped().await
    }

    /// Whether the job should stop.
    pub fn is_cancelled(&self) -> bool {
        self.running_job.stop.is_cancelled()
    }

    /// Why the job should stop; `None` while it should not.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.running_job.why.get().copied()
    }

    /// A token that is cancelled when [`JobContext::cancelled`] resolves.
    pub fn cancel_token(&self) -> CancellationToken {
        self.running_job.stop.child_token()
    }

    /// Cancelled when the worker begins to shut down. A handler may finish within the worker's
    /// `shutdown_grace`, return [`crate::JobOutcome::Release`] sooner, or be dropped at the end of it;
    /// in the last two cases the job is queued again and the attempt is not counted.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// The fence of this hold, for the handler's own transactions.
    pub fn fence(&self) -> Fence {
        Fence {
            db: self.db.clone(),
            clock: Arc::clone(&self.clock),
            running_job: Arc::clone(&self.running_job),
        }
    }
}
