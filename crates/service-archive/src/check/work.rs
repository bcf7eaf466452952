//! An integrity test as a job: the rules, and a model's judgement where one was asked for. Its
//! results are the job's own and are kept as long as that is.

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

use crate::check::judge::{JUDGED_MAX, judge};
use crate::check::report::KEPT_MAX;
use crate::check::run::{Done, Sources, TestRun};
use crate::check::{LOCAL, TestPayload};

/// Where the rules end and a model begins, in percent.
const RULES_DONE: usize = 30;

pub(crate) struct Testing {
    pub(crate) accounts: Accounts,
    pub(crate) documents: Documents,
    pub(crate) insights: Insights,
    pub(crate) models: Vec<Arc<dyn Model>>,
    pub(crate) turns: Arc<Semaphore>,
}

#[async_trait]
impl JobHandler for Testing {
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

impl Testing {
    async fn test(&self, context: &JobContext) -> Result<Value, Fault> {
        let payload: TestPayload = context.payload()?;
        // Done on the spot: the payload has the results, and they are told from there.
        if payload.results.is_some() {
            return Ok(Value::Null);
        }
        let test =
            IntegrityTest::parse(&payload.test).ok_or_else(|| Fault::internal("no such test"))?;
        let owner = context.job().owner.clone().unwrap_or_default();
        let visibility = self.accounts.visibility(&owner).await?;
        let insights = self.insights.by_ids(&visibility, &payload.insight_ids).await?;
        let bench = TestRun {
            documents: &self.documents,
            visibility: &visibility,
            test,
            turns: &self.turns,
        };
        let asked = payload.llm != LOCAL;
        let share = if asked { RULES_DONE } else { 99 };
        let report = |done: usize, all: usize| {
            let percent = (done * share / all.max(1)) as u64;
            context.progress(percent, Some(100), Some(&format!("insight {done} of {all}")));
        };
        let options = payload.parameters.options();
        let done = bench.run(insights, &options, Sources::Bounded, &report).await?;
        let Done { mut results, exhibits } =
            done.ok_or_else(|| Fault::internal("a test without a bound refused its sources"))?;
        results.notes.extend(payload.note);
        if asked {
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
            let judged = judge(model.as_ref(), test, &exhibits, runs, &report).await;
            if results.details.len() > JUDGED_MAX {
                let note = format!("the model was asked about the first {JUDGED_MAX} insights");
                results.notes.push(note);
            }
            results.judgements = judged.into_iter().map(Some).collect();
            results.model = Some(payload.llm);
        }
        Ok(results.json_within(KEPT_MAX))
    }
}
