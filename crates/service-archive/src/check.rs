//! `arkiver_integrity_test`: insights held against their sources by rules, at once where that is
//! quick and as a job otherwise; with a model's judgement beside it where one is asked for.

mod choose;
mod judge;
mod report;
mod run;
pub(crate) mod work;

use std::collections::BTreeSet;
use std::time::Duration;

use archive_integrity::{IntegrityTest, TestOptions};
use contract::Cx;
use fault::{Fault, Kind};
use jobs::NewJob;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) use report::text_of;

use crate::said::JsonReply;
use crate::{Archive, INTEGRITY};
use judge::{RUNS_MAX, RUNS_USUAL};
use report::KEPT_MAX;
use run::{Sources, TestRun};

/// The rules alone, which are always there.
pub(crate) const LOCAL: &str = "local";
/// What is tested while the caller waits.
const SMALL_INSIGHTS: usize = 200;
const SMALL_BYTES: usize = 5 << 20;
const FINDINGS_MAX: u64 = 100;
const TOPIC_CHARS_MAX: usize = 500;
const ATTEMPTS: u32 = 3;
/// Tests of one caller that wait at once, and when to come back with the next.
const WAITING_MAX: usize = 100;
const COME_BACK: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    test_type: String,
    #[serde(default)]
    insight_ids: Vec<String>,
    file_id: Option<String>,
    llm_source: String,
    #[serde(default)]
    parameters: Map<String, Value>,
}

/// What a job carries.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct TestPayload {
    pub(crate) file_id: String,
    pub(crate) test: String,
    pub(crate) insight_ids: Vec<String>,
    pub(crate) llm: String,
    #[serde(default)]
    pub(crate) parameters: Parameters,
    /// JsonReply in the results: what was left out when the insights were chosen.
    #[serde(default)]
    pub(crate) note: Option<String>,
    /// Set where the test was done on the spot, and is only to be kept.
    #[serde(default)]
    pub(crate) results: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parameters {
    pub(crate) topic: Option<String>,
    pub(crate) runs: u32,
    pub(crate) findings_max: usize,
}

impl Default for Parameters {
    fn default() -> Self {
        let findings_max = TestOptions::default().findings_max;
        Self { topic: None, runs: RUNS_USUAL, findings_max }
    }
}

impl Parameters {
    fn read(given: &Map<String, Value>) -> Result<Self, Fault> {
        let mut read = Self::default();
        if let Some(topic) = given.get("topic") {
            let expected = "a text of 1 to 500 characters";
            let fits = |it: &&str| !it.trim().is_empty() && it.chars().count() <= TOPIC_CHARS_MAX;
            let topic = topic.as_str().filter(fits).ok_or_else(|| wrong("topic", expected))?;
            read.topic = Some(topic.to_owned());
        }
        let number = |name: &str, most: u64| match given.get(name) {
            None => Ok(None),
            Some(value) => {
                // A whole number may be written as 3.0.
                let whole = value.as_u64().or_else(|| {
                    value.as_f64().filter(|it| it.fract() == 0.0 && *it >= 0.0).map(|it| it as u64)
                });
                let fits = whole.filter(|it| (1..=most).contains(it));
                let expected = format!("a whole number from 1 to {most}");
                fits.map(Some).ok_or_else(|| wrong(name, &expected))
            }
        };
        if let Some(runs) = number("runs", u64::from(RUNS_MAX))? {
            read.runs = u32::try_from(runs).unwrap_or(RUNS_MAX);
        }
        if let Some(most) = number("findingsMax", FINDINGS_MAX)? {
            read.findings_max = usize::try_from(most).unwrap_or(usize::MAX);
        }
        Ok(read)
    }

    pub(crate) fn options(&self) -> TestOptions {
        TestOptions { topic: self.topic.clone(), findings_max: self.findings_max }
    }
}

