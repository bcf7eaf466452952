//! `arkiver_job_status`: the state of a job and, once it is over, its result. With `waitSeconds`
//! the call waits for the end and reports progress meanwhile.

use std::time::Duration;

use contract::{Cx, JsonReply};
use fault::Fault;
use jobs::Job;
use serde::Deserialize;
use tokio::time::Instant;

use crate::Archive;
use crate::job_report::{ResultPage, is_over, progress, status_word};

/// The part of the call's deadline that is left for writing the reply.
const TIME_TO_REPLY: Duration = Duration::from_secs(2);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    job_id: String,
    #[serde(default)]
    wait_seconds: f64,
    offset: Option<u64>,
    limit: Option<u32>,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let visibility = cx.service.visibility(&cx.caller).await?;
    let mut job = cx.service.job_to_read(&visibility, &args.job_id).await?;
    let timeout = Duration::try_from_secs_f64(args.wait_seconds).unwrap_or_default();
    // An owner with 32 waiting calls gets the current state at once.
    let slot = cx.service.wait_slots.try_acquire(visibility.owner.clone());
    if slot.is_ok() && !timeout.is_zero() {
        job = wait(&cx, job, timeout).await?;
    }
    let page = ResultPage::new(args.offset, args.limit);
    cx.service.job_report(&visibility, &job, page).await
}

/// Returns the job when it is over or after `timeout`, and reports each change of its progress.
async fn wait(cx: &Cx<Archive>, mut job: Job, timeout: Duration) -> Result<Job, Fault> {
    let last = cx.deadline.checked_sub(TIME_TO_REPLY).unwrap_or(cx.deadline);
    let until = last.min(Instant::now() + timeout);
    let mut reported = None;
    loop {
        let done = progress(&job);
        if reported != Some(done) {
            reported = Some(done);
            let note = job.progress.note.as_deref().unwrap_or(status_word(&job));
            // At most 100, which a float holds exactly.
            cx.progress.report(done as f64, Some(100.0), note);
        }
        let left = until.saturating_duration_since(Instant::now());
        if is_over(&job) || left.is_zero() {
            return Ok(job);
        }
        job = cx.service.jobs.wait_change(&job.id, job.revision, left).await?;
    }
}
