//! Messages become tasks; only the owner of a task can find, list and cancel it.

use std::sync::Arc;

use serde_json::{Value, json};
use transport_a2a::{MemoryTaskStore, TaskLimits};

use crate::house::{House, message};

#[tokio::test]
async fn an_answer_is_an_artifact_with_words_and_data() {
    let house = House::new();
    let task = house.say("ann", "hello").await;
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    let parts = &task["artifacts"][0]["parts"];
    let text = "ann said \"hello\" (1)";
    assert_eq!(parts[0], json!({ "text": text }));
    assert_eq!(parts[1]["data"], json!({ "output": { "text": text, "tables": [] } }));
    assert_eq!(task["history"][0]["parts"][0]["text"], "hello");
    assert_eq!(task["history"][0]["taskId"], task["id"]);
    let same = house.rpc("ann", "GetTask", json!({ "id": task["id"] })).await;
    assert_eq!(same, task);
    let path = format!("/tasks/{}?historyLength=0", task["id"].as_str().unwrap());
    let bare = house.rest("ann", "GET", &path, Value::Null).await.body;
    assert_eq!((bare.get("history"), &bare["artifacts"]), (None, &task["artifacts"]));
}

#[tokio::test]
async fn a_client_gets_what_it_can_read() {
    let house = House::new();
    for (modes, keys) in [
        (json!(["text/plain"]), vec!["text"]),
        (json!(["application/json"]), vec!["data"]),
        (json!(["text/*", "application/json; charset=utf-8"]), vec!["text", "data"]),
    ] {
        let mut asked = message("hello");
        asked["configuration"] = json!({ "acceptedOutputModes": modes });
        let task = house.rpc("ann", "SendMessage", asked).await["task"].clone();
        let parts = task["artifacts"][0]["parts"].as_array().unwrap();
        let shown: Vec<&str> =
            parts.iter().map(|it| if it.get("text").is_some() { "text" } else { "data" }).collect();
        assert_eq!(shown, keys, "{modes}");
    }
}

#[tokio::test]
async fn an_object_for_the_tool_is_taken_as_it_is() {
    let house = House::new();
    let input = json!({ "messages": [{ "role": "user", "content": "hi" }], "extra": 1 });
    let mut asked = message("ignored");
    asked["message"]["parts"] = json!([{ "data": { "input": input } }]);
    house.rpc("ann", "SendMessage", asked).await;
    assert_eq!(*house.parrot.asked.lock(), [input]);
}

#[tokio::test]
async fn a_conversation_is_remembered_within_its_context_and_its_owner() {
    let house = House::new();
    let first = house.say("ann", "one").await;
    let follow = |words: &str| {
        let mut asked = message(words);
        asked["message"]["contextId"] = first["contextId"].clone();
        asked["message"]["metadata"] = json!({ "locale": "ru" });
        asked
    };
    let second = house.rpc("ann", "SendMessage", follow("two")).await["task"].clone();
    assert_eq!(second["contextId"], first["contextId"]);
    assert_ne!(second["id"], first["id"]);
    house.rpc("bob", "SendMessage", follow("three")).await;
    let asked = house.parrot.asked.lock().clone();
    let said: Vec<(&Value, &Value)> = asked[1]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["role"], &it["content"]))
        .collect();
    let answer = json!("ann said \"one\" (1)");
    assert_eq!(
        said,
        [
            (&json!("user"), &json!("one")),
            (&json!("assistant"), &answer),
            (&json!("user"), &json!("two")),
        ]
    );
    assert_eq!(asked[1]["metadata"], json!({ "locale": "ru" }));
    assert_eq!(asked[2]["messages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn failures_end_the_task_in_the_words_of_the_contract() {
    let house = House::new();
    for (words, state, said) in [
        ("fail", "TASK_STATE_FAILED", "the parrot is ill"),
        ("refuse", "TASK_STATE_REJECTED", "the parrot does not say that"),
        ("panic", "TASK_STATE_FAILED", "an internal error occurred; it has been logged"),
    ] {
        let task = house.say("ann", words).await;
        assert_eq!(task["status"]["state"], state, "{words}");
        assert_eq!(task["status"]["message"]["parts"][0]["text"], said);
        assert_eq!(task["status"]["message"]["role"], "ROLE_AGENT");
        let over = json!({ "id": task["id"] });
        assert_eq!(house.refused("ann", "CancelTask", over).await.0, -32002);
    }
}

#[tokio::test]
async fn nobody_else_sees_a_task() {
    let house = House::new();
    let task = house.say("ann", "hello").await;
    let id = json!({ "id": task["id"] });
    for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
        let refused = house.refused("bob", method, id.clone()).await;
        assert_eq!(refused, (-32001, "TASK_NOT_FOUND".to_owned()), "{method}");
    }
    let webhook = json!({ "taskId": task["id"], "id": "w", "url": "https://a.b" });
    for method in [
        "CreateTaskPushNotificationConfig",
        "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfigs",
        "DeleteTaskPushNotificationConfig",
    ] {
        assert_eq!(house.refused("bob", method, webhook.clone()).await.0, -32001, "{method}");
    }
    assert_eq!(house.rpc("bob", "ListTasks", json!({})).await["totalSize"], 0);
    let mut asked = message("more");
    asked["message"]["taskId"] = task["id"].clone();
    assert_eq!(house.refused("bob", "SendMessage", asked).await.0, -32001);
}

