//! Events of a task as all its subscribers receive them.

use serde_json::{Value, json};

use crate::test_server::{Events, TestServer, message};

fn states(events: &[Value]) -> Vec<String> {
    let word = |event: &Value| {
        let event = event.get("result").unwrap_or(event);
        let (kind, inside) = event.as_object().unwrap().iter().next().unwrap();
        let state = inside["status"]["state"].as_str().unwrap_or_default();
        format!("{kind} {}", state.trim_start_matches("TASK_STATE_")).trim_end().to_owned()
    };
    events.iter().map(word).collect()
}

#[tokio::test]
async fn a_stream_begins_with_the_task_and_ends_with_its_end() {
    let server = TestServer::new();
    let response = server.rpc_response("ann", "SendStreamingMessage", message("hello")).await;
    let events = Events::of(response).rest().await;
    assert_eq!(
        states(&events),
        ["task SUBMITTED", "statusUpdate WORKING", "artifactUpdate", "statusUpdate COMPLETED"]
    );
    assert!(events.iter().all(|it| it["jsonrpc"] == "2.0" && it["id"] == 7));
    let task = &events[0]["result"]["task"];
    let artifact = &events[2]["result"]["artifactUpdate"];
    assert_eq!((&artifact["taskId"], &artifact["lastChunk"]), (&task["id"], &json!(true)));
    let kept = server.rpc("ann", "GetTask", json!({ "id": task["id"] })).await;
    assert_eq!(kept["artifacts"][0], artifact["artifact"]);
}

#[tokio::test]
async fn progress_is_streamed_and_late_subscribers_get_the_rest() {
    let server = TestServer::new();
    let response = server.rpc_response("ann", "SendStreamingMessage", message("wait")).await;
    let mut events = Events::of(response);
    let task = events.next().await.unwrap()["result"]["task"].clone();
    server.echo_tool.started.notified().await;
    let subscribe =
        server.rpc_response("ann", "SubscribeToTask", json!({ "id": task["id"] })).await;
    let mut late = Events::of(subscribe);
    let shown = late.next().await.unwrap();
    assert_eq!(shown["result"]["task"]["status"]["state"], "TASK_STATE_WORKING");
    // A reader that leaves changes nothing for the others.
    let gone = server.rpc_response("ann", "SubscribeToTask", json!({ "id": task["id"] })).await;
    drop(gone);
    server.echo_tool.resume.notify_one();
    let late = late.rest().await;
    assert_eq!(states(&late), ["artifactUpdate", "statusUpdate COMPLETED"]);
    let events = events.rest().await;
    let progress = &events[1]["result"]["statusUpdate"];
    assert_eq!(progress["metadata"], json!({ "progress": 1.0, "total": 2.0 }));
    assert_eq!(progress["status"]["message"]["parts"][0]["text"], "thinking");
    assert_eq!(events[2..], late);
}

#[tokio::test]
async fn closing_a_stream_does_not_cancel_the_task() {
    let server = TestServer::new();
    let response = server.rpc_response("ann", "SendStreamingMessage", message("wait")).await;
    let mut events = Events::of(response);
    let task = events.next().await.unwrap()["result"]["task"].clone();
    server.echo_tool.started.notified().await;
    drop(events);
    let id = json!({ "id": task["id"] });
    let mut watching = Events::of(server.rpc_response("ann", "SubscribeToTask", id).await);
    watching.next().await.unwrap();
    server.echo_tool.resume.notify_one();
    assert_eq!(states(&watching.rest().await).last().unwrap(), "statusUpdate COMPLETED");
}

#[tokio::test]
async fn a_cancellation_reaches_streams_on_both_bindings() {
    let server = TestServer::new();
    let mut immediate = message("wait");
    immediate["configuration"] = json!({ "returnImmediately": true });
    let task = server.rpc("ann", "SendMessage", immediate).await["task"].clone();
    server.echo_tool.started.notified().await;
    let id = task["id"].as_str().unwrap();
    for (at, method) in ["GET", "POST"].into_iter().enumerate() {
        let request = http::Request::builder()
            .method(method)
            .uri(format!("/a2a/rest/tasks/{id}:subscribe?A2A-Version=1.0"))
            .body(axum::body::Body::empty())
            .unwrap();
        let mut events = Events::of(server.request("ann", request).await);
        assert_eq!(states(&[events.next().await.unwrap()]), ["task WORKING"]);
        if at == 1 {
            let cancel = format!("/tasks/{id}:cancel");
            assert_eq!(server.rest("ann", "POST", &cancel, json!({})).await.status, 200);
            assert_eq!(states(&events.rest().await), ["statusUpdate CANCELED"]);
        }
    }
}

#[tokio::test]
async fn a_stream_that_cannot_begin_is_refused_like_a_call() {
    let server = TestServer::new();
    let none = json!({ "id": "none" });
    assert_eq!(server.refused("ann", "SubscribeToTask", none).await.0, -32001);
    let answer = server.rest("ann", "POST", "/message:stream", json!({})).await;
    assert_eq!((answer.status, &answer.body["error"]["status"]), (400, &json!("INVALID_ARGUMENT")));
}
