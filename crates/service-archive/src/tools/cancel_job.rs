//! `arkiver_cancel_job`: cancels a queued job and asks a running one to stop.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use jobs::JobState;
use serde::Deserialize;
use serde_json::json;

use crate::Archive;
use crate::job_report::status_word;
use crate::wire::reply;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    job_id: String,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let job = archive.job_to_cancel(&visibility, &args.job_id).await?;
    let job = archive.cancel_job(&job).await?;
    let message = if job.state == JobState::Cancelled {
        "the job was cancelled"
    } else {
        "the job was asked to stop, and does within seconds"
    };
    let json = json!({ "success": true, "jobId": job.id, "status": status_word(&job),
        "message": message });
    let next = next_step("arkiver_job_status", &json!({ "jobId": job.id }));
    Ok(reply(json, format!("Job {}: {message}.{next}", job.id)))
}
