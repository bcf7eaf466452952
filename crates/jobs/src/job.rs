//! Jobs as they are read, and how they are listed.

use clock::Millis;
use fault::Fault;
use serde::de::DeserializeOwned;

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JobState {
    /// Waits for its time and for a worker.
    Queued,
    /// Held by a worker under a lease.
    Running,
    /// Ended with a result.
    Completed,
    /// A dead letter: failed too often, and kept until it is retried or deleted.
    Failed,
    /// Ended by a cancellation.
    Cancelled,
}

impl JobState {
    /// All states.
    pub const ALL: [Self; 5] =
        [Self::Queued, Self::Running, Self::Completed, Self::Failed, Self::Cancelled];

    /// The name of the state in the table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The state with this name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether the job changes no more unless it is retried or deleted.
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// The state machine; a completed or cancelled job never changes again.
    pub const fn may_become(self, next: Self) -> bool {
        match self {
            Self::Queued => matches!(next, Self::Running | Self::Cancelled),
            Self::Running => !matches!(next, Self::Running),
            Self::Failed => matches!(next, Self::Queued),
            Self::Completed | Self::Cancelled => false,
        }
    }
}

/// The progress that a handler reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobProgress {
    /// Units done.
    pub done: u64,
    /// Units in all; absent until the handler knows it.
    pub total: Option<u64>,
    /// A short text of the handler.
    pub note: Option<String>,
}

/// Why a job or its last attempt failed; safe to show to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobError {
    /// The fault code.
    pub code: String,
    /// The fault message.
    pub message: String,
}

/// A job as it was read from the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// A UUID of version 7, which sorts by creation.
    pub id: String,
    /// Names the handler.
    pub kind: String,
    /// JSON text; see [`Job::payload_as`].
    pub payload: String,
    /// Unique among the unfinished jobs of a kind.
    pub key: Option<String>,
    /// The subject on whose behalf the job runs.
    pub owner: Option<String>,
    /// Jobs of a higher priority start first.
    pub priority: i32,
    /// The state of the job.
    pub state: JobState,
    /// Attempts begun, without those that a stopping worker handed back.
    pub attempt: u32,
    /// Attempts after which the job fails.
    pub max_attempts: u32,
    /// Rises with every change, also of progress; see [`crate::Jobs::wait_change`].
    pub revision: u64,
    /// The job starts at this time or later.
    pub run_at: Millis,
    /// When the lease of a running job expires.
    pub lease_until: Option<Millis>,
    /// The name of the worker that holds the job or held it last.
    pub worker: Option<String>,
    /// A running job was cancelled and has not stopped yet.
    pub cancel_requested: bool,
    /// The progress of the latest attempt.
    pub progress: JobProgress,
    /// JSON text; see [`Job::result_as`].
    pub result: Option<String>,
    /// The error of the last failed attempt; a completed job has none.
    pub error: Option<JobError>,
    /// When the job was pushed.
    pub created_at: Millis,
    /// When the latest attempt began.
    pub started_at: Option<Millis>,
    /// When the job was completed, failed or cancelled.
    pub finished_at: Option<Millis>,
}

impl Job {
    /// The payload, read from its JSON.
    pub fn payload_as<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        let read = serde_json::from_str(&self.payload);
        read.map_err(|error| Fault::internal(error).while_doing("reading a job's payload"))
    }

    /// The result, read from its JSON.
    pub fn result_as<T: DeserializeOwned>(&self) -> Result<Option<T>, Fault> {
        let read = self.result.as_deref().map(serde_json::from_str).transpose();
        read.map_err(|error| Fault::internal(error).while_doing("reading a job's result"))
    }
}

/// Selects jobs; an empty or absent field selects all.
#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    /// Only jobs of these kinds.
    pub kinds: Vec<String>,
    /// Only jobs in these states.
    pub states: Vec<JobState>,
    /// Only jobs of this owner.
    pub owner: Option<String>,
    /// Only jobs with this key.
    pub key: Option<String>,
}

/// One page of a list, newest jobs first.
#[derive(Debug, Clone)]
pub struct JobPageRequest {
    /// [`JobPage::next`] of the previous page.
    pub before: Option<String>,
    /// At most [`JobPageRequest::LIMIT_MAX`].
    pub limit: usize,
}

impl JobPageRequest {
    /// The largest page.
    pub const LIMIT_MAX: usize = 100;
}

impl Default for JobPageRequest {
    fn default() -> Self {
        Self { before: None, limit: 50 }
    }
}

/// The jobs of a page.
#[derive(Debug, Clone)]
pub struct JobPage {
    /// Newest first.
    pub jobs: Vec<Job>,
    /// Where the next page begins; `None` on the last page.
    pub next: Option<String>,
}

/// How many jobs of a kind are in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobCount {
    /// The kind of the jobs.
    pub kind: String,
    /// The state of the jobs.
    pub state: JobState,
    /// Their number.
    pub jobs: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: JobState, to: &[JobState]) {
        let reached: Vec<JobState> =
            JobState::ALL.into_iter().filter(|next| from.may_become(*next)).collect();
        assert_eq!(reached, to, "{from:?}");
        assert_eq!(JobState::parse(from.as_str()), Some(from));
    }

    #[test]
    fn states_follow_the_table() {
        use JobState::{Cancelled, Completed, Failed, Queued, Running};
        check(Queued, &[Running, Cancelled]);
        check(Running, &[Queued, Completed, Failed, Cancelled]);
        check(Failed, &[Queued]);
        check(Completed, &[]);
        check(Cancelled, &[]);
        assert_eq!(JobState::parse("Queued"), None);
    }
}
