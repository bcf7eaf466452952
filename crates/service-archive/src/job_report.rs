//! A job of the archive as its callers see it: status word, progress, result, failure; and how a
//! job is cancelled. Shared by the job tools and the task follower.

use archive_accounts::Visibility;
use archive_drafts::Category;
use archive_insights::{Insight, InsightQuery};
use contract::JsonReply;
use fault::{Fault, Kind};
use jobs::{Job, JobState};
use serde_json::{Value, json};

use crate::access::file_of;
use crate::clip::clip;
use crate::processing::ProcessSummary;
use crate::{Archive, INTEGRITY, integrity, wire};

/// Insights in one status reply, unless the caller asks for another number.
const INSIGHTS_SHOWN: u32 = 50;
/// Insights of a file that one query reads.
const INSIGHTS_PER_QUERY: u32 = 1000;
const TEXT_MAX: usize = 16_000;

/// Which part of a result a reply has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResultPage {
    offset: u64,
    limit: u32,
    /// Whether the caller asked for a part. Otherwise the results of a test are whole.
    is_asked: bool,
}

impl Default for ResultPage {
    fn default() -> Self {
        Self::new(None, None)
    }
}

impl ResultPage {
    pub(crate) fn new(offset: Option<u64>, limit: Option<u32>) -> Self {
        Self {
            offset: offset.unwrap_or_default(),
            limit: limit.unwrap_or(INSIGHTS_SHOWN),
            is_asked: offset.is_some() || limit.is_some(),
        }
    }

    fn of<T>(self, mut all: Vec<T>) -> Vec<T> {
        let offset = usize::try_from(self.offset).unwrap_or(usize::MAX).min(all.len());
        let mut page = all.split_off(offset);
        page.truncate(self.limit as usize);
        page
    }
}

/// A test that ran inside its call is over at once: its job carries the results from the start.
pub(crate) fn is_over(job: &Job) -> bool {
    job.state.is_finished() || results_in_payload(job).is_some()
}

/// The results in the payload of a test that ran inside its call.
fn results_in_payload(job: &Job) -> Option<Value> {
    let is_test = job.kind == INTEGRITY;
    job.payload_as::<integrity::TestPayload>().ok().filter(|_| is_test).and_then(|it| it.results)
}

/// The results of a test that is over.
pub(crate) fn results_of(job: &Job) -> Result<Value, Fault> {
    Ok(results_in_payload(job).or(job.result_as()?).unwrap_or_else(|| json!({})))
}

pub(crate) fn status_word(job: &Job) -> &'static str {
    match job.state {
        _ if results_in_payload(job).is_some() => "completed",
        JobState::Queued => "queued",
        JobState::Running => "processing",
        JobState::Completed => "completed",
        JobState::Failed | JobState::Cancelled => "failed",
    }
}

/// In percent; 100 only when the job is completed.
pub(crate) fn progress(job: &Job) -> u64 {
    if status_word(job) == "completed" { 100 } else { job.progress.done.min(99) }
}

