//! How a run of a handler ends, and what the queue writes about it.

use std::time::Duration;

use clock::Millis;
use fault::{Fault, Kind};
use serde::Serialize;

use crate::context::StopReason;
use crate::job::{Job, JobError, JobState};
use crate::new::{DELAY_MAX, ERROR_MAX, JSON_MAX, clipped, to_json};
use crate::sql::{JobEnding, millis};

/// How a handler's run ended.
#[derive(Debug)]
pub enum JobOutcome {
    /// Completed, with a result in JSON text of at most 64 KiB; see [`JobOutcome::done`].
    Done(Option<String>),
    /// The handler completed the job itself with [`crate::Fence::complete_in`] and committed.
    Committed,
    /// Run again after the given time, or the fault's own, or the worker's backoff. The job fails
    /// when its attempts are used up.
    Retry {
        /// Why the attempt failed.
        fault: Fault,
        /// When to run again.
        after: Option<Duration>,
    },
    /// Another attempt would fail too: the job becomes a dead letter.
    Fail(Fault),
    /// Stopped after a cancellation, or because the handler found its work obsolete.
    Cancelled,
    /// Handed back unfinished; the attempt is not counted.
    Release,
}

impl JobOutcome {
    /// Completed with a result; a result above 64 KiB fails the job.
    pub fn done(result: &impl Serialize) -> Self {
        to_json(result, "result").map_or_else(Self::Fail, |json| Self::Done(Some(json)))
    }

    /// Completed where the result is `Ok`; a fault is retried or fails by its kind.
    pub fn from_result<T: Serialize>(result: Result<T, Fault>) -> Self {
        match result {
            Ok(result) => Self::done(&result),
            Err(fault) => fault.into(),
        }
    }
}

/// Retryable faults are tried again; so are internal ones, which are often transient and whose attempts
/// are limited.
impl From<Fault> for JobOutcome {
    fn from(fault: Fault) -> Self {
        match fault.kind() {
            Kind::Cancelled => Self::Cancelled,
            Kind::Internal => Self::Retry { fault, after: None },
            kind if kind.is_retryable() => Self::Retry { fault, after: None },
            _ => Self::Fail(fault),
        }
    }
}

/// The wait between attempts: it doubles from `first` up to `most`, and each wait is shortened by up to
/// a half at random, so that jobs that failed together are not retried together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first attempt.
    pub first: Duration,
    /// The longest wait.
    pub most: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), most: Duration::from_secs(300) }
    }
}

impl Backoff {
    /// `random_unit` is between 0 and 1.
    pub(crate) fn wait(&self, attempt: u32, random_unit: f64) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1).min(31));
        let whole = self.first.saturating_mul(doubled).min(self.most);
        whole.mul_f64(1.0 - random_unit.clamp(0.0, 1.0) / 2.0)
    }
}

/// How a run ended for its worker.
#[derive(Debug)]
pub(crate) enum RunEnd {
    Returned(JobOutcome),
    Panicked,
    /// Exceeded the worker's `run_timeout`.
    TimedOut,
    /// Did not stop within `stop_grace`.
    IgnoredStop(StopReason),
    /// Did not end within `shutdown_grace`.
    Abandoned,
}

/// What the queue writes about a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RunVerdict {
    End(JobEnding),
    /// The handler reports that it wrote the end itself.
    WasCommitted,
    /// Nothing, because another worker holds the job.
    Nothing,
}

/// An ending without result, error or delay.
pub(crate) fn ended_as(state: JobState) -> JobEnding {
    JobEnding { state, is_counted: true, run_at: None, result: None, error: None }
}

pub(crate) struct RetryPolicy {
    pub(crate) backoff: Backoff,
    pub(crate) now: Millis,
    /// Between 0 and 1.
    pub(crate) random_unit: f64,
}

impl RetryPolicy {
    pub(crate) fn verdict(&self, job: &Job, ended: &RunEnd) -> RunVerdict {
        let ending = match ended {
            RunEnd::Returned(outcome) => match outcome {
                JobOutcome::Done(Some(result)) if result.len() > JSON_MAX => JobEnding {
                    error: Some(error("job_too_large", "the job's result is too large to keep")),
                    ..ended_as(JobState::Failed)
                },
                JobOutcome::Done(result) => {
                    JobEnding { result: result.clone(), ..ended_as(JobState::Completed) }
                }
                JobOutcome::Committed => return RunVerdict::WasCommitted,
                JobOutcome::Retry { fault, after } => {
                    self.again(job, job_error(fault), after.or_else(|| fault.retry_wait()))
                }
                JobOutcome::Fail(fault) => {
                    JobEnding { error: Some(job_error(fault)), ..ended_as(JobState::Failed) }
                }
                JobOutcome::Cancelled => ended_as(JobState::Cancelled),
                JobOutcome::Release => self.given_back(self.backoff.first),
            },
            RunEnd::Panicked => {
                self.again(job, error("panicked", "the job's handler failed"), None)
            }
            RunEnd::TimedOut => {
                self.again(job, error("job_timeout", "the job ran longer than it may"), None)
            }
            RunEnd::IgnoredStop(StopReason::Cancelled) => ended_as(JobState::Cancelled),
            RunEnd::IgnoredStop(StopReason::LeaseLost) => return RunVerdict::Nothing,
            RunEnd::Abandoned => self.given_back(Duration::ZERO),
        };
        RunVerdict::End(ending)
    }

    /// The ending of a handler that reports a commit which did not happen.
    pub(crate) fn uncommitted(&self, job: &Job) -> JobEnding {
        self.again(job, error("not_committed", "the job's handler did not keep its result"), None)
    }

    fn again(&self, job: &Job, error: JobError, after: Option<Duration>) -> JobEnding {
        if job.attempt >= job.max_attempts {
            return JobEnding { error: Some(error), ..ended_as(JobState::Failed) };
        }
        let wait = after.unwrap_or_else(|| self.backoff.wait(job.attempt, self.random_unit));
        let wait = wait.min(DELAY_MAX);
        let run_at = Some(Millis(self.now.0.saturating_add(millis(wait))));
        JobEnding { error: Some(error), run_at, ..ended_as(JobState::Queued) }
    }

    fn given_back(&self, wait: Duration) -> JobEnding {
        let run_at = Some(Millis(self.now.0.saturating_add(millis(wait))));
        JobEnding { is_counted: false, run_at, ..ended_as(JobState::Queued) }
    }
}

fn job_error(fault: &Fault) -> JobError {
    error(fault.code(), fault.message())
}

fn error(code: &str, message: &str) -> JobError {
    JobError { code: code.to_owned(), message: clipped(message, ERROR_MAX) }
}

#[cfg(test)]
mod tests;
