//! Follows a collection for clients that use tasks. The jobs are those of `get_job_status`, but
//! only the caller that started a job may follow it.

use std::time::Duration;

use contract::{Cx, JobPhase, JobQuery, JobReport};
use fault::{Fault, Kind};
use jobs::JobState;

use crate::collector::collection_job::{JobPayload, job_json, job_text, started_json, unknown_job};
use crate::collector::names::require_sku_and_market;
use crate::collector::{Collector, KIND};
use contract::JsonReply;

pub(super) async fn follow(cx: Cx<Collector>, query: JobQuery) -> Result<JobReport, Fault> {
    let jobs = &cx.service.jobs;
    let mut job = jobs.get(&query.job).await?;
    if job.kind != KIND || job.owner.as_deref() != Some(&*cx.caller.subject) {
        return Err(unknown_job(&query.job));
    }
    let payload: JobPayload = job.payload_as()?;
    // The token's limits may have been narrowed since the job started.
    require_sku_and_market(&cx.caller, &payload.sku, &payload.market)
        .map_err(|_| unknown_job(&query.job))?;
    if query.cancel && !job.state.is_finished() {
        job = match jobs.cancel(&job.id).await {
            // The job ended meanwhile, so there is nothing to cancel.
            Err(fault) if fault.code() == "job_finished" => jobs.get(&job.id).await?,
            cancelled => cancelled?,
        };
    }
    let described = job_json(&job, &payload)?;
    let note = job_text(&job, &payload, &described);
    let phase = match job.state {
        JobState::Queued | JobState::Running => JobPhase::Working,
        JobState::Cancelled => JobPhase::Cancelled,
        JobState::Failed => {
            let message =
                job.error.as_ref().map_or("the collection failed", |it| it.message.as_str());
            JobPhase::Ended(Err(Fault::new(Kind::Unavailable, "collection_failed", message)))
        }
        JobState::Completed => {
            let mut json = started_json(&job.id, &payload);
            json["job"] = described;
            JobPhase::Ended(Ok(Box::new(JsonReply::new(json, note.as_str()))))
        }
    };
    let changed_at = job.finished_at.or(job.started_at).unwrap_or(job.created_at);
    let age = cx.service.now().0.saturating_sub(job.created_at.0).max(0).unsigned_abs();
    Ok(JobReport {
        created_at: job.created_at.to_rfc3339(),
        changed_at: changed_at.to_rfc3339(),
        age: Duration::from_millis(age),
        note,
        phase,
    })
}
