//! What a handler knows and may say about the job it runs.

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
    /// Somebody cancelled it.
    Cancelled,
    /// Another worker has it; nothing this one does will be kept.
    LeaseLost,
}

/// One hold of a job in this process, shared by its handler and the worker that renews it.
pub(crate) struct RunningJob {
    pub(crate) job: Job,
    pub(crate) fence: i64,
    lease_until: AtomicI64,
    progress: Mutex<ReportedProgress>,
    stop: CancellationToken,
    why: OnceLock<StopReason>,
}

/// The progress last said, and how much of what was said has been written.
#[derive(Clone, Default)]
pub(crate) struct ReportedProgress {
    pub(crate) value: JobProgress,
    pub(crate) times: u64,
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
        // The first reason stands.
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

    fn say(&self, value: JobProgress) {
        let mut reported = self.progress.lock();
        if reported.value != value {
            reported.value = value;
            reported.times += 1;
        }
    }

    /// The lease and the progress as they now stand in the table.
    pub(crate) fn renewed(&self, until: Millis, written: &ReportedProgress) {
        self.lease_until.store(until.0, Ordering::Relaxed);
        let mut reported = self.progress.lock();
        reported.written = written.times;
    }
}

/// Given to a handler; clones may go wherever its work does, blocking threads included.
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

    pub fn id(&self) -> &str {
        &self.running_job.job.id
    }

    pub fn kind(&self) -> &str {
        &self.running_job.job.kind
    }

    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        self.running_job.job.payload_as()
    }

    /// Says how far the work is. It costs nothing: what was said last is written within a second
    /// or so, and when the attempt ends. A note is cut at 512 bytes.
    pub fn progress(&self, done: u64, total: Option<u64>, note: Option<&str>) {
        let note = note.map(|note| clipped(note, NOTE_MAX));
        self.running_job.say(JobProgress { done, total, note });
    }

    /// Resolves once the job should stop, because it was cancelled or lost. A handler that goes on
    /// regardless is dropped after the worker's `stop_grace`.
    pub async fn cancelled(&self) -> StopReason {
        self.running_job.stopped().await
    }

    pub fn is_cancelled(&self) -> bool {
        self.running_job.stop.is_cancelled()
    }

    /// Why the job should stop, if it should.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.running_job.why.get().copied()
    }

    /// The signal of [`JobContext::cancelled`], for work that takes a token.
    pub fn cancel_token(&self) -> CancellationToken {
        self.running_job.stop.child_token()
    }

    /// Fires when the worker begins to shut down. A handler may finish within the worker's
    /// `shutdown_grace`, return [`crate::JobOutcome::Release`] sooner, or be dropped at its end; in
    /// the last two cases the job is queued again and the attempt is not counted.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    pub fn fence(&self) -> Fence {
        Fence {
            db: self.db.clone(),
            clock: Arc::clone(&self.clock),
            running_job: Arc::clone(&self.running_job),
        }
    }
}
