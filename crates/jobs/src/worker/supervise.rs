//! Supervises one run of a handler until it returns, panics, times out or is stopped.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::active::HeldJob;
use super::{JobHandler, WorkerConfig};
use crate::context::{JobContext, StopReason};
use crate::outcome::{JobOutcome, RunEnd};

pub(super) struct Finished {
    pub(super) held: HeldJob,
    pub(super) ended: RunEnd,
    pub(super) ran: Duration,
}

pub(super) async fn supervise(
    handler: Arc<dyn JobHandler>,
    context: JobContext,
    held: HeldJob,
    config: Arc<WorkerConfig>,
    shutdown: CancellationToken,
) -> Finished {
    let begun = Instant::now();
    let running_job = Arc::clone(&held.running_job);
    let job = &running_job.job;
    let span = tracing::info_span!("job", id = %job.id, kind = %job.kind, attempt = job.attempt);
    // Called inside the block, so that a panic before the first await is caught too.
    let run = AssertUnwindSafe(async move { handler.run(context).await });
    let run = run.catch_unwind().instrument(span);
    let ended = tokio::select! {
        biased;
        outcome = run => match outcome {
            Ok(outcome) => RunEnd::Returned(outcome),
            Err(_) => RunEnd::Panicked,
        },
        why = async {
            let why = running_job.stopped().await;
            tokio::time::sleep(config.stop_grace).await;
            why
        } => RunEnd::IgnoredStop(why),
        () = async {
            shutdown.cancelled().await;
            tokio::time::sleep(config.shutdown_grace).await;
        } => RunEnd::Abandoned,
        () = tokio::time::sleep(config.run_timeout) => RunEnd::TimedOut,
    };
    log_end(&held, &ended);
    Finished { held, ended, ran: begun.elapsed() }
}

/// Logs a failed attempt with its cause; the table stores only what is safe to show.
fn log_end(held: &HeldJob, ended: &RunEnd) {
    let job = &held.running_job.job;
    let (id, kind, attempt) = (&job.id, &job.kind, job.attempt);
    match ended {
        RunEnd::Returned(JobOutcome::Retry { fault, .. } | JobOutcome::Fail(fault)) => {
            let cause = std::error::Error::source(fault).map(ToString::to_string);
            let (code, cause) = (fault.code(), cause.unwrap_or_default());
            tracing::warn!(%id, %kind, attempt, code, %fault, cause, "a job's attempt failed");
        }
        RunEnd::Panicked => tracing::error!(%id, %kind, attempt, "a job's handler panicked"),
        RunEnd::TimedOut => tracing::warn!(%id, %kind, attempt, "a job ran longer than it may"),
        RunEnd::IgnoredStop(StopReason::LeaseLost) => {
            tracing::warn!(%id, %kind, attempt, "a job was taken over by another worker");
        }
        RunEnd::Returned(_) | RunEnd::IgnoredStop(_) | RunEnd::Abandoned => {}
    }
}