fn wrong(name: &str, expected: &str) -> Fault {
    let field = format!("parameters.{name}");
    Fault::invalid("invalid_input", format!("{field} must be {expected}")).problem(field, expected)
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let test = IntegrityTest::parse(&args.test_type)
        .ok_or_else(|| Fault::internal("a test that the contract has and we have not"))?;
    let parameters = Parameters::read(&args.parameters)?;
    archive.known_model(&args.llm_source)?;
    let chosen = archive.chosen(&visibility, &args.insight_ids, args.file_id.as_deref()).await?;
    let mut payload = TestPayload {
        file_id: chosen.file_id,
        test: test.word().to_owned(),
        llm: args.llm_source,
        parameters,
        note: chosen.note,
        ..TestPayload::default()
    };
    let ids: Vec<String> = chosen.insights.iter().map(|it| it.id.clone()).collect();
    let files: BTreeSet<String> = chosen.insights.iter().map(|it| it.file_id.clone()).collect();
    if payload.llm == LOCAL && chosen.insights.len() <= SMALL_INSIGHTS {
        let (documents, turns) = (&archive.documents, &archive.test_permits);
        let bench = TestRun { documents, visibility: &visibility, test, turns };
        let sources = Sources::Within(SMALL_BYTES);
        let options = payload.parameters.options();
        if let Some(mut done) = bench.run(chosen.insights, &options, sources, &|_, _| {}).await? {
            done.results.notes.extend(payload.note.take());
            let whole = done.results.json();
            payload.results = Some(done.results.json_within(KEPT_MAX));
            let id = archive.push(&visibility.owner, &payload, &files).await?;
            let text = format!("{}\nKept for 30 days as test {id}.", text_of(&whole));
            let json = json!({ "success": true, "testId": id, "status": "completed",
                "results": whole });
            return Ok(JsonReply::new(json, text));
        }
    }
    payload.insight_ids = ids;
    let id = archive.push(&visibility.owner, &payload, &files).await?;
    let message = format!(
        "{} insights are being tested; ask arkiver_job_status with jobId {id} and waitSeconds",
        payload.insight_ids.len()
    );
    let json = json!({ "success": true, "testId": id, "status": "queued", "message": message });
    Ok(JsonReply::new(json, message).begun(&id))
}

impl Archive {
    /// Whether this is the rules or a model that is set up here.
    fn known_model(&self, name: &str) -> Result<(), Fault> {
        if name == LOCAL || self.models.iter().any(|it| it.name() == name) {
            return Ok(());
        }
        let names: Vec<&str> =
            std::iter::once(LOCAL).chain(self.models.iter().map(|it| it.name())).collect();
        let shown = crate::said::clipped(name, 64);
        let message =
            format!("the model {shown:?} is not set up here; there is {}", names.join(", "));
        Err(Fault::invalid("unknown_model", message)
            .problem("llmSource", format!("one of {}", names.join(", "))))
    }

    /// Makes the job, and notes whose words its results repeat: they go with the files.
    async fn push(
        &self,
        owner: &str,
        payload: &TestPayload,
        files: &BTreeSet<String>,
    ) -> Result<String, Fault> {
        if self.waiting(INTEGRITY, owner).await? >= WAITING_MAX {
            let message = format!("{WAITING_MAX} tests of yours wait for their turn already");
            return Err(
                Fault::new(Kind::RateLimited, "too_many_tests", message).retry_after(COME_BACK)
            );
        }
        let job = NewJob::new(INTEGRITY, payload)?.owner(owner).max_attempts(ATTEMPTS);
        let mut tx = self.db.begin().await?;
        let pushed = self.jobs.push_in(&mut tx, &job).await?;
        for file in files {
            self.documents.note_trace(&mut tx, file, &pushed.job.id).await?;
        }
        tx.commit().await?;
        self.jobs.notify_workers();
        Ok(pushed.job.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: Value, refused: Option<&str>) {
        let read = Parameters::read(given.as_object().unwrap());
        let field = read.err().map(|fault| fault.problems()[0].field.clone());
        assert_eq!(field.as_deref(), refused, "{given}");
    }

    #[test]
    fn parameters_of_a_wrong_type_are_named() {
        check(json!({}), None);
        check(json!({ "runs": 5.0, "topic": "damages", "findingsMax": 3, "other": [] }), None);
        check(json!({ "runs": 6 }), Some("parameters.runs"));
        check(json!({ "runs": "3" }), Some("parameters.runs"));
        check(json!({ "runs": 1.5 }), Some("parameters.runs"));
        check(json!({ "findingsMax": 0 }), Some("parameters.findingsMax"));
        check(json!({ "topic": 5 }), Some("parameters.topic"));
        check(json!({ "topic": " " }), Some("parameters.topic"));
        check(json!({ "topic": "x".repeat(501) }), Some("parameters.topic"));
    }
}