impl Archive {
    /// The reply of `arkiver_job_status`.
    pub(crate) async fn job_report(
        &self,
        visibility: &Visibility,
        job: &Job,
        page: ResultPage,
    ) -> Result<JsonReply, Fault> {
        let mut json = json!({ "success": true, "jobId": job.id, "status": status_word(job),
            "progress": progress(job), "fileId": file_of(job)? });
        wire::put(&mut json, "startedAt", job.started_at.map(|it| it.to_rfc3339_millis()));
        wire::put(&mut json, "completedAt", job.finished_at.map(|it| it.to_rfc3339_millis()));
        let mut text = format!("Job {}: {}, {} %.", job.id, status_word(job), progress(job));
        let message = match status_word(job) {
            "queued" => "waiting for its turn; ask again in 5 s, or with waitSeconds".to_owned(),
            "processing" => {
                let note = job.progress.note.as_deref().unwrap_or("at work");
                format!("{note}; ask again in 3 s, or with waitSeconds")
            }
            "completed" => {
                let (mut result, shown) = self.result(visibility, job, page).await?;
                let message = take_note(&mut result).unwrap_or_else(|| "completed".to_owned());
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
        Ok(wire::reply(json, text))
    }

    /// The result and its readable text.
    pub(crate) async fn result(
        &self,
        visibility: &Visibility,
        job: &Job,
        page: ResultPage,
    ) -> Result<(Value, String), Fault> {
        if job.kind == INTEGRITY {
            let mut results = results_of(job)?;
            let pagination = page.is_asked.then(|| cut_details(&mut results, page));
            let text = integrity::results_text(&results);
            let took = job.started_at.zip(job.finished_at);
            let seconds = took.map_or(0.0, |(from, to)| (to.0 - from.0).max(0) as f64 / 1000.0);
            let metadata = json!({ "processingTime": seconds, "extractorsUsed": [],
                "processorsUsed": ["integrity"] });
            let mut json = json!({ "insights": [], "metadata": metadata, "integrity": results });
            wire::put(&mut json, "pagination", pagination);
            return Ok((json, text));
        }
        let summary: ProcessSummary = job.result_as()?.unwrap_or_default();
        let file_id = file_of(job)?;
        let all = self.insights_of_job(visibility, &file_id, &job.id).await?;
        let total = all.len() as u64;
        let insights = page.of(all);
        let mut text = format!(
            " {} pages, {} words, {} insights in {} s.",
            summary.page_count, summary.word_count, summary.insights, summary.processing_time
        );
        for problem in summary.problems.iter().take(5) {
            text.push_str(&format!("\nProblem: {problem}"));
        }
        let mut next = page.offset;
        for insight in &insights {
            text.push_str(&insight_line(insight));
            next += 1;
            if text.len() > TEXT_MAX {
                break;
            }
        }
        let mut metadata = serde_json::to_value(&summary).map_err(Fault::internal)?;
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.remove("insights");
        }
        let shown: Vec<Value> =
            insights.iter().map(|it| wire::insight(it, None, visibility)).collect();
        let mut json = json!({ "insights": shown, "insightsTotal": summary.insights,
            "metadata": metadata });
        json["pagination"] = wire::pagination(page.limit, page.offset, insights.len(), total);
        if total == 0 && summary.insights > 0 {
            json["note"] =
                Value::from("the file was deleted or processed again, and these insights with it");
        } else if next < total && !insights.is_empty() {
            let call = json!({ "jobId": job.id, "offset": next, "limit": page.limit });
            text.push_str(&format!("\nnext: arkiver_job_status {call}"));
            let after = page.offset + insights.len() as u64;
            if after < total {
                let call = json!({ "jobId": job.id, "offset": after, "limit": page.limit });
                json["more"] = Value::from(format!("arkiver_job_status {call}"));
            }
        }
        Ok((json, text))
    }

    /// The insights that a job found in a file and that still exist, by category, the most
    /// confident first.
    async fn insights_of_job(
        &self,
        visibility: &Visibility,
        file_id: &str,
        job_id: &str,
    ) -> Result<Vec<Insight>, Fault> {
        let mut query = InsightQuery {
            file_id: Some(file_id.to_owned()),
            descending: false,
            limit: INSIGHTS_PER_QUERY,
            ..InsightQuery::default()
        };
        let mut insights: Vec<Insight> = Vec::new();
        loop {
            let found = self.insights.query(visibility, &query).await?;
            query.offset += found.insights.len() as u64;
            let is_last = found.insights.is_empty() || query.offset >= found.total;
            let of_job = |it: &Insight| it.job_id.as_deref() == Some(job_id);
            let all = found.insights.into_iter().map(|(insight, _)| insight);
            insights.extend(all.filter(of_job));
            if is_last {
                break;
            }
        }
        let rank = |it: &Insight| {
            let place = |known: &Category| Some(known.word()) == it.category.as_deref();
            Category::ALL.iter().position(place).unwrap_or(usize::MAX)
        };
        insights.sort_by(|one, other| {
            rank(one).cmp(&rank(other)).then(other.confidence.total_cmp(&one.confidence))
        });
        Ok(insights)
    }
}

/// Keeps one page of the details of a test, and returns which.
fn cut_details(results: &mut Value, page: ResultPage) -> Value {
    let details = results["details"].take();
    let details = match details {
        Value::Array(details) => details,
        _ => Vec::new(),
    };
    let total = details.len() as u64;
    let shown = page.of(details);
    let pagination = wire::pagination(page.limit, page.offset, shown.len(), total);
    results["details"] = Value::from(shown);
    pagination
}

/// Moves the note out of a result; the note becomes the message of the reply.
pub(crate) fn take_note(result: &mut Value) -> Option<String> {
    let note = result.as_object_mut()?.remove("note")?;
    note.as_str().map(ToOwned::to_owned)
}

/// One line about an insight.
pub(crate) fn insight_line(it: &Insight) -> String {
    let category = it.category.as_deref().unwrap_or("insight");
    let page = it.page.map(|page| format!(", page {page}")).unwrap_or_default();
    format!("\n- [{category}] {} ({:.2}{page}) {}", clip(&it.title, 200), it.confidence, it.id)
}

/// Why a job did not complete: a code and a sentence.
pub(crate) fn failure_reason(job: &Job) -> (&str, &str) {
    match (&job.error, job.state) {
        (_, JobState::Cancelled) => ("cancelled", "the job was cancelled"),
        (Some(error), _) => (error.code.as_str(), error.message.as_str()),
        (None, _) => ("unknown", "the job failed"),
    }
}

fn error(job: &Job) -> Value {
    let (reason, message) = failure_reason(job);
    let code = if reason.starts_with("store_") { "DATABASE_ERROR" } else { "PROCESSING_FAILED" };
    json!({ "code": code, "message": message, "details": { "reason": reason,
        "attempts": job.attempt } })
}

impl Archive {
    /// Cancels a queued job, or asks a running one to stop. A job that is over is a conflict.
    pub(crate) async fn cancel_job(&self, job: &Job) -> Result<Job, Fault> {
        if is_over(job) {
            return Err(finished(job));
        }
        let job = match self.jobs.cancel(&job.id).await {
            // The job ended between the check above and this call.
            Err(fault) if fault.code() == "job_finished" => {
                return Err(finished(&self.jobs.get(&job.id).await?));
            }
            cancelled => cancelled?,
        };
        if job.state == JobState::Cancelled {
            self.passwords.forget(&job.id);
            self.reset_file(&job).await?;
        }
        Ok(job)
    }

    /// Restores the status of the file whose job was cancelled before it began.
    async fn reset_file(&self, job: &Job) -> Result<(), Fault> {
        if job.kind == INTEGRITY {
            return Ok(());
        }
        let mut tx = self.db.begin().await?;
        self.documents.stop_processing(&mut tx, &file_of(job)?, &job.id).await?;
        tx.commit().await
    }
}

fn finished(job: &Job) -> Fault {
    let message = format!("job {} is {} already", job.id, status_word(job));
    Fault::new(Kind::Conflict, "job_already_completed", message)
}
