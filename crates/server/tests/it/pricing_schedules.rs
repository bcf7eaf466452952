//! A schedule survives a kill of the server, and a run that was missed runs once.

use std::time::Duration;

use serde_json::{Value, json};
use store::{Db, StoreConfig, sql};

use crate::contract_examples::every_scope;
use crate::process::{Folder, Server, mcp_call};

async fn call(server: &Server, token: &str, tool: &str, mut args: Value) -> Value {
    args["capability_token"] = json!(token);
    let answer = mcp_call(server, "/mcp/collector", tool, &args).await;
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["structuredContent"].clone()
}

#[tokio::test]
async fn a_missed_run_runs_once_after_a_kill() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let token = every_scope(folder.path());
    let args = json!({ "sku": "A", "schedule": "every 6h", "connector": "mock" });
    call(&server, &token, "schedule_collection", args).await;
    server.kill();
    // Three runs are missed while the server is down.
    let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
    let ago = sql("UPDATE pricing_schedule SET next_ms = next_ms - $1").bind(24 * 3_600_000_i64);
    assert_eq!(db.execute(ago).await.unwrap(), 1);
    db.close().await;
    let server = Server::start(folder.path(), &[]);
    let done = async {
        loop {
            let listed = call(&server, &token, "list_schedules", json!({})).await;
            let schedule = &listed["schedules"][0];
            if let Some(job) = schedule["last_job_id"].as_str() {
                let status =
                    call(&server, &token, "get_job_status", json!({ "job_id": job })).await;
                if status["job"]["status"] == "DONE" {
                    return (schedule.clone(), status);
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let (schedule, status) = tokio::time::timeout(Duration::from_secs(60), done).await.unwrap();
    assert!(schedule["next_run_at"].as_str() > schedule["last_run_at"].as_str(), "{schedule}");
    assert!(status["job"]["new"].as_u64().unwrap() > 0, "{status}");
}
