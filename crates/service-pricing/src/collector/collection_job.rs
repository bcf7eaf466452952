//! A collection as a job of the shared queue: what the job carries, what it results in, and how the
//! tools show it. The queue is in the database, so a collection survives a restart of the process.

use clock::Millis;
use contract::next_step;
use fault::Fault;
use jobs::{Job, JobState};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::storage::ticks::MOCK;

/// The most problems that the text of a job lists.
const PROBLEMS_SHOWN: usize = 5;

/// The payload of a collection job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct JobPayload {
    pub(super) sku: String,
    pub(super) market: String,
    pub(super) connector: String,
    pub(super) depth: u32,
    /// Whether simulated ticks are kept apart, because the call named no connector.
    #[serde(default)]
    pub(super) trial: bool,
}

impl JobPayload {
    pub(super) fn simulated(&self) -> bool {
        self.connector == MOCK
    }

    /// The connector as a sentence names it.
    fn connector_label(&self) -> &str {
        if self.simulated() { "mock (simulated)" } else { &self.connector }
    }
}

/// The result of a collection job.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CollectionResult {
    /// How many ticks were collected, and how many of them were new.
    pub(super) collected: u64,
    pub(super) new: u64,
    pub(super) problems: Vec<String>,
    pub(super) problem_count: u64,
}

/// The answer to `start_collection`.
pub(super) fn started_json(id: &str, payload: &JobPayload) -> Value {
    let JobPayload { sku, market, connector, depth, trial } = payload;
    json!({ "ok": true, "job_id": id, "sku": sku, "market": market, "connector": connector,
        "depth": depth, "simulated": payload.simulated(), "trial": trial })
}

/// Describes a job in one line, and its problems in further ones.
pub(super) fn job_text(job: &Job, payload: &JobPayload, described: &Value) -> String {
    let JobPayload { sku, market, .. } = payload;
    let connector = payload.connector_label();
    let (id, status) = (&job.id, described["status"].as_str().unwrap_or_default());
    let (percent, ticks) = (progress(job) * 100.0, &described["collected"]);
    let mut line = format!(
        "Job {id}: {status}, {percent:.0} % ({connector} of {sku} in {market}, {ticks} ticks)"
    );
    if let Some(error) = described["error"].as_str() {
        line.push_str(&format!("\nError: {error}"));
    }
    let problems = described["problems"].as_array().map_or(&[][..], Vec::as_slice);
    for problem in problems.iter().filter_map(Value::as_str).take(PROBLEMS_SHOWN) {
        line.push_str(&format!("\nProblem: {problem}"));
    }
    let count = described["problem_count"].as_u64().unwrap_or_default();
    if count > PROBLEMS_SHOWN as u64 {
        line.push_str(&format!("\n{count} problems in all."));
    }
    line
}

/// The call that usually comes after `get_job_status`.
pub(super) fn next_call(job: &Job, payload: &JobPayload) -> String {
    let JobPayload { sku, market, .. } = payload;
    match job.state {
        JobState::Queued | JobState::Running => {
            next_step("get_job_status", &json!({ "job_id": job.id }))
        }
        JobState::Completed => {
            next_step("fetch_market_features", &json!({ "sku": sku, "market": market }))
        }
        JobState::Failed | JobState::Cancelled => String::new(),
    }
}

/// The same error as the queue's, so that a job outside the caller's limits looks missing.
pub(super) fn unknown_job(id: &str) -> Fault {
    let shown: String = id.chars().take(64).collect();
    Fault::not_found("job_not_found", format!("there is no job {shown:?}"))
}

pub(super) fn job_json(job: &Job, payload: &JobPayload) -> Result<Value, Fault> {
    let status = match job.state {
        JobState::Queued => "QUEUED",
        JobState::Running => "RUNNING",
        JobState::Completed => "DONE",
        JobState::Failed => "FAILED",
        JobState::Cancelled => "CANCELLED",
    };
    let found: Option<CollectionResult> = job.result_as()?;
    let time = |at: Option<Millis>| at.map(Millis::to_rfc3339);
    let collected = found.as_ref().map_or(job.progress.done, |it| it.collected);
    Ok(json!({
        "id": job.id,
        "sku": payload.sku,
        "market": payload.market,
        "connector": payload.connector,
        "depth": payload.depth,
        "simulated": payload.simulated(),
        "trial": payload.trial,
        "status": status,
        "progress": progress(job),
        "collected": collected,
        "new": found.as_ref().map(|it| it.new),
        "problems": found.as_ref().map(|it| &it.problems),
        "problem_count": found.as_ref().map(|it| it.problem_count),
        "attempts": job.attempt,
        "error": job.error.as_ref().map(|it| &it.message),
        "error_code": job.error.as_ref().map(|it| &it.code),
        "created_at": job.created_at.to_rfc3339(),
        "started_at": time(job.started_at),
        "finished_at": time(job.finished_at),
    }))
}

/// Progress from 0 to 1: the share of batches that were read, from the note of the job.
fn progress(job: &Job) -> f64 {
    if job.state == JobState::Completed {
        return 1.0;
    }
    let note = job.progress.note.as_deref().and_then(|note| note.split_once('/'));
    let share = note.and_then(|(done, all)| {
        Some(done.parse::<f64>().ok()? / all.parse::<f64>().ok().filter(|all| *all > 0.0)?)
    });
    share.unwrap_or(0.0).clamp(0.0, 1.0)
}