#[tokio::test]
async fn messages_to_a_task_that_is_over_or_of_another_context_are_refused() {
    let house = House::new();
    let task = house.say("ann", "hello").await;
    let mut asked = message("more");
    asked["message"]["taskId"] = task["id"].clone();
    assert_eq!(house.refused("ann", "SendMessage", asked.clone()).await.0, -32004);
    asked["message"]["contextId"] = json!("another");
    assert_eq!(house.refused("ann", "SendMessage", asked).await.0, -32602);
    let over = json!({ "id": task["id"] });
    assert_eq!(house.refused("ann", "SubscribeToTask", over).await.0, -32004);
}

#[tokio::test]
async fn pages_hold_every_task_once_and_newest_first() {
    let house = House::new();
    for at in 0..7 {
        house.say("ann", &format!("n{at}")).await;
    }
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let page = json!({ "pageSize": 3, "pageToken": token });
        let page = house.rpc("ann", "ListTasks", page).await;
        assert_eq!((&page["pageSize"], &page["totalSize"]), (&json!(3), &json!(7)));
        for task in page["tasks"].as_array().unwrap() {
            assert!(task.get("artifacts").is_none());
            seen.push(task["history"][0]["parts"][0]["text"].as_str().unwrap().to_owned());
        }
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(seen, ["n6", "n5", "n4", "n3", "n2", "n1", "n0"]);
}

#[tokio::test]
async fn lists_are_narrowed_by_context_state_and_time() {
    let house = House::new();
    let first = house.say("ann", "one").await;
    house.say("ann", "fail").await;
    let last = house.say("ann", "three").await;
    let count =
        async |params: Value| house.rpc("ann", "ListTasks", params).await["totalSize"].clone();
    assert_eq!(count(json!({ "contextId": first["contextId"] })).await, 1);
    assert_eq!(count(json!({ "status": "TASK_STATE_FAILED" })).await, 1);
    assert_eq!(count(json!({ "status": "TASK_STATE_UNSPECIFIED" })).await, 3);
    let since = last["status"]["timestamp"].clone();
    assert_eq!(count(json!({ "statusTimestampAfter": since })).await, 1);
    let whole = json!({ "includeArtifacts": true, "historyLength": 0, "pageSize": 1 });
    let page = house.rpc("ann", "ListTasks", whole).await;
    assert_eq!(page["tasks"][0]["artifacts"], last["artifacts"]);
    assert!(page["tasks"][0].get("history").is_none());
    for wrong in [
        json!({ "pageSize": 0 }),
        json!({ "pageSize": 101 }),
        json!({ "pageToken": "!" }),
        json!({ "status": "DONE" }),
        json!({ "statusTimestampAfter": "noon" }),
    ] {
        assert_eq!(house.refused("ann", "ListTasks", wrong.clone()).await.0, -32602, "{wrong}");
        let (key, value) = wrong.as_object().unwrap().iter().next().unwrap();
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let answer = house.rest("ann", "GET", &format!("/tasks?{key}={value}"), Value::Null).await;
        assert_eq!(answer.status, 400, "{key}");
    }
}

