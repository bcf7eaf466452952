//! What a job is to whoever asks about it.

use clock::Millis;
use fault::Fault;
use serde::de::DeserializeOwned;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JobState {
    /// Waits for its time and a worker.
    Queued,
    /// Held by a worker under a lease.
    Running,
    Completed,
    /// The dead letter: given up, and kept until somebody retries it or it is forgotten.
    Failed,
    Cancelled,
}

impl JobState {
    pub const ALL: [Self; 5] =
        [Self::Queued, Self::Running, Self::Completed, Self::Failed, Self::Cancelled];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether nothing more will happen to the job by itself.
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// The whole of the state machine; a completed or cancelled job never moves again.
    pub const fn may_become(self, next: Self) -> bool {
        match self {
            Self::Queued => matches!(next, Self::Running | Self::Cancelled),
            Self::Running => !matches!(next, Self::Running),
            Self::Failed => matches!(next, Self::Queued),
            Self::Completed | Self::Cancelled => false,
        }
    }
}

/// How far a job says it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobProgress {
    pub done: u64,
    /// Unknown until the handler knows it.
    pub total: Option<u64>,
    pub note: Option<String>,
}

/// Why a job failed, or why its last attempt did; safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobError {
    pub code: String,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub id: String,
    pub kind: String,
    /// JSON text; see [`Job::payload_as`].
    pub payload: String,
    pub key: Option<String>,
    /// The subject on whose behalf the job runs.
    pub owner: Option<String>,
    /// Higher goes first.
    pub priority: i32,
    pub state: JobState,
    /// Attempts begun; those that a stopping worker handed back are not counted.
    pub attempt: u32,
    pub max_attempts: u32,
    /// Rises with every change, progress included; see [`crate::Jobs::wait_change`].
    pub revision: u64,
    /// Not before this time.
    pub run_at: Millis,
    pub lease_until: Option<Millis>,
    /// Who holds the job, or held it last.
    pub worker: Option<String>,
    /// Somebody wants a running job to stop; it does at its next look.
    pub cancel_requested: bool,
    pub progress: JobProgress,
    /// JSON text; see [`Job::result_as`].
    pub result: Option<String>,
    /// Of the last attempt that went wrong; a completed job has none.
    pub error: Option<JobError>,
    pub created_at: Millis,
    /// When the latest attempt began.
    pub started_at: Option<Millis>,
    pub finished_at: Option<Millis>,
}

impl Job {
    pub fn payload_as<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        let read = serde_json::from_str(&self.payload);
        read.map_err(|error| Fault::internal(error).while_doing("reading a job's payload"))
    }

    pub fn result_as<T: DeserializeOwned>(&self) -> Result<Option<T>, Fault> {
        let read = self.result.as_deref().map(serde_json::from_str).transpose();
        read.map_err(|error| Fault::internal(error).while_doing("reading a job's result"))
    }
}

/// Which jobs to list; what is empty or absent filters nothing.
#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    pub kinds: Vec<String>,
    pub states: Vec<JobState>,
    pub owner: Option<String>,
    pub key: Option<String>,
}

/// Newest first.
#[derive(Debug, Clone)]
pub struct JobPageRequest {
    /// [`JobPage::next`] of the page before.
    pub before: Option<String>,
    /// At most [`JobPageRequest::LIMIT_MAX`].
    pub limit: usize,
}

impl JobPageRequest {
    pub const LIMIT_MAX: usize = 100;
}

impl Default for JobPageRequest {
    fn default() -> Self {
        Self { before: None, limit: 50 }
    }
}

#[derive(Debug, Clone)]
pub struct JobPage {
    pub jobs: Vec<Job>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobCount {
    pub kind: String,
    pub state: JobState,
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
