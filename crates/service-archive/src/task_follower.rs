//! Reports the state of the job behind a call, for transports that show a call as a task. Only the
//! caller who started a job can follow it.

use std::time::Duration;

use archive_accounts::Visibility;
use contract::{Cx, JobPhase, JobQuery, JobReport, Reply};
use fault::{Fault, Kind};
use jobs::{Job, JobState};
use serde_json::json;

use crate::access::file_of;
use crate::job_report::{
    ResultPage, failure_reason, is_over, progress, results_of, status_word, take_note,
};
use crate::wire::reply;
use crate::{Archive, INTEGRITY, PROCESS, integrity};

pub(crate) async fn follow_processing(
    cx: Cx<Archive>,
    query: JobQuery,
) -> Result<JobReport, Fault> {
    cx.service.follow(&cx, PROCESS, query).await
}

pub(crate) async fn follow_integrity_test(
    cx: Cx<Archive>,
    query: JobQuery,
) -> Result<JobReport, Fault> {
    cx.service.follow(&cx, INTEGRITY, query).await
}

impl Archive {
    async fn follow(&self, cx: &Cx<Self>, kind: &str, query: JobQuery) -> Result<JobReport, Fault> {
        let visibility = self.visibility(&cx.caller).await?;
        let mut job = self.jobs.get(&query.job).await?;
        // The job of another caller gets the same answer as a job that does not exist.
        if job.kind != kind || job.owner.as_deref() != Some(visibility.owner.as_str()) {
            let message = format!("there is no job {:?}", job.id);
            return Err(Fault::not_found("job_not_found", message));
        }
        if query.cancel && !is_over(&job) {
            job = match self.cancel_job(&job).await {
                // The job ended before it could be cancelled.
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
            _ if status_word(job) == "completed" => {
                JobPhase::Ended(Ok(self.end(visibility, job).await?))
            }
            JobState::Cancelled => JobPhase::Cancelled,
            JobState::Failed => JobPhase::Ended(Err(failure(job))),
            JobState::Queued | JobState::Running | JobState::Completed => JobPhase::Working,
        })
    }

    /// The reply the call would have given if the caller had waited.
    async fn end(&self, visibility: &Visibility, job: &Job) -> Result<Box<dyn Reply>, Fault> {
        if job.kind == INTEGRITY {
            let results = results_of(job)?;
            let text = integrity::results_text(&results);
            let json = json!({ "success": true, "testId": job.id, "status": "completed",
                "results": results });
            return Ok(Box::new(reply(json, text)));
        }
        let (mut result, text) = self.result(visibility, job, ResultPage::default()).await?;
        let message = take_note(&mut result).unwrap_or_else(|| "Processing completed".to_owned());
        let json = json!({ "success": true, "jobId": job.id, "fileId": file_of(job)?,
            "status": "completed", "message": message, "result": result });
        Ok(Box::new(reply(json, format!("Job {}: completed.{text}", job.id))))
    }
}

fn note(job: &Job) -> String {
    let activity = match job.state {
        _ if status_word(job) == "completed" => return format!("job {} is completed", job.id),
        JobState::Cancelled => return format!("job {} was cancelled", job.id),
        JobState::Failed => return format!("job {} failed: {}", job.id, failure_reason(job).1),
        _ if job.cancel_requested => "stopping",
        JobState::Queued => "waiting for its turn",
        _ => job.progress.note.as_deref().unwrap_or("at work"),
    };
    format!("job {}: {activity}, {} %", job.id, progress(job))
}

/// The fault the call would have ended with.
fn failure(job: &Job) -> Fault {
    let (reason, message) = failure_reason(job);
    if reason.starts_with("store_") {
        return Fault::new(Kind::Unavailable, "store_unavailable", message);
    }
    Fault::new(Kind::Invalid, "processing_failed", message)
}
