//! Webhooks: kept with their task, told in order, tried again, and forgotten when deleted.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use transport_a2a::{Limits, MemoryTasks};

use crate::house::{House, message};

fn told(house: &House, id: &str) -> Vec<Value> {
    let sent = house.letters.sent.lock().unwrap();
    sent.iter().filter(|(to, _)| to == id).map(|(_, json)| json.clone()).collect()
}

async fn until(house: &House, count: usize) {
    while house.letters.sent.lock().unwrap().len() < count {
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
    assert_eq!(house.rest("ann", "GET", &one, Value::Null).await.body, kept);
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
    let limits = Limits { webhooks_max: 1, ..Limits::default() };
    let house = House::over(Arc::new(MemoryTasks::default()), limits);
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
