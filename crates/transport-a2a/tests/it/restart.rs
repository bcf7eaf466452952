//! Tasks outlive the process that worked at them, and say so.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use transport_a2a::{MemoryTaskStore, TaskLimits};

use crate::house::{Events, House, message};

async fn begun(house: &House) -> Value {
    let mut hurry = message("wait");
    hurry["configuration"] = json!({ "returnImmediately": true });
    let task = house.rpc("ann", "SendMessage", hurry).await["task"].clone();
    house.parrot.begun.notified().await;
    json!({ "id": task["id"] })
}

#[tokio::test]
async fn a_task_whose_runner_is_gone_has_failed() {
    let store = Arc::new(MemoryTaskStore::default());
    let first = House::over(Arc::clone(&store) as _, TaskLimits::default());
    let id = begun(&first).await;
    let second = House::over(store, TaskLimits::default());
    // While the lease holds, somebody is believed to work at it.
    let seen = second.rpc("ann", "GetTask", id.clone()).await;
    assert_eq!(seen["status"]["state"], "TASK_STATE_WORKING");
    second.clock.fetch_add(60_000, Ordering::SeqCst);
    let failed = json!({ "status": "TASK_STATE_FAILED" });
    assert_eq!(second.rpc("ann", "ListTasks", failed).await["totalSize"], 1);
    let seen = second.rpc("ann", "GetTask", id.clone()).await;
    assert_eq!(seen["status"]["state"], "TASK_STATE_FAILED");
    let words = seen["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(words.contains("stopped"), "{words}");
    assert_eq!(second.refused("ann", "CancelTask", id).await.0, -32002);
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_says_what_it_gave_up() {
    let store = Arc::new(MemoryTaskStore::default());
    let first = House::over(Arc::clone(&store) as _, TaskLimits::default());
    let id = begun(&first).await;
    first.stop.cancel();
    first.tasks.close();
    first.tasks.wait().await;
    let second = House::over(store, TaskLimits::default());
    let seen = second.rpc("ann", "GetTask", id).await;
    assert_eq!(seen["status"]["state"], "TASK_STATE_FAILED");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_watched_and_cancelled_through_another_server() {
    let store = Arc::new(MemoryTaskStore::default());
    let first = House::over(Arc::clone(&store) as _, TaskLimits::default());
    let id = begun(&first).await;
    let mut here = Events::of(first.rpc_response("ann", "SubscribeToTask", id.clone()).await);
    here.next().await.unwrap();
    let second = House::over(store, TaskLimits::default());
    let mut there = Events::of(second.rpc_response("ann", "SubscribeToTask", id.clone()).await);
    there.next().await.unwrap();
    let third = second.rpc("ann", "CancelTask", id.clone()).await;
    assert_eq!(third["status"]["state"], "TASK_STATE_CANCELED");
    let told = there.rest().await;
    assert_eq!(told[0]["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED");
    // Who worked at it finds out when it renews its lease.
    let told = here.rest().await;
    assert_eq!(told[0]["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(first.rpc("ann", "GetTask", id).await, third);
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_another_server_reaches_those_who_watch_here() {
    let store = Arc::new(MemoryTaskStore::default());
    let first = House::over(Arc::clone(&store) as _, TaskLimits::default());
    let id = begun(&first).await;
    let second = House::over(store, TaskLimits::default());
    let mut there = Events::of(second.rpc_response("ann", "SubscribeToTask", id).await);
    there.next().await.unwrap();
    first.parrot.go_on.notify_one();
    let told = there.rest().await;
    assert!(told[0]["result"]["artifactUpdate"]["artifact"].is_object(), "{told:?}");
    assert_eq!(told[1]["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}
