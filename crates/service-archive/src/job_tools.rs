//! `arkiver_job_status` and `arkiver_cancel_job`: how far a job is, what came of it, and its end.

use std::time::Duration;

use archive_accounts::Visibility;
use archive_drafts::Category;
use archive_insights::Insight;
use contract::Cx;
use fault::{Fault, Kind};
use jobs::{Job, JobState};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::access::file_of;
use crate::process::ProcessSummary;
use crate::said::{JsonReply, clipped};
use crate::{Archive, INTEGRITY, check, wire};

/// Insights that a status shows.
const SHOWN: usize = 50;
/// Insights of a file that are looked through for them.
const LOOKED_AT: u32 = 1000;
/// What is left of a call's time to answer in.
const TIME_TO_ANSWER: Duration = Duration::from_secs(2);
const TEXT_MAX: usize = 16_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusArgs {
    job_id: String,
    #[serde(default)]
    wait_seconds: f64,
}

pub(crate) async fn status(cx: Cx<Archive>, args: StatusArgs) -> Result<JsonReply, Fault> {
    let visibility = cx.service.visibility(&cx.caller).await?;
    let mut job = cx.service.job_to_read(&visibility, &args.job_id).await?;
    let patience = Duration::try_from_secs_f64(args.wait_seconds).unwrap_or_default();
    // Whoever waits for many jobs already is told at once how this one is.
    let seat = cx.service.watching.take(&visibility.owner);
    if seat.is_some() && !patience.is_zero() {
        job = wait(&cx, job, patience).await?;
    }
    cx.service.told(&visibility, &job).await
}

/// The job at its end, or as it is when the patience is over. Whoever listens is told each step.
async fn wait(cx: &Cx<Archive>, mut job: Job, patience: Duration) -> Result<Job, Fault> {
    let last = cx.deadline.checked_sub(TIME_TO_ANSWER).unwrap_or(cx.deadline);
    let until = last.min(Instant::now() + patience);
    let mut reported = None;
    loop {
        let done = progress(&job);
        if reported != Some(done) {
            reported = Some(done);
            let note = job.progress.note.as_deref().unwrap_or(word(&job));
            // At most a hundred, which a float holds.
            cx.progress.report(done as f64, Some(100.0), note);
        }
        let left = until.saturating_duration_since(Instant::now());
        if is_over(&job) || left.is_zero() {
            return Ok(job);
        }
        job = cx.service.jobs.wait_change(&job.id, job.revision, left).await?;
    }
}

/// A test that was done on the spot waits in the queue only to be put away.
pub(crate) fn is_over(job: &Job) -> bool {
    job.state.is_finished() || kept(job).is_some()
}

/// The results that a test's job has carried since it was made.
fn kept(job: &Job) -> Option<Value> {
    let is_test = job.kind == INTEGRITY;
    job.payload_as::<check::TestPayload>().ok().filter(|_| is_test).and_then(|it| it.results)
}

/// What a test that is over came to.
pub(crate) fn results_of(job: &Job) -> Result<Value, Fault> {
    Ok(kept(job).or(job.result_as()?).unwrap_or_else(|| json!({})))
}

pub(crate) fn word(job: &Job) -> &'static str {
    match job.state {
        _ if kept(job).is_some() => "completed",
        JobState::Queued => "queued",
        JobState::Running => "processing",
        JobState::Completed => "completed",
        JobState::Failed | JobState::Cancelled => "failed",
    }
}

/// In percent; all of it only at the end.
pub(crate) fn progress(job: &Job) -> u64 {
    if word(job) == "completed" { 100 } else { job.progress.done.min(99) }
}

impl Archive {
    async fn told(&self, visibility: &Visibility, job: &Job) -> Result<JsonReply, Fault> {
        let mut json = json!({ "success": true, "jobId": job.id, "status": word(job),
            "progress": progress(job), "fileId": file_of(job)? });
        wire::put(&mut json, "startedAt", job.started_at.map(|it| it.to_rfc3339_millis()));
        wire::put(&mut json, "completedAt", job.finished_at.map(|it| it.to_rfc3339_millis()));
        let mut text = format!("Job {}: {}, {} %.", job.id, word(job), progress(job));
        let message = match word(job) {
            "queued" => "waiting for its turn; ask again in 5 s, or with waitSeconds".to_owned(),
            "processing" => {
                let note = job.progress.note.as_deref().unwrap_or("at work");
                format!("{note}; ask again in 3 s, or with waitSeconds")
            }
            "completed" => {
                let (mut result, shown) = self.result(visibility, job).await?;
                let message = noted(&mut result).unwrap_or_else(|| "completed".to_owned());
                json["result"] = result;
                text.push_str(&shown);
                message
            }
            _ => {
                let error = error(job);
                text.push_str(&format!(" {}", error["message"].as_str().unwrap_or_default()));
                json["error"] = error;
                let cancelled = job.state == JobState::Cancelled;
                let message = if cancelled {
                    "start it again when it is wanted"
                } else {
                    "start it again once the reason is gone"
                };
                message.to_owned()
            }
        };
        json["message"] = Value::from(message);
        Ok(JsonReply::new(json, text))
    }

