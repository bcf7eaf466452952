//! Calls that continue as jobs: which callers may follow them, and what a task reports.

use std::sync::Arc;
use std::time::Duration;

use fault::{Fault, Kind};
use serde_json::{Map, Value, json};

use super::fixture::{Echo, NoMeter, Plain, ScopeAuthenticator, contract, table};
use crate::{
    Call, Catalog, Contract, Credential, Cx, JobPhase, JobQuery, JobReport, Pipeline, TaskPhase,
    TaskSpec, Tools,
};

const RULES: TaskSpec = TaskSpec { poll_ms: 500, ttl_s: 60 };

/// A follower that reports the state that the job's id names.
async fn follow(_cx: Cx<()>, ask: JobQuery) -> Result<JobReport, Fault> {
    let end = |json: Value| JobPhase::Ended(Ok(Box::new(Echo(json))));
    let phase = match ask.job.as_str() {
        _ if ask.cancel => JobPhase::Cancelled,
        "done" => end(json!({ "n": 1 })),
        "broken" => end(json!({ "m": 1 })),
        "failed" => JobPhase::Ended(Err(Fault::new(Kind::NotFound, "nine", "there is no nine"))),
        "foreign" => return Err(Fault::not_found("job_not_found", "there is no such job")),
        _ => JobPhase::Working,
    };
    let age = Duration::from_secs(if ask.job == "old" { 61 } else { 60 });
    let (created_at, changed_at) = ("then".to_owned(), "now".to_owned());
    Ok(JobReport { created_at, changed_at, age, note: "3 of 4".to_owned(), phase })
}

fn promised(task: Option<TaskSpec>) -> Contract {
    let mut contract = contract("s", &["a.b", "c"]);
    contract.tools[0].task = task;
    contract
}

fn tools() -> Tools<()> {
    table(&["a.b", "c"])
}

fn pipeline() -> Pipeline {
    let service = tools().follow("a.b", follow).bind(promised(Some(RULES)), Plain).unwrap();
    let catalog = Catalog::new(vec![service]).unwrap();
    Pipeline::new(catalog, Arc::new(ScopeAuthenticator), Arc::new(NoMeter), Duration::from_secs(5))
}

fn call(credential: &str) -> Call {
    let mut call = Call::new(Map::new());
    call.meta.credential = Credential::Bearer(credential.into());
    call
}

async fn task_phase(credential: &str, job: &str, cancel: bool) -> Result<String, &'static str> {
    let ask = JobQuery { job: job.to_owned(), cancel };
    let pipeline = pipeline();
    let tool = pipeline.catalog().find(None, "a.b").unwrap();
    let task = pipeline.task(tool, call(credential), ask).await.unwrap();
    let task = task.map_err(|failure| failure.code)?;
    assert_eq!((task.spec, task.note.as_str()), (RULES, "3 of 4"));
    assert_eq!((task.created_at.as_str(), task.changed_at.as_str()), ("then", "now"));
    Ok(match task.phase {
        TaskPhase::Working => "working".to_owned(),
        TaskPhase::Cancelled => "cancelled".to_owned(),
        TaskPhase::Ended(Ok(reply)) => reply.result().to_string(),
        TaskPhase::Ended(Err(failure)) => failure.tool_error["code"].to_string(),
    })
}

#[tokio::test]
async fn a_task_reports_what_its_tool_would_return() {
    for (credential, job, cancel, expected) in [
        ("read", "slow", false, Ok("working")),
        ("read", "slow", true, Ok("cancelled")),
        ("read", "done", false, Ok(r#"{"n":1}"#)),
        ("read", "failed", false, Ok(r#""nine""#)),
        ("read", "broken", false, Err("internal")),
        ("read", "foreign", false, Err("job_not_found")),
        ("read", "old", false, Err("task_expired")),
        ("read", "old", true, Err("task_expired")),
        ("write", "done", false, Err("scope_missing")),
        ("write", "slow", true, Err("scope_missing")),
        ("bad", "done", false, Err("who")),
    ] {
        let phase = task_phase(credential, job, cancel).await;
        assert_eq!(phase.as_deref(), expected.as_deref(), "{credential} {job} {cancel}");
    }
}

#[tokio::test]
async fn a_tool_without_a_task_section_has_no_tasks() {
    let pipeline = pipeline();
    let tool = pipeline.catalog().find(None, "c").unwrap();
    let ask = JobQuery { job: "done".to_owned(), cancel: false };
    assert!(pipeline.task(tool, call("read"), ask).await.is_none());
}

#[test]
fn the_contract_and_the_table_agree_on_what_may_be_a_task() {
    for (task, follower, refused) in [
        (None, None, None),
        (Some(RULES), Some("a.b"), None),
        (Some(RULES), None, Some("no follower for the tasks of a.b")),
        (None, Some("a.b"), Some("a.b is no task in the contract")),
        (Some(RULES), Some("c"), Some("c is no task in the contract")),
    ] {
        let table = follower.into_iter().fold(tools(), |table, name| table.follow(name, follow));
        let error = table.bind(promised(task), Plain).err().map(|error| error.to_string());
        let as_expected = match (&error, refused) {
            (Some(error), Some(refused)) => error.contains(refused),
            (error, refused) => error.is_none() && refused.is_none(),
        };
        assert!(as_expected, "{task:?} {follower:?}: {error:?}");
    }
}
