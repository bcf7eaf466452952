//! What a handler says at its end, and what the queue makes of it.

use std::time::Duration;

use clock::Millis;
use fault::{Fault, Kind};
use serde::Serialize;

use crate::context::Stop;
use crate::job::{Job, JobError, State};
use crate::new::{DELAY_MAX, ERROR_MAX, JSON_MAX, clipped, to_json};
use crate::sql::{Ending, millis};

/// How a handler's run ended.
#[derive(Debug)]
pub enum Outcome {
    /// Completed, with a result in JSON text of at most 64 KiB; see [`Outcome::done`].
    Done(Option<String>),
    /// The handler completed the job itself with [`crate::Fence::complete_in`] and committed.
    Committed,
    /// To be tried again: after the given time, or the fault's own, or the worker's backoff. Once
    /// the attempts are used up it is a failure.
    Retry { fault: Fault, after: Option<Duration> },
    /// Trying again would fail again: into the dead letter.
    Fail(Fault),
    /// Stopped because it was told to, or saw by itself that it is no longer wanted.
    Cancelled,
    /// Handed back unfinished; the attempt is not counted.
    Release,
}

impl Outcome {
    pub fn done(result: &impl Serialize) -> Self {
        to_json(result, "result").map_or_else(Self::Fail, |json| Self::Done(Some(json)))
    }

    /// The way most handlers end: what worked is the result, a fault decides by its kind.
    pub fn from_result<T: Serialize>(result: Result<T, Fault>) -> Self {
        match result {
            Ok(result) => Self::done(&result),
            Err(fault) => fault.into(),
        }
    }
}

/// What may pass is tried again; so are our own bugs, which more often than not depend on the
/// moment, and whose attempts are counted.
impl From<Fault> for Outcome {
    fn from(fault: Fault) -> Self {
        match fault.kind() {
            Kind::Cancelled => Self::Cancelled,
            Kind::Internal => Self::Retry { fault, after: None },
            kind if kind.is_retryable() => Self::Retry { fault, after: None },
            _ => Self::Fail(fault),
        }
    }
}

/// Waits between attempts: doubling from `first` up to `most`, each shortened by up to a half at
/// random, so that jobs that failed together do not come back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    pub first: Duration,
    pub most: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), most: Duration::from_secs(300) }
    }
}

impl Backoff {
    /// `chance` is from 0 to 1.
    pub(crate) fn wait(&self, attempt: u32, chance: f64) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1).min(31));
        let whole = self.first.saturating_mul(doubled).min(self.most);
        whole.mul_f64(1.0 - chance.clamp(0.0, 1.0) / 2.0)
    }
}

/// How a run ended, as its worker saw it.
#[derive(Debug)]
pub(crate) enum Ended {
    Returned(Outcome),
    Panicked,
    /// Ran longer than the worker allows.
    TimedOut,
    /// Was told to stop, and did not in time.
    Ignored(Stop),
    /// The worker's shutdown would not wait longer.
    Abandoned,
}

/// What is to be written about a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    End(Ending),
    /// The handler says that it wrote the end itself.
    WasCommitted,
    /// The job belongs to another worker.
    Nothing,
}

/// The end of a run with nothing else to say.
pub(crate) fn ended_as(state: State) -> Ending {
    Ending { state, is_counted: true, run_at: None, result: None, error: None }
}

pub(crate) struct Judge {
    pub(crate) backoff: Backoff,
    pub(crate) now: Millis,
    /// From 0 to 1.
    pub(crate) chance: f64,
}

impl Judge {
    pub(crate) fn verdict(&self, job: &Job, ended: &Ended) -> Verdict {
        let ending = match ended {
            Ended::Returned(outcome) => match outcome {
                Outcome::Done(Some(result)) if result.len() > JSON_MAX => Ending {
                    error: Some(error("job_too_large", "the job's result is too large to keep")),
                    ..ended_as(State::Failed)
                },
                Outcome::Done(result) => {
                    Ending { result: result.clone(), ..ended_as(State::Completed) }
                }
                Outcome::Committed => return Verdict::WasCommitted,
                Outcome::Retry { fault, after } => {
                    self.again(job, told(fault), after.or_else(|| fault.retry_wait()))
                }
                Outcome::Fail(fault) => {
                    Ending { error: Some(told(fault)), ..ended_as(State::Failed) }
                }
                Outcome::Cancelled => ended_as(State::Cancelled),
                Outcome::Release => self.given_back(self.backoff.first),
            },
            Ended::Panicked => self.again(job, error("panicked", "the job's handler failed"), None),
            Ended::TimedOut => {
                self.again(job, error("job_timeout", "the job ran longer than it may"), None)
            }
            Ended::Ignored(Stop::Cancelled) => ended_as(State::Cancelled),
            Ended::Ignored(Stop::LeaseLost) => return Verdict::Nothing,
            Ended::Abandoned => self.given_back(Duration::ZERO),
        };
        Verdict::End(ending)
    }

    /// A handler that says it has committed, and has not.
    pub(crate) fn uncommitted(&self, job: &Job) -> Ending {
        self.again(job, error("not_committed", "the job's handler did not keep its result"), None)
    }

    fn again(&self, job: &Job, error: JobError, after: Option<Duration>) -> Ending {
        if job.attempt >= job.max_attempts {
            return Ending { error: Some(error), ..ended_as(State::Failed) };
        }
        let wait = after.unwrap_or_else(|| self.backoff.wait(job.attempt, self.chance));
        let wait = wait.min(DELAY_MAX);
        let run_at = Some(Millis(self.now.0.saturating_add(millis(wait))));
        Ending { error: Some(error), run_at, ..ended_as(State::Queued) }
    }

    fn given_back(&self, wait: Duration) -> Ending {
        let run_at = Some(Millis(self.now.0.saturating_add(millis(wait))));
        Ending { is_counted: false, run_at, ..ended_as(State::Queued) }
    }
}

fn told(fault: &Fault) -> JobError {
    error(fault.code(), fault.message())
}

fn error(code: &str, message: &str) -> JobError {
    JobError { code: code.to_owned(), message: clipped(message, ERROR_MAX) }
}

#[cfg(test)]
mod tests;
