//! Webhooks: stored with their task, delivered in order, retried, and deleted.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use transport_a2a::{MemoryTaskStore, TaskLimits};

use crate::test_server::{TestServer, message};

fn pushed_events(server: &TestServer, id: &str) -> Vec<Value> {
    let sent = server.pushes.sent.lock();
    sent.iter().filter(|(to, _)| to == id).map(|(_, json)| json.clone()).collect()
}

async fn until(server: &TestServer, count: usize) {
    while server.pushes.sent.lock().len() < count {
        server.pushes.arrived.notified().await;
    }
}

#[tokio::test]
async fn webhooks_are_created_read_listed_and_deleted() {
    let server = TestServer::new();
    let task = server.send("ann", "hello").await;
    let id = task["id"].as_str().unwrap();
    let webhook = json!({ "taskId": id, "url": "https://a.b/c", "token": "t",
        "authentication": { "scheme": "Bearer", "credentials": "s" } });
    let kept = server.rpc("ann", "CreateTaskPushNotificationConfig", webhook.clone()).await;
    assert!(!kept["id"].as_str().unwrap().is_empty());
    assert_eq!(
        (&kept["url"], &kept["authentication"]),
        (&webhook["url"], &webhook["authentication"])
    );
    let path = format!("/tasks/{id}/pushNotificationConfigs");
    let one = format!("{path}/{}", kept["id"].as_str().unwrap());
    let shown = json!({ "id": kept["id"], "taskId": id, "url": "https://a.b/c",
        "authentication": { "scheme": "Bearer" } });
    assert_eq!(server.rest("ann", "GET", &one, Value::Null).await.body, shown);
    let which = json!({ "taskId": id, "id": kept["id"] });
    assert_eq!(server.rpc("ann", "GetTaskPushNotificationConfig", which).await, shown);
    let list = json!({ "configs": [shown] });
    assert_eq!(server.rest("ann", "GET", &path, Value::Null).await.body, list);
    let of_task = json!({ "taskId": id });
    assert_eq!(server.rpc("ann", "ListTaskPushNotificationConfigs", of_task).await, list);
    let other = server.rest("ann", "POST", &path, json!({ "id": "x", "url": "https://x.y" })).await;
    assert_eq!(other.body["taskId"], id);
    let all = server.rest("ann", "GET", &path, Value::Null).await.body;
    assert_eq!(all["configs"].as_array().unwrap().len(), 2);
    for _ in 0..2 {
        assert_eq!(server.rest("ann", "DELETE", &one, Value::Null).await.status, 200);
    }
    assert_eq!(server.rest("ann", "GET", &one, Value::Null).await.status, 404);
    let all = server.rpc("ann", "ListTaskPushNotificationConfigs", json!({ "taskId": id })).await;
    assert_eq!(all["configs"].as_array().unwrap().len(), 1);
    for wrong in [json!("http://inside"), json!("")] {
        let webhook = json!({ "taskId": id, "url": wrong });
        let refused = server.refused("ann", "CreateTaskPushNotificationConfig", webhook).await;
        assert_eq!(refused.0, -32602);
    }
    let split = json!({ "taskId": id, "url": "https://a.b", "token": "a\r\nb: c" });
    assert_eq!(server.refused("ann", "CreateTaskPushNotificationConfig", split).await.0, -32602);
}

