//! The archive's jobs as tasks, for clients that follow a call to its end: the same jobs that
//! `arkiver_job_status` tells of, for nobody but the one who began them.

use std::time::Duration;

use archive_accounts::Visibility;
use contract::{Cx, JobPhase, JobQuery, JobReport, Reply};
use fault::{Fault, Kind};
use jobs::{Job, JobState};
use serde_json::json;

use crate::access::file_of;
use crate::job_tools::{halt, is_over, noted, progress, results_of, word, wrong};
use crate::said::JsonReply;
use crate::{Archive, INTEGRITY, PROCESS, check};

pub(crate) async fn processing(cx: Cx<Archive>, ask: JobQuery) -> Result<JobReport, Fault> {
    cx.service.followed(&cx, PROCESS, ask).await
}

pub(crate) async fn testing(cx: Cx<Archive>, ask: JobQuery) -> Result<JobReport, Fault> {
    cx.service.followed(&cx, INTEGRITY, ask).await
}

impl Archive {
    async fn followed(&self, cx: &Cx<Self>, kind: &str, ask: JobQuery) -> Result<JobReport, Fault> {
        let visibility = self.visibility(&cx.caller).await?;
        let mut job = self.jobs.get(&ask.job).await?;
        // A job of somebody else is as little there as one that nobody began.
        if job.kind != kind || job.owner.as_deref() != Some(visibility.owner.as_str()) {
            let message = format!("there is no job {:?}", job.id);
            return Err(Fault::not_found("job_not_found", message));
        }
        if ask.cancel && !is_over(&job) {
            job = match halt(self, &job).await {
                // It ended while it was looked at, which is as good.
                Err(fault) if fault.code() == "job_already_completed" => {
                    self.jobs.get(&job.id).await?
                }
                stopped => stopped?,
            };
        }
        let changed_at = job.finished_at.or(job.started_at).unwrap_or(job.created_at);
        let age = self.clock.now().0.saturating_sub(job.created_at.0).max(0).unsigned_abs();
        Ok(JobReport {
            created_at: job.created_at.to_rfc3339_millis(),
            changed_at: changed_at.to_rfc3339_millis(),
            age: Duration::from_millis(age),
            note: note(&job),
            phase: self.phase(&visibility, &job).await?,
        })
    }

    async fn phase(&self, visibility: &Visibility, job: &Job) -> Result<JobPhase, Fault> {
        Ok(match job.state {
            _ if word(job) == "completed" => JobPhase::Ended(Ok(self.end(visibility, job).await?)),
            JobState::Cancelled => JobPhase::Cancelled,
            JobState::Failed => JobPhase::Ended(Err(failure(job))),
            JobState::Queued | JobState::Running | JobState::Completed => JobPhase::Working,
        })
    }

    /// The call's own answer, as it would be had the caller waited.
    async fn end(&self, visibility: &Visibility, job: &Job) -> Result<Box<dyn Reply>, Fault> {
        if job.kind == INTEGRITY {
            let results = results_of(job)?;
            let text = check::text_of(&results);
            let json = json!({ "success": true, "testId": job.id, "status": "completed",
                "results": results });
            return Ok(Box::new(JsonReply::new(json, text)));
        }
        let (mut result, text) = self.result(visibility, job).await?;
        let message = noted(&mut result).unwrap_or_else(|| "Processing completed".to_owned());
        let json = json!({ "success": true, "jobId": job.id, "fileId": file_of(job)?,
            "status": "completed", "message": message, "result": result });
        Ok(Box::new(JsonReply::new(json, format!("Job {}: completed.{text}", job.id))))
    }
}

fn note(job: &Job) -> String {
    let said = match job.state {
        _ if word(job) == "completed" => return format!("job {} is completed", job.id),
        JobState::Cancelled => return format!("job {} was cancelled", job.id),
        JobState::Failed => return format!("job {} failed: {}", job.id, wrong(job).1),
        _ if job.cancel_requested => "stopping",
        JobState::Queued => "waiting for its turn",
        _ => job.progress.note.as_deref().unwrap_or("at work"),
    };
    format!("job {}: {said}, {} %", job.id, progress(job))
}

/// What the call would have been refused with.
fn failure(job: &Job) -> Fault {
    let (reason, message) = wrong(job);
    if reason.starts_with("store_") {
        return Fault::new(Kind::Unavailable, "store_unavailable", message);
    }
    Fault::new(Kind::Invalid, "processing_failed", message)
}
