//! An integrity test as a job: the rules first, then the model where the caller named one. The
//! results are stored with the job.

use std::sync::Arc;

use archive_accounts::Accounts;
use archive_documents::Documents;
use archive_insights::Insights;
use archive_integrity::IntegrityTest;
use async_trait::async_trait;
use fault::Fault;
use jobs::{JobContext, JobHandler, JobOutcome};
use llm::Model;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::integrity::model_judgement::{JUDGED_MAX, judge};
use crate::integrity::report::STORED_BYTES_MAX;
use crate::integrity::run::{FinishedTest, SourceLimit, TestRun};
use crate::integrity::{LOCAL, TestPayload};

/// The progress in percent when the rules are done and a model begins.
const RULES_DONE: usize = 30;

pub(crate) struct IntegrityJob {
    pub(crate) accounts: Accounts,
    pub(crate) documents: Documents,
    pub(crate) insights: Insights,
    pub(crate) models: Vec<Arc<dyn Model>>,
    pub(crate) permits: Arc<Semaphore>,
}

#[async_trait]
impl JobHandler for IntegrityJob {
    async fn run(&self, context: JobContext) -> JobOutcome {
        let stopping = context.stopping().clone();
        tokio::select! {
            biased;
            _ = context.cancelled() => JobOutcome::Cancelled,
            () = stopping.cancelled() => JobOutcome::Release,
            ended = self.test(&context) => JobOutcome::from_result(ended),
        }
    }
}

impl IntegrityJob {
    async fn test(&self, context: &JobContext) -> Result<Value, Fault> {
        let payload: TestPayload = context.payload()?;
        // The test ran inside its call, and its payload has the results.
        if payload.results.is_some() {
            return Ok(Value::Null);
        }
        let test =
            IntegrityTest::parse(&payload.test).ok_or_else(|| Fault::internal("no such test"))?;
        let owner = context.job().owner.clone().unwrap_or_default();
        let visibility = self.accounts.visibility(&owner).await?;
        let insights = self.insights.visible_of_ids(&visibility, &payload.insight_ids).await?;
        let gone = payload.insight_ids.len() - insights.len();
        let run = TestRun {
            documents: &self.documents,
            visibility: &visibility,
            test,
            permits: &self.permits,
        };
        let has_model = payload.llm != LOCAL;
        let share = if has_model { RULES_DONE } else { 99 };
        let report = |done: usize, all: usize| {
            let percent = (done * share / all.max(1)) as u64;
            context.progress(percent, Some(100), Some(&format!("insight {done} of {all}")));
        };
        let options = payload.parameters.options();
        let done = run.run(insights, &options, SourceLimit::FirstBytes, &report).await?;
        let FinishedTest { mut results, judged_insights } =
            done.ok_or_else(|| Fault::internal("a test without a limit refused its sources"))?;
        results.rest = payload.rest();
        results.notes.extend(payload.note);
        if gone > 0 {
            results.notes.push(format!("{gone} insights were deleted before they were tested"));
        }
        if has_model {
            let model =
                self.models.iter().find(|it| it.name() == payload.llm).ok_or_else(|| {
                    let message = format!("the model {:?} is no longer set up here", payload.llm);
                    Fault::invalid("unknown_model", message)
                })?;
            let report = |done: usize, all: usize| {
                let percent = RULES_DONE + done * (99 - RULES_DONE) / all.max(1);
                let note = format!("answer {done} of {all} of {}", payload.llm);
                context.progress(percent as u64, Some(100), Some(&note));
            };
            let runs = payload.parameters.runs;
            let judged = judge(model.as_ref(), test, &judged_insights, runs, &report).await;
            if results.details.len() > JUDGED_MAX {
                let note = format!("the model was asked about the first {JUDGED_MAX} insights");
                results.notes.push(note);
            }
            results.judgements = judged.into_iter().map(Some).collect();
            results.model = Some(payload.llm);
        }
        Ok(results.json_within(STORED_BYTES_MAX))
    }
}
