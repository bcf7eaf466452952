//! Messages become tasks; only the owner of a task can find, list and cancel it.

use std::sync::Arc;

use serde_json::{Value, json};
use transport_a2a::{MemoryTaskStore, TaskLimits};

use crate::test_server::{TestServer, message};

#[tokio::test]
async fn an_answer_is_an_artifact_with_text_and_data() {
    let server = TestServer::new();
    let task = server.send("ann", "hello").await;
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    let parts = &task["artifacts"][0]["parts"];
    let text = "ann said \"hello\" (1)";
    assert_eq!(parts[0], json!({ "text": text }));
    assert_eq!(parts[1]["data"], json!({ "output": { "text": text, "tables": [] } }));
    assert_eq!(task["history"][0]["parts"][0]["text"], "hello");
    assert_eq!(task["history"][0]["taskId"], task["id"]);
    let same = server.rpc("ann", "GetTask", json!({ "id": task["id"] })).await;
    assert_eq!(same, task);
    let path = format!("/tasks/{}?historyLength=0", task["id"].as_str().unwrap());
    let bare = server.rest("ann", "GET", &path, Value::Null).await.body;
    assert_eq!((bare.get("history"), &bare["artifacts"]), (None, &task["artifacts"]));
}

#[tokio::test]
async fn a_client_gets_its_accepted_output_modes() {
    let server = TestServer::new();
    for (modes, keys) in [
        (json!(["text/plain"]), vec!["text"]),
        (json!(["application/json"]), vec!["data"]),
        (json!(["text/*", "application/json; charset=utf-8"]), vec!["text", "data"]),
    ] {
        let mut request = message("hello");
        request["configuration"] = json!({ "acceptedOutputModes": modes });
        let task = server.rpc("ann", "SendMessage", request).await["task"].clone();
        let parts = task["artifacts"][0]["parts"].as_array().unwrap();
        let shown: Vec<&str> =
            parts.iter().map(|it| if it.get("text").is_some() { "text" } else { "data" }).collect();
        assert_eq!(shown, keys, "{modes}");
    }
}

#[tokio::test]
async fn a_data_part_is_used_as_tool_arguments() {
    let server = TestServer::new();
    let input = json!({ "messages": [{ "role": "user", "content": "hi" }], "extra": 1 });
    let mut request = message("ignored");
    request["message"]["parts"] = json!([{ "data": { "input": input } }]);
    server.rpc("ann", "SendMessage", request).await;
    assert_eq!(*server.echo_tool.inputs.lock(), [input]);
}

#[tokio::test]
async fn a_conversation_is_kept_per_context_and_owner() {
    let server = TestServer::new();
    let first = server.send("ann", "one").await;
    let follow = |words: &str| {
        let mut request = message(words);
        request["message"]["contextId"] = first["contextId"].clone();
        request["message"]["metadata"] = json!({ "locale": "ru" });
        request
    };
    let second = server.rpc("ann", "SendMessage", follow("two")).await["task"].clone();
    assert_eq!(second["contextId"], first["contextId"]);
    assert_ne!(second["id"], first["id"]);
    server.rpc("bob", "SendMessage", follow("three")).await;
    let inputs = server.echo_tool.inputs.lock().clone();
    let messages: Vec<(&Value, &Value)> = inputs[1]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["role"], &it["content"]))
        .collect();
    let answer = json!("ann said \"one\" (1)");
    assert_eq!(
        messages,
        [
            (&json!("user"), &json!("one")),
            (&json!("assistant"), &answer),
            (&json!("user"), &json!("two")),
        ]
    );
    assert_eq!(inputs[1]["metadata"], json!({ "locale": "ru" }));
    assert_eq!(inputs[2]["messages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn failures_end_the_task_with_the_contracts_error() {
    let server = TestServer::new();
    for (words, state, messages) in [
        ("fail", "TASK_STATE_FAILED", "the parrot is ill"),
        ("refuse", "TASK_STATE_REJECTED", "the parrot does not say that"),
        ("panic", "TASK_STATE_FAILED", "an internal error occurred; it has been logged"),
    ] {
        let task = server.send("ann", words).await;
        assert_eq!(task["status"]["state"], state, "{words}");
        assert_eq!(task["status"]["message"]["parts"][0]["text"], messages);
        assert_eq!(task["status"]["message"]["role"], "ROLE_AGENT");
        let over = json!({ "id": task["id"] });
        assert_eq!(server.refused("ann", "CancelTask", over).await.0, -32002);
    }
}

#[tokio::test]
async fn a_task_is_visible_only_to_its_owner() {
    let server = TestServer::new();
    let task = server.send("ann", "hello").await;
    let id = json!({ "id": task["id"] });
    for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
        let refused = server.refused("bob", method, id.clone()).await;
        assert_eq!(refused, (-32001, "TASK_NOT_FOUND".to_owned()), "{method}");
    }
    let webhook = json!({ "taskId": task["id"], "id": "w", "url": "https://a.b" });
    for method in [
        "CreateTaskPushNotificationConfig",
        "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfigs",
        "DeleteTaskPushNotificationConfig",
    ] {
        assert_eq!(server.refused("bob", method, webhook.clone()).await.0, -32001, "{method}");
    }
    assert_eq!(server.rpc("bob", "ListTasks", json!({})).await["totalSize"], 0);
    let mut request = message("more");
    request["message"]["taskId"] = task["id"].clone();
    assert_eq!(server.refused("bob", "SendMessage", request).await.0, -32001);
}

