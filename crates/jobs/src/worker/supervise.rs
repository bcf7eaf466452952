//! One run of a handler, from its first step to its end, however it ends.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::crew::Member;
use super::{Handler, WorkerConfig};
use crate::context::{JobContext, Stop};
use crate::outcome::{Ended, Outcome};

pub(super) struct Finished {
    pub(super) member: Member,
    pub(super) ended: Ended,
    pub(super) ran: Duration,
}

pub(super) async fn supervise(
    handler: Arc<dyn Handler>,
    context: JobContext,
    member: Member,
    config: Arc<WorkerConfig>,
    shutdown: CancellationToken,
) -> Finished {
    let begun = Instant::now();
    let live = Arc::clone(&member.live);
    let job = &live.job;
    let span = tracing::info_span!("job", id = %job.id, kind = %job.kind, attempt = job.attempt);
    // Made inside the block, so that a handler that panics before its first await is caught too.
    let run = AssertUnwindSafe(async move { handler.run(context).await });
    let run = run.catch_unwind().instrument(span);
    let ended = tokio::select! {
        biased;
        outcome = run => match outcome {
            Ok(outcome) => Ended::Returned(outcome),
            Err(_) => Ended::Panicked,
        },
        why = async {
            let why = live.stopped().await;
            tokio::time::sleep(config.stop_grace).await;
            why
        } => Ended::Ignored(why),
        () = async {
            shutdown.cancelled().await;
            tokio::time::sleep(config.shutdown_grace).await;
        } => Ended::Abandoned,
        () = tokio::time::sleep(config.run_max) => Ended::TimedOut,
    };
    tell(&member, &ended);
    Finished { member, ended, ran: begun.elapsed() }
}

/// Said once, with what caused it; the table keeps only what is safe to show.
fn tell(member: &Member, ended: &Ended) {
    let job = &member.live.job;
    let (id, kind, attempt) = (&job.id, &job.kind, job.attempt);
    match ended {
        Ended::Returned(Outcome::Retry { fault, .. } | Outcome::Fail(fault)) => {
            let cause = std::error::Error::source(fault).map(ToString::to_string);
            let (code, cause) = (fault.code(), cause.unwrap_or_default());
            tracing::warn!(%id, %kind, attempt, code, %fault, cause, "a job's attempt failed");
        }
        Ended::Panicked => tracing::error!(%id, %kind, attempt, "a job's handler panicked"),
        Ended::TimedOut => tracing::warn!(%id, %kind, attempt, "a job ran longer than it may"),
        Ended::Ignored(Stop::LeaseLost) => {
            tracing::warn!(%id, %kind, attempt, "a job was taken over by another worker");
        }
        Ended::Returned(_) | Ended::Ignored(_) | Ended::Abandoned => {}
    }
}
