//! Tasks that are shared by several servers, and tasks of a server that stops.

use std::sync::Arc;

use serde_json::{Value, json};
use transport_a2a::{MemoryTaskStore, TaskLimits};

use crate::test_server::{Events, TestServer, message};

async fn started(server: &TestServer) -> Value {
    let mut immediate = message("wait");
    immediate["configuration"] = json!({ "returnImmediately": true });
    let task = server.rpc("ann", "SendMessage", immediate).await["task"].clone();
    server.echo_tool.started.notified().await;
    json!({ "id": task["id"] })
}

#[tokio::test]
async fn a_task_that_another_server_submitted_is_run_for_its_caller() {
    let store = Arc::new(MemoryTaskStore::default());
    let first = TestServer::over(Arc::clone(&store) as _, TaskLimits::default());
    // A server that stops submits the message but no longer runs it.
    first.stop.cancel();
    let mut immediate = message("hello");
    immediate["configuration"] = json!({ "returnImmediately": true });
    let task = first.rpc("ann", "SendMessage", immediate).await["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_SUBMITTED");
    let second = TestServer::over(store, TaskLimits::default());
    let id = json!({ "id": task["id"] });
    let done = loop {
        let polled = second.rpc("ann", "GetTask", id.clone()).await;
        if polled["status"]["state"] == "TASK_STATE_COMPLETED" {
            break polled;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(done["artifacts"][0]["parts"][0]["text"], "ann said \"hello\" (1)");
}

#[tokio::test]
async fn a_stopping_server_fails_its_running_tasks() {
    let store = Arc::new(MemoryTaskStore::default());
    let first = TestServer::over(Arc::clone(&store) as _, TaskLimits::default());
    let id = started(&first).await;
    first.stop.cancel();
    first.tasks.close();
    first.tasks.wait().await;
    let second = TestServer::over(store, TaskLimits::default());
    let polled = second.rpc("ann", "GetTask", id).await;
    assert_eq!(polled["status"]["state"], "TASK_STATE_FAILED");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_followed_and_cancelled_through_another_server() {
    let store = Arc::new(MemoryTaskStore::default());
    let first = TestServer::over(Arc::clone(&store) as _, TaskLimits::default());
    let id = started(&first).await;
    let mut here = Events::of(first.rpc_response("ann", "SubscribeToTask", id.clone()).await);
    here.next().await.unwrap();
    let second = TestServer::over(store, TaskLimits::default());
    let mut there = Events::of(second.rpc_response("ann", "SubscribeToTask", id.clone()).await);
    there.next().await.unwrap();
    let third = second.rpc("ann", "CancelTask", id.clone()).await;
    assert_eq!(third["status"]["state"], "TASK_STATE_CANCELED");
    let events = there.rest().await;
    assert_eq!(events[0]["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED");
    // The server that runs the task learns it from the store.
    let events = here.rest().await;
    assert_eq!(events[0]["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(first.rpc("ann", "GetTask", id).await, third);
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_another_server_reaches_subscribers_here() {
    let store = Arc::new(MemoryTaskStore::default());
    let first = TestServer::over(Arc::clone(&store) as _, TaskLimits::default());
    let id = started(&first).await;
    let second = TestServer::over(store, TaskLimits::default());
    let mut there = Events::of(second.rpc_response("ann", "SubscribeToTask", id).await);
    there.next().await.unwrap();
    first.echo_tool.resume.notify_one();
    let events = there.rest().await;
    assert!(events[0]["result"]["artifactUpdate"]["artifact"].is_object(), "{events:?}");
    assert_eq!(events[1]["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}