#[tokio::test]
async fn messages_to_a_task_that_is_over_or_of_another_context_are_refused() {
    let server = TestServer::new();
    let task = server.send("ann", "hello").await;
    let mut request = message("more");
    request["message"]["taskId"] = task["id"].clone();
    assert_eq!(server.refused("ann", "SendMessage", request.clone()).await.0, -32004);
    request["message"]["contextId"] = json!("another");
    assert_eq!(server.refused("ann", "SendMessage", request).await.0, -32602);
    let over = json!({ "id": task["id"] });
    assert_eq!(server.refused("ann", "SubscribeToTask", over).await.0, -32004);
}

#[tokio::test]
async fn pages_list_every_task_once_newest_first() {
    let server = TestServer::new();
    for at in 0..7 {
        server.send("ann", &format!("n{at}")).await;
    }
    let (mut texts, mut token) = (Vec::new(), String::new());
    loop {
        let page = json!({ "pageSize": 3, "pageToken": token });
        let page = server.rpc("ann", "ListTasks", page).await;
        assert_eq!((&page["pageSize"], &page["totalSize"]), (&json!(3), &json!(7)));
        for task in page["tasks"].as_array().unwrap() {
            assert!(task.get("artifacts").is_none());
            texts.push(task["history"][0]["parts"][0]["text"].as_str().unwrap().to_owned());
        }
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(texts, ["n6", "n5", "n4", "n3", "n2", "n1", "n0"]);
}

#[tokio::test]
async fn lists_are_filtered_by_context_state_and_time() {
    let server = TestServer::new();
    let first = server.send("ann", "one").await;
    server.send("ann", "fail").await;
    let last = server.send("ann", "three").await;
    let count =
        async |params: Value| server.rpc("ann", "ListTasks", params).await["totalSize"].clone();
    assert_eq!(count(json!({ "contextId": first["contextId"] })).await, 1);
    assert_eq!(count(json!({ "status": "TASK_STATE_FAILED" })).await, 1);
    assert_eq!(count(json!({ "status": "TASK_STATE_UNSPECIFIED" })).await, 3);
    let since = last["status"]["timestamp"].clone();
    assert_eq!(count(json!({ "statusTimestampAfter": since })).await, 1);
    let whole = json!({ "includeArtifacts": true, "historyLength": 0, "pageSize": 1 });
    let page = server.rpc("ann", "ListTasks", whole).await;
    assert_eq!(page["tasks"][0]["artifacts"], last["artifacts"]);
    assert!(page["tasks"][0].get("history").is_none());
    for wrong in [
        json!({ "pageSize": 0 }),
        json!({ "pageSize": 101 }),
        json!({ "pageToken": "!" }),
        json!({ "status": "DONE" }),
        json!({ "statusTimestampAfter": "noon" }),
    ] {
        assert_eq!(server.refused("ann", "ListTasks", wrong.clone()).await.0, -32602, "{wrong}");
        let (key, value) = wrong.as_object().unwrap().iter().next().unwrap();
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let answer = server.rest("ann", "GET", &format!("/tasks?{key}={value}"), Value::Null).await;
        assert_eq!(answer.status, 400, "{key}");
    }
}

#[tokio::test]
async fn tasks_of_an_owner_are_limited_and_the_oldest_are_evicted() {
    let limits = TaskLimits { tasks_max: 3, running_max: 1, ..TaskLimits::default() };
    let server = TestServer::over(Arc::new(MemoryTaskStore::default()), limits);
    server.send("bob", "other").await;
    for at in 0..5 {
        server.send("ann", &format!("n{at}")).await;
    }
    let page = server.rpc("ann", "ListTasks", json!({})).await;
    assert_eq!(page["totalSize"], 3);
    assert_eq!(page["tasks"][2]["history"][0]["parts"][0]["text"], "n2");
    assert_eq!(server.rpc("bob", "ListTasks", json!({})).await["totalSize"], 1);
    let mut immediate = message("wait");
    immediate["configuration"] = json!({ "returnImmediately": true });
    server.rpc("ann", "SendMessage", immediate).await;
    server.echo_tool.started.notified().await;
    let refused = server.refused("ann", "SendMessage", message("more")).await;
    assert_eq!(refused, (-32000, "RATE_LIMITED".to_owned()));
    server.send("bob", "not held up").await;
}

#[tokio::test]
async fn a_client_that_does_not_wait_polls_or_cancels() {
    let server = TestServer::new();
    let mut immediate = message("wait");
    immediate["configuration"] = json!({ "returnImmediately": true });
    let task = server.rpc("ann", "SendMessage", immediate).await["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_SUBMITTED");
    server.echo_tool.started.notified().await;
    let id = json!({ "id": task["id"] });
    let polled = server.rpc("ann", "GetTask", id.clone()).await;
    assert_eq!(polled["status"]["state"], "TASK_STATE_WORKING");
    assert_eq!(polled["status"]["message"]["parts"][0]["text"], "thinking");
    let mut more = message("more");
    more["message"]["taskId"] = task["id"].clone();
    assert_eq!(server.refused("ann", "SendMessage", more).await.0, -32004);
    let canceled = server.rpc("ann", "CancelTask", id.clone()).await;
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(server.rpc("ann", "GetTask", id.clone()).await, canceled);
    assert_eq!(server.refused("ann", "CancelTask", id).await.0, -32002);
}

#[tokio::test]
async fn concurrent_tasks_are_limited() {
    let limits = TaskLimits { running_max: 2, running_all_max: 3, ..TaskLimits::default() };
    let server = TestServer::over(Arc::new(MemoryTaskStore::default()), limits);
    let mut immediate = message("wait");
    immediate["configuration"] = json!({ "returnImmediately": true });
    let come = |who: &'static str| server.rpc_response(who, "SendMessage", immediate.clone());
    let all = futures_util::future::join_all((0..20).map(|_| come("ann"))).await;
    let statuses: Vec<u16> = all.iter().map(|it| it.status().as_u16()).collect();
    assert_eq!(statuses.iter().filter(|it| **it == 200).count(), 2, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|it| **it == 429).count(), 18, "{statuses:?}");
    let refused = all.iter().find(|it| it.status() == 429).unwrap();
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(come("bob").await.status(), 200);
    assert_eq!(come("cid").await.status(), 503);
    assert_eq!(server.rpc("ann", "ListTasks", json!({})).await["totalSize"], 2);
}

#[tokio::test]
async fn a_disconnected_client_leaves_no_task_without_a_job() {
    let server = TestServer::new();
    let mut sent = Box::pin(server.rpc_response("ann", "SendMessage", message("hello")));
    // Polled until it waits for the store, and dropped.
    assert!(futures_util::poll!(sent.as_mut()).is_pending());
    drop(sent);
    let done = json!({ "status": "TASK_STATE_COMPLETED" });
    while server.rpc("ann", "ListTasks", done.clone()).await["totalSize"] != 1 {
        tokio::task::yield_now().await;
    }
}
