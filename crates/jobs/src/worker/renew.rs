//! Renews the leases of a worker's jobs, writes their progress, and stops jobs that were cancelled or
//! lost.

use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use fault::Fault;

use super::WorkerConfig;
use super::active::ActiveJobs;
use crate::context::{ReportedProgress, RunningJob, StopReason};
use crate::queue::Jobs;
use crate::sql::{self, RenewResult, millis};

/// Lower bound of the interval between renewals.
const RENEW_INTERVAL_MIN: Duration = Duration::from_millis(5);

/// Never returns.
pub(super) async fn keep_renewing(jobs: &Jobs, active: &ActiveJobs, config: &WorkerConfig) {
    let every = config.progress_interval.min(config.lease / 3).max(RENEW_INTERVAL_MIN);
    loop {
        tokio::time::sleep(every).await;
        let due = due(active, millis(config.lease), jobs.now());
        if due.is_empty() {
            continue;
        }
        // A failed renewal is repeated at the next tick; a lease lasts for several ticks.
        if let Err(fault) = renew_all(jobs, due, config).await {
            tracing::warn!(fault = %fault, code = fault.code(), "leases could not be renewed");
        }
    }
}

/// The jobs with unwritten progress, and those whose lease has used up a third.
fn due(
    active: &ActiveJobs,
    lease_ms: i64,
    now: Millis,
) -> Vec<(Arc<RunningJob>, ReportedProgress)> {
    let jobs_held = active.jobs_held().into_iter().map(|running_job| {
        let reported = running_job.progress();
        (running_job, reported)
    });
    let left = |running_job: &RunningJob| running_job.lease_until().0.saturating_sub(now.0);
    jobs_held
        .filter(|(running_job, reported)| {
            reported.has_unwritten() || left(running_job) <= lease_ms / 3 * 2
        })
        .collect()
}

async fn renew_all(
    jobs: &Jobs,
    due: Vec<(Arc<RunningJob>, ReportedProgress)>,
    config: &WorkerConfig,
) -> Result<(), Fault> {
    let db = &jobs.0.db;
    let mut tx = db.begin().await?;
    let until = Millis(jobs.now().0.saturating_add(millis(config.lease)));
    let mut renewed = Vec::with_capacity(due.len());
    for (running_job, reported) in &due {
        renewed.push(sql::renew(db, &mut tx, running_job.hold(), until, &reported.value).await?);
    }
    tx.commit().await?;
    for ((running_job, reported), renewed) in due.iter().zip(renewed) {
        match renewed {
            RenewResult::Held { cancel_requested } => {
                running_job.renewed(until, reported);
                if cancel_requested {
                    running_job.stop(StopReason::Cancelled);
                }
                if reported.has_unwritten() {
                    jobs.0.wakeups.changed(&running_job.job.id);
                }
            }
            RenewResult::Locked => {}
            RenewResult::Lost => running_job.stop(StopReason::LeaseLost),
        }
    }
    Ok(())
}