    /// The result, and a text that tells it.
    pub(crate) async fn result(
        &self,
        visibility: &Visibility,
        job: &Job,
    ) -> Result<(Value, String), Fault> {
        if job.kind == INTEGRITY {
            let results = results_of(job)?;
            let text = check::text_of(&results);
            let took = job.started_at.zip(job.finished_at);
            let seconds = took.map_or(0.0, |(from, to)| (to.0 - from.0).max(0) as f64 / 1000.0);
            let metadata = json!({ "processingTime": seconds, "extractorsUsed": [],
                "processorsUsed": ["integrity"] });
            let json = json!({ "insights": [], "metadata": metadata, "integrity": results });
            return Ok((json, text));
        }
        let told: ProcessSummary = job.result_as()?.unwrap_or_default();
        let file_id = file_of(job)?;
        let mut made = self.made_by(visibility, &file_id, &job.id).await?;
        made.truncate(SHOWN);
        let mut text = format!(
            " {} pages, {} words, {} insights in {} s.",
            told.page_count, told.word_count, told.insights, told.processing_time
        );
        for problem in told.problems.iter().take(5) {
            text.push_str(&format!("\nProblem: {problem}"));
        }
        for insight in &made {
            text.push_str(&line(insight));
            if text.len() > TEXT_MAX {
                break;
            }
        }
        let mut metadata = serde_json::to_value(&told).map_err(Fault::internal)?;
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.remove("insights");
        }
        let shown: Vec<Value> = made.iter().map(|it| wire::insight(it, None, visibility)).collect();
        let mut json = json!({ "insights": shown, "insightsTotal": told.insights,
            "metadata": metadata });
        if made.is_empty() && told.insights > 0 {
            json["note"] =
                Value::from("the file was deleted or processed again, and these insights with it");
        } else if (made.len() as u64) < told.insights {
            let call = json!({ "filters": { "fileId": file_id },
                "sort": { "field": "createdAt", "order": "asc" },
                "pagination": { "limit": 100, "offset": 0 } });
            let more = format!("all of them: arkiver_query_insights {call}");
            text.push_str(&format!("\nFor {more}"));
            json["more"] = Value::from(more);
        }
        Ok((json, text))
    }

    /// What a job made of a file and is still there: by category, and the surest first.
    async fn made_by(
        &self,
        visibility: &Visibility,
        file_id: &str,
        job_id: &str,
    ) -> Result<Vec<Insight>, Fault> {
        let (all, _) = self.insights.list_by_file(visibility, file_id, LOOKED_AT).await?;
        let mut made: Vec<Insight> =
            all.into_iter().filter(|it| it.job_id.as_deref() == Some(job_id)).collect();
        let rank = |it: &Insight| {
            let place = |known: &Category| Some(known.word()) == it.category.as_deref();
            Category::ALL.iter().position(place).unwrap_or(usize::MAX)
        };
        made.sort_by(|one, other| {
            rank(one).cmp(&rank(other)).then(other.confidence.total_cmp(&one.confidence))
        });
        Ok(made)
    }
}

/// Takes out of a result what is to be said beside it.
pub(crate) fn noted(result: &mut Value) -> Option<String> {
    let note = result.as_object_mut()?.remove("note")?;
    note.as_str().map(ToOwned::to_owned)
}

/// One insight in a text.
pub(crate) fn line(it: &Insight) -> String {
    let category = it.category.as_deref().unwrap_or("insight");
    let page = it.page.map(|page| format!(", page {page}")).unwrap_or_default();
    format!("\n- [{category}] {} ({:.2}{page}) {}", clipped(&it.title, 200), it.confidence, it.id)
}

/// Why a job did not complete: a word, and a sentence.
pub(crate) fn wrong(job: &Job) -> (&str, &str) {
    match (&job.error, job.state) {
        (_, JobState::Cancelled) => ("cancelled", "the job was cancelled"),
        (Some(error), _) => (error.code.as_str(), error.message.as_str()),
        (None, _) => ("unknown", "the job failed"),
    }
}

fn error(job: &Job) -> Value {
    let (reason, message) = wrong(job);
    let code = if reason.starts_with("store_") { "DATABASE_ERROR" } else { "PROCESSING_FAILED" };
    json!({ "code": code, "message": message, "details": { "reason": reason,
        "attempts": job.attempt } })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CancelArgs {
    job_id: String,
}

pub(crate) async fn cancel(cx: Cx<Archive>, args: CancelArgs) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let job = archive.job_to_cancel(&visibility, &args.job_id).await?;
    let job = halt(archive, &job).await?;
    let message = if job.state == JobState::Cancelled {
        "the job was cancelled"
    } else {
        "the job was asked to stop, and does within seconds"
    };
    let json = json!({ "success": true, "jobId": job.id, "status": word(&job),
        "message": message });
    Ok(JsonReply::new(json, format!("Job {}: {message}.", job.id)))
}

/// Stops a job, or has it asked to stop. One that is over is told so.
pub(crate) async fn halt(archive: &Archive, job: &Job) -> Result<Job, Fault> {
    if is_over(job) {
        return Err(finished(job));
    }
    let job = match archive.jobs.cancel(&job.id).await {
        // It ended while it was looked at.
        Err(fault) if fault.code() == "job_finished" => {
            return Err(finished(&archive.jobs.get(&job.id).await?));
        }
        cancelled => cancelled?,
    };
    if job.state == JobState::Cancelled {
        archive.rest(&job).await?;
    }
    Ok(job)
}

impl Archive {
    /// A job that was cancelled before it began leaves its file as it was.
    async fn rest(&self, job: &Job) -> Result<(), Fault> {
        if job.kind == INTEGRITY {
            return Ok(());
        }
        let mut tx = self.db.begin().await?;
        self.documents.stop_processing(&mut tx, &file_of(job)?, &job.id).await?;
        tx.commit().await
    }
}

fn finished(job: &Job) -> Fault {
    let message = format!("job {} is {} already", job.id, word(job));
    Fault::new(Kind::Conflict, "job_already_completed", message)
}