#[tokio::test]
async fn an_owner_has_so_many_tasks_and_the_oldest_make_room() {
    let limits = TaskLimits { tasks_max: 3, running_max: 1, ..TaskLimits::default() };
    let house = House::over(Arc::new(MemoryTaskStore::default()), limits);
    house.say("bob", "other").await;
    for at in 0..5 {
        house.say("ann", &format!("n{at}")).await;
    }
    let page = house.rpc("ann", "ListTasks", json!({})).await;
    assert_eq!(page["totalSize"], 3);
    assert_eq!(page["tasks"][2]["history"][0]["parts"][0]["text"], "n2");
    assert_eq!(house.rpc("bob", "ListTasks", json!({})).await["totalSize"], 1);
    let mut hurry = message("wait");
    hurry["configuration"] = json!({ "returnImmediately": true });
    house.rpc("ann", "SendMessage", hurry).await;
    house.parrot.begun.notified().await;
    let refused = house.refused("ann", "SendMessage", message("more")).await;
    assert_eq!(refused, (-32000, "RATE_LIMITED".to_owned()));
    house.say("bob", "not held up").await;
}

#[tokio::test]
async fn a_hurried_client_comes_back_for_its_answer_or_cancels() {
    let house = House::new();
    let mut hurry = message("wait");
    hurry["configuration"] = json!({ "returnImmediately": true });
    let task = house.rpc("ann", "SendMessage", hurry).await["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_SUBMITTED");
    house.parrot.begun.notified().await;
    let id = json!({ "id": task["id"] });
    let seen = house.rpc("ann", "GetTask", id.clone()).await;
    assert_eq!(seen["status"]["state"], "TASK_STATE_WORKING");
    assert_eq!(seen["status"]["message"]["parts"][0]["text"], "thinking");
    let mut more = message("more");
    more["message"]["taskId"] = task["id"].clone();
    assert_eq!(house.refused("ann", "SendMessage", more).await.0, -32004);
    let canceled = house.rpc("ann", "CancelTask", id.clone()).await;
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(house.rpc("ann", "GetTask", id.clone()).await, canceled);
    assert_eq!(house.refused("ann", "CancelTask", id).await.0, -32002);
}

#[tokio::test]
async fn however_many_come_at_once_only_so_many_are_under_way() {
    let limits = TaskLimits { running_max: 2, running_all_max: 3, ..TaskLimits::default() };
    let house = House::over(Arc::new(MemoryTaskStore::default()), limits);
    let mut hurry = message("wait");
    hurry["configuration"] = json!({ "returnImmediately": true });
    let come = |who: &'static str| house.rpc_response(who, "SendMessage", hurry.clone());
    let all = futures_util::future::join_all((0..20).map(|_| come("ann"))).await;
    let statuses: Vec<u16> = all.iter().map(|it| it.status().as_u16()).collect();
    assert_eq!(statuses.iter().filter(|it| **it == 200).count(), 2, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|it| **it == 429).count(), 18, "{statuses:?}");
    let refused = all.iter().find(|it| it.status() == 429).unwrap();
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(come("bob").await.status(), 200);
    assert_eq!(come("cid").await.status(), 503);
    assert_eq!(house.rpc("ann", "ListTasks", json!({})).await["totalSize"], 2);
}

#[tokio::test]
async fn a_client_that_leaves_at_once_leaves_no_task_that_nobody_works_at() {
    let house = House::new();
    let mut sent = Box::pin(house.rpc_response("ann", "SendMessage", message("hello")));
    // Polled until it waits for the store, and dropped.
    assert!(futures_util::poll!(sent.as_mut()).is_pending());
    drop(sent);
    let done = json!({ "status": "TASK_STATE_COMPLETED" });
    while house.rpc("ann", "ListTasks", done.clone()).await["totalSize"] != 1 {
        tokio::task::yield_now().await;
    }
}
