//! `arkiver_integrity_test`: runs a small test inside the call and queues a large one as a job.

use std::collections::BTreeSet;
use std::time::Duration;

use archive_integrity::IntegrityTest;
use contract::{Cx, JsonReply, next_step};
use fault::{Fault, Kind};
use jobs::NewJob;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::clip::clip;
use crate::integrity::report::STORED_BYTES_MAX;
use crate::integrity::run::{SourceLimit, TestRun};
use crate::integrity::{LOCAL, Parameters, TestPayload, results_text};
use crate::wire::reply;
use crate::{Archive, INTEGRITY};

/// The largest test that runs inside its call.
const INSIGHTS_IN_CALL: usize = 200;
const SOURCE_BYTES_IN_CALL: usize = 5 << 20;
const ATTEMPTS: u32 = 3;
/// Queued tests of one caller, and when to try again.
const WAITING_MAX: usize = 100;
const RETRY_AFTER: Duration = Duration::from_secs(10);

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

pub(crate) async fn call(cx: Cx<Archive>, given: Map<String, Value>) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let (args, ignored): (Args, _) = archive.inputs.read("arkiver_integrity_test", given)?;
    let visibility = archive.visibility(&cx.caller).await?;
    let test = IntegrityTest::parse(&args.test_type)
        .ok_or_else(|| Fault::internal("the contract has a test that is not implemented"))?;
    let parameters = Parameters::read(&args.parameters)?;
    archive.check_model(&args.llm_source)?;
    let (ids, file_id) = (&args.insight_ids, args.file_id.as_deref());
    let selection = archive.select_insights(&visibility, ids, file_id, parameters.offset).await?;
    let mut payload = TestPayload {
        file_id: selection.file_id,
        test: test.word().to_owned(),
        llm: args.llm_source,
        parameters,
        note: selection.note,
        part: selection.part,
        of_file: args.file_id.is_some(),
        ..TestPayload::default()
    };
    let ids: Vec<String> = selection.insights.iter().map(|it| it.id.clone()).collect();
    let files: BTreeSet<String> = selection.insights.iter().map(|it| it.file_id.clone()).collect();
    if payload.llm == LOCAL && selection.insights.len() <= INSIGHTS_IN_CALL {
        let run = TestRun {
            documents: &archive.documents,
            visibility: &visibility,
            test,
            permits: &archive.test_permits,
        };
        let limit = SourceLimit::WholeWithin(SOURCE_BYTES_IN_CALL);
        let options = payload.parameters.options();
        if let Some(mut done) = run.run(selection.insights, &options, limit, &|_, _| {}).await? {
            done.results.notes.extend(payload.note.take());
            done.results.rest = payload.rest();
            let whole = done.results.json();
            payload.results = Some(done.results.json_within(STORED_BYTES_MAX));
            let id = archive.queue_test(&visibility.owner, &payload, &files).await?;
            let mut text = format!("{}\nKept for 30 days as test {id}.", results_text(&whole));
            let mut json = json!({ "success": true, "testId": id, "status": "completed",
                "results": whole });
            ignored.add_to(&mut json, &mut text);
            text.push_str(&next_step("arkiver_job_status", &json!({ "jobId": id })));
            return Ok(reply(json, text));
        }
    }
    payload.insight_ids = ids;
    let id = archive.queue_test(&visibility.owner, &payload, &files).await?;
    let of = payload.part.as_ref().map_or_else(String::new, |part| format!(" of {}", part.total));
    let mut message =
        format!("{}{of} insights are being tested as job {id}", payload.insight_ids.len());
    if let Some(next) = payload.rest().and_then(|rest| rest.next) {
        message.push_str(&format!("; the next ones: {next}"));
    }
    let mut json = json!({ "success": true, "testId": id, "status": "queued", "message": message });
    ignored.add_to(&mut json, &mut message);
    let wait = json!({ "jobId": id, "waitSeconds": 60 });
    message.push_str(&next_step("arkiver_job_status", &wait));
    Ok(reply(json, message).with_job(&id))
}

impl Archive {
    /// Refuses a name that is neither the rules nor a configured model.
    fn check_model(&self, name: &str) -> Result<(), Fault> {
        if name == LOCAL || self.models.iter().any(|it| it.name() == name) {
            return Ok(());
        }
        let names: Vec<&str> =
            std::iter::once(LOCAL).chain(self.models.iter().map(|it| it.name())).collect();
        let shown = clip(name, 64);
        let message =
            format!("the model {shown:?} is not set up here; there is {}", names.join(", "));
        Err(Fault::invalid("unknown_model", message)
            .problem("llmSource", format!("one of {}", names.join(", "))))
    }

    /// Queues the job and links it to the files its results quote, so that deleting a file also
    /// deletes the results.
    async fn queue_test(
        &self,
        owner: &str,
        payload: &TestPayload,
        files: &BTreeSet<String>,
    ) -> Result<String, Fault> {
        if self.waiting_jobs(INTEGRITY, owner).await? >= WAITING_MAX {
            let message = format!("{WAITING_MAX} tests of yours wait for their turn already");
            return Err(
                Fault::new(Kind::RateLimited, "too_many_tests", message).retry_after(RETRY_AFTER)
            );
        }
        let job = NewJob::new(INTEGRITY, payload)?.owner(owner).max_attempts(ATTEMPTS);
        let mut tx = self.db.begin().await?;
        let pushed = self.jobs.push_in(&mut tx, &job).await?;
        for file in files {
            self.documents.link_quoting_job(&mut tx, file, &pushed.job.id).await?;
        }
        tx.commit().await?;
        self.jobs.notify_workers();
        Ok(pushed.job.id)
    }
}
