//! The archive's jobs as tasks: what a client receives, which client, and for how long.

use std::time::Duration;

use contract::{JobQuery, TaskPhase};
use serde_json::{Value, json};

use crate::fixture::{COMPLAINT, Fixture, User, on_sqlite, result_of};

const PROCESS: &str = "arkiver_process_file";
const TEST: &str = "arkiver_integrity_test";

/// The phase of a task, and its result if it has ended, else its note.
async fn task_phase(
    user: &User<'_>,
    tool: &str,
    job: &str,
    cancel: bool,
) -> Result<(String, Value), Value> {
    let ask = JobQuery { job: job.to_owned(), cancel };
    let call = user.call_of(json!({}));
    let task = user.fixture.pipeline.task(user.tool(tool), call, ask).await.unwrap();
    let task = task.map_err(|failure| failure.tool_error["error"]["code"].clone())?;
    assert!(task.note.contains(job), "{}", task.note);
    assert!(task.changed_at >= task.created_at);
    Ok(match task.phase {
        TaskPhase::Working => ("working".to_owned(), json!(task.note)),
        TaskPhase::Cancelled => ("cancelled".to_owned(), json!(task.note)),
        TaskPhase::Ended(end) => match result_of(end) {
            Ok((json, text)) => {
                assert!(text.len() > 20, "{text}");
                ("done".to_owned(), json)
            }
            Err((_, error)) => ("failed".to_owned(), error),
        },
    })
}

async fn begun(user: &User<'_>, name: &str, bytes: &[u8]) -> (String, String) {
    let file = user.file(name, bytes, json!({})).await;
    let settings = json!({ "extractionMode": "standard" });
    let args = json!({ "fileId": file, "processingSettings": settings });
    let reply = user.ok(PROCESS, args).await;
    (file, reply["jobId"].as_str().unwrap().to_owned())
}

pub(crate) fn tasks_are_followed_to_their_end() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let (file, job) = begun(&ann, "a.txt", COMPLAINT.as_bytes()).await;
        let status = ann.waited(&job).await;
        let (phase, end) = task_phase(&ann, PROCESS, &job, false).await.unwrap();
        assert_eq!((phase.as_str(), &end["status"]), ("done", &json!("completed")), "{end}");
        assert_eq!((&end["jobId"], &end["fileId"]), (&json!(job), &json!(file)));
        assert_eq!(end["result"], status["result"], "what the job's status tells");
        // Cancelling a finished task changes nothing.
        assert_eq!(task_phase(&ann, PROCESS, &job, true).await.unwrap().0, "done");
        let (_, torn) = begun(&ann, "damaged.pdf", b"%PDF-1.7\nthis is not what it says").await;
        let status = ann.waited(&torn).await;
        let (phase, end) = task_phase(&ann, PROCESS, &torn, false).await.unwrap();
        assert_eq!((phase.as_str(), &end["success"]), ("failed", &json!(false)), "{end}");
        assert_eq!(end["error"]["code"], "PROCESSING_FAILED");
        assert_eq!(end["error"]["message"], status["error"]["message"]);
        let unknown = "00000000-0000-7000-8000-000000000000";
        for (user, tool, job) in [
            (&bob, PROCESS, &*job),
            (&ann, TEST, &job),
            (&ann, PROCESS, unknown),
            (&ann, TEST, "x"),
        ] {
            for cancel in [false, true] {
                let refused = task_phase(user, tool, job, cancel).await.unwrap_err();
                assert_eq!(refused, json!("JOB_NOT_FOUND"), "{tool} {job}");
            }
        }
        let refused = task_phase(&fixture.anonymous(), PROCESS, &job, false).await.unwrap_err();
        assert_eq!(refused, json!("AUTHENTICATION_FAILED"));
        fixture.clock.advance(Duration::from_secs(7 * 86_400));
        let refused = task_phase(&ann, PROCESS, &job, false).await.unwrap_err();
        assert_eq!(refused, json!("INVALID_INPUT"), "its time is over");
        fixture.close().await;
    });
}

pub(crate) fn a_task_is_cancelled_on_the_way() {
    on_sqlite(async |db| {
        let fixture = Fixture::with(db, "hang", Vec::new()).await;
        let ann = fixture.user("ann").await;
        let (file, job) = begun(&ann, "a.txt", COMPLAINT.as_bytes()).await;
        let (phase, note) = task_phase(&ann, PROCESS, &job, false).await.unwrap();
        assert_eq!(phase, "working", "{note}");
        assert!(note.as_str().unwrap().ends_with("0 %"), "{note}");
        task_phase(&ann, PROCESS, &job, true).await.unwrap();
        assert_eq!(ann.waited(&job).await["error"]["details"]["reason"], "cancelled");
        assert_eq!(task_phase(&ann, PROCESS, &job, true).await.unwrap().0, "cancelled");
        let status = ann.ok("arkiver_file_status", json!({ "fileId": file })).await;
        assert_eq!(status["file"]["status"], "uploaded");
        fixture.close().await;
    });
}

pub(crate) fn tests_that_are_jobs_are_tasks() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let ann = fixture.user("ann").await;
        let page =
            |at: usize| format!("Smith v. Jones, {at} U.S. {} (1990), holds it.\n", at + 100);
        let text: String = (1..=400).map(page).collect();
        let (file, job) = begun(&ann, "many.txt", text.as_bytes()).await;
        ann.waited(&job).await;
        let args = json!({ "testType": "fact_check", "fileId": file, "llmSource": "local" });
        let queued = ann.ok(TEST, args).await;
        let test = queued["testId"].as_str().unwrap();
        let status = ann.waited(test).await;
        let (phase, end) = task_phase(&ann, TEST, test, false).await.unwrap();
        assert_eq!((phase.as_str(), &end["status"]), ("done", &json!("completed")), "{end}");
        assert_eq!((&end["testId"], end["success"].as_bool()), (&json!(test), Some(true)));
        assert_eq!(end["results"], status["result"]["integrity"]);
        fixture.close().await;
    });
}