#[tokio::test]
async fn webhooks_of_a_task_are_limited() {
    let limits = TaskLimits { webhooks_max: 1, ..TaskLimits::default() };
    let server = TestServer::over(Arc::new(MemoryTaskStore::default()), limits);
    let task = server.send("ann", "hello").await;
    let webhook = |id: &str| json!({ "taskId": task["id"], "id": id, "url": "https://a.b" });
    for id in ["one", "one"] {
        server.rpc("ann", "CreateTaskPushNotificationConfig", webhook(id)).await;
    }
    let refused = server.refused("ann", "CreateTaskPushNotificationConfig", webhook("two")).await;
    assert_eq!(refused.0, -32004);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_gets_its_events_in_order_after_an_outage() {
    let server = TestServer::new();
    server.pushes.failing.store(2, Ordering::SeqCst);
    let mut request = message("hello");
    request["configuration"] =
        json!({ "taskPushNotificationConfig": { "id": "w", "url": "https://a.b" } });
    server.rpc("ann", "SendMessage", request).await;
    until(&server, 3).await;
    let events = pushed_events(&server, "w");
    assert_eq!(events[0]["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING");
    assert!(events[1]["artifactUpdate"]["artifact"].is_object());
    assert_eq!(events[2]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

fn with_webhook(words: &str) -> Value {
    let mut request = message(words);
    request["configuration"] =
        json!({ "taskPushNotificationConfig": { "id": "w", "url": "https://a.b" } });
    request
}

#[tokio::test(start_paused = true)]
async fn undelivered_events_are_delivered_after_a_crash() {
    let store = Arc::new(MemoryTaskStore::default());
    let first = TestServer::over(Arc::clone(&store) as _, TaskLimits::default());
    first.pushes.hanging.store(true, Ordering::SeqCst);
    let task = first.rpc("ann", "SendMessage", with_webhook("hello")).await["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    first.pushes.hangs.notified().await;
    // The first server has stopped in the middle of a delivery.
    first.stop.cancel();
    first.tasks.close();
    first.tasks.wait().await;
    assert!(pushed_events(&first, "w").is_empty());

    let second = TestServer::over(store, TaskLimits::default());
    until(&second, 3).await;
    let events = pushed_events(&second, "w");
    assert_eq!(events[0]["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING");
    assert!(events[1]["artifactUpdate"]["artifact"].is_object());
    assert_eq!(events[2]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test(start_paused = true)]
async fn a_failing_webhook_is_abandoned_after_the_last_try() {
    let server = TestServer::new();
    server.pushes.failing.store(i64::MAX, Ordering::SeqCst);
    server.rpc("ann", "SendMessage", with_webhook("hello")).await;
    let tried = || i64::MAX - server.pushes.failing.load(Ordering::SeqCst);
    let started = tokio::time::Instant::now();
    while tried() < 8 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let took = started.elapsed();
    assert!(took > Duration::from_mins(17) && took < Duration::from_mins(20), "{took:?}");
    // The remaining notifications of the task were deleted with it.
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(tried(), 8);
    server.pushes.failing.store(0, Ordering::SeqCst);
    server.rpc("ann", "SendMessage", with_webhook("hello")).await;
    until(&server, 3).await;
    assert_eq!(pushed_events(&server, "w").len(), 3);
}

#[tokio::test(start_paused = true)]
async fn slow_webhooks_of_one_owner_do_not_delay_others() {
    let server = TestServer::new();
    server.pushes.hanging.store(true, Ordering::SeqCst);
    for _ in 0..20 {
        server.rpc("ann", "SendMessage", with_webhook("hello")).await;
    }
    while server.pushes.hung.load(Ordering::SeqCst) < 4 {
        tokio::task::yield_now().await;
    }
    server.pushes.hanging.store(false, Ordering::SeqCst);
    server.rpc("bob", "SendMessage", with_webhook("hello")).await;
    until(&server, 3).await;
    assert_eq!(server.pushes.hung.load(Ordering::SeqCst), 4, "hers take no more than their part");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_webhook_gets_no_queued_events() {
    let server = TestServer::new();
    server.pushes.failing.store(1, Ordering::SeqCst);
    let task = server.rpc("ann", "SendMessage", with_webhook("hello")).await["task"].clone();
    while server.pushes.failing.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    let webhook = json!({ "taskId": task["id"], "id": "w" });
    server.rpc("ann", "DeleteTaskPushNotificationConfig", webhook).await;
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert!(pushed_events(&server, "w").is_empty());
}
