//! Webhooks: stored with their task, delivered in order, retried, and deleted.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use transport_a2a::{MemoryTaskStore, TaskLimits};

use crate::house::{House, message};

fn told(house: &House, id: &str) -> Vec<Value> {
    let sent = house.letters.sent.lock();
    sent.iter().filter(|(to, _)| to == id).map(|(_, json)| json.clone()).collect()
}

async fn until(house: &House, count: usize) {
    while house.letters.sent.lock().len() < count {
        house.letters.arrived.notified().await;
    }
}

#[tokio::test]
async fn webhooks_are_created_read_listed_and_deleted() {
    let house = House::new();
    let task = house.say("ann", "hello").await;
    let id = task["id"].as_str().unwrap();
    let webhook = json!({ "taskId": id, "url": "https://a.b/c", "token": "t",
        "authentication": { "scheme": "Bearer", "credentials": "s" } });
    let kept = house.rpc("ann", "CreateTaskPushNotificationConfig", webhook.clone()).await;
    assert!(!kept["id"].as_str().unwrap().is_empty());
    assert_eq!(
        (&kept["url"], &kept["authentication"]),
        (&webhook["url"], &webhook["authentication"])
    );
    let path = format!("/tasks/{id}/pushNotificationConfigs");
    let one = format!("{path}/{}", kept["id"].as_str().unwrap());
    let shown = json!({ "id": kept["id"], "taskId": id, "url": "https://a.b/c",
        "authentication": { "scheme": "Bearer" } });
    assert_eq!(house.rest("ann", "GET", &one, Value::Null).await.body, shown);
    let which = json!({ "taskId": id, "id": kept["id"] });
    assert_eq!(house.rpc("ann", "GetTaskPushNotificationConfig", which).await, shown);
    let list = json!({ "configs": [shown] });
    assert_eq!(house.rest("ann", "GET", &path, Value::Null).await.body, list);
    let of_task = json!({ "taskId": id });
    assert_eq!(house.rpc("ann", "ListTaskPushNotificationConfigs", of_task).await, list);
    let other = house.rest("ann", "POST", &path, json!({ "id": "x", "url": "https://x.y" })).await;
    assert_eq!(other.body["taskId"], id);
    let all = house.rest("ann", "GET", &path, Value::Null).await.body;
    assert_eq!(all["configs"].as_array().unwrap().len(), 2);
    for _ in 0..2 {
        assert_eq!(house.rest("ann", "DELETE", &one, Value::Null).await.status, 200);
    }
    assert_eq!(house.rest("ann", "GET", &one, Value::Null).await.status, 404);
    let all = house.rpc("ann", "ListTaskPushNotificationConfigs", json!({ "taskId": id })).await;
    assert_eq!(all["configs"].as_array().unwrap().len(), 1);
    for wrong in [json!("http://inside"), json!("")] {
        let webhook = json!({ "taskId": id, "url": wrong });
        let refused = house.refused("ann", "CreateTaskPushNotificationConfig", webhook).await;
        assert_eq!(refused.0, -32602);
    }
    let split = json!({ "taskId": id, "url": "https://a.b", "token": "a\r\nb: c" });
    assert_eq!(house.refused("ann", "CreateTaskPushNotificationConfig", split).await.0, -32602);
}

#[tokio::test]
async fn a_task_has_so_many_webhooks() {
    let limits = TaskLimits { webhooks_max: 1, ..TaskLimits::default() };
    let house = House::over(Arc::new(MemoryTaskStore::default()), limits);
    let task = house.say("ann", "hello").await;
    let webhook = |id: &str| json!({ "taskId": task["id"], "id": id, "url": "https://a.b" });
    for id in ["one", "one"] {
        house.rpc("ann", "CreateTaskPushNotificationConfig", webhook(id)).await;
    }
    let refused = house.refused("ann", "CreateTaskPushNotificationConfig", webhook("two")).await;
    assert_eq!(refused.0, -32004);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_is_told_in_order_though_it_was_away_for_a_while() {
    let house = House::new();
    house.letters.failing.store(2, Ordering::SeqCst);
    let mut asked = message("hello");
    asked["configuration"] =
        json!({ "taskPushNotificationConfig": { "id": "w", "url": "https://a.b" } });
    house.rpc("ann", "SendMessage", asked).await;
    until(&house, 3).await;
    let told = told(&house, "w");
    assert_eq!(told[0]["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING");
    assert!(told[1]["artifactUpdate"]["artifact"].is_object());
    assert_eq!(told[2]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

fn with_webhook(words: &str) -> Value {
    let mut asked = message(words);
    asked["configuration"] =
        json!({ "taskPushNotificationConfig": { "id": "w", "url": "https://a.b" } });
    asked
}

#[tokio::test(start_paused = true)]
async fn what_was_not_told_before_a_crash_is_told_after_it() {
    let store = Arc::new(MemoryTaskStore::default());
    let first = House::over(Arc::clone(&store) as _, TaskLimits::default());
    first.letters.hanging.store(true, Ordering::SeqCst);
    let task = first.rpc("ann", "SendMessage", with_webhook("hello")).await["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    first.letters.hangs.notified().await;
    // The first server has stopped in the middle of a delivery.
    first.stop.cancel();
    first.tasks.close();
    first.tasks.wait().await;
    assert!(told(&first, "w").is_empty());

    let second = House::over(store, TaskLimits::default());
    until(&second, 3).await;
    let told = told(&second, "w");
    assert_eq!(told[0]["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING");
    assert!(told[1]["artifactUpdate"]["artifact"].is_object());
    assert_eq!(told[2]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_never_answers_well_is_given_up_after_so_many_tries() {
    let house = House::new();
    house.letters.failing.store(i64::MAX, Ordering::SeqCst);
    house.rpc("ann", "SendMessage", with_webhook("hello")).await;
    let tried = || i64::MAX - house.letters.failing.load(Ordering::SeqCst);
    let begun = tokio::time::Instant::now();
    while tried() < 8 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let took = begun.elapsed();
    assert!(took > Duration::from_mins(17) && took < Duration::from_mins(20), "{took:?}");
    // The remaining notifications of the task were deleted with it.
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(tried(), 8);
    house.letters.failing.store(0, Ordering::SeqCst);
    house.rpc("ann", "SendMessage", with_webhook("hello")).await;
    until(&house, 3).await;
    assert_eq!(told(&house, "w").len(), 3);
}

#[tokio::test(start_paused = true)]
async fn slow_webhooks_of_one_hold_up_nobody_else() {
    let house = House::new();
    house.letters.hanging.store(true, Ordering::SeqCst);
    for _ in 0..20 {
        house.rpc("ann", "SendMessage", with_webhook("hello")).await;
    }
    while house.letters.hung.load(Ordering::SeqCst) < 4 {
        tokio::task::yield_now().await;
    }
    house.letters.hanging.store(false, Ordering::SeqCst);
    house.rpc("bob", "SendMessage", with_webhook("hello")).await;
    until(&house, 3).await;
    assert_eq!(house.letters.hung.load(Ordering::SeqCst), 4, "hers take no more than their part");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_webhook_is_not_told_what_still_waits() {
    let house = House::new();
    house.letters.failing.store(1, Ordering::SeqCst);
    let task = house.rpc("ann", "SendMessage", with_webhook("hello")).await["task"].clone();
    while house.letters.failing.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    let webhook = json!({ "taskId": task["id"], "id": "w" });
    house.rpc("ann", "DeleteTaskPushNotificationConfig", webhook).await;
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert!(told(&house, "w").is_empty());
}
