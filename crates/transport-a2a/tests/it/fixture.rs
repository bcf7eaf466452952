//! Behaviour that only the conformance agent has: it asks for input, answers in pieces, and answers
//! without a task.

use serde_json::{Value, json};

use crate::test_server::{Events, TestServer, message};

fn asking(id: &str) -> Value {
    let mut request = message("hello");
    request["message"]["messageId"] = json!(id);
    request
}

async fn streamed(server: &TestServer, request: Value) -> Events {
    Events::of(server.rpc_response("ann", "SendStreamingMessage", request).await)
}

#[tokio::test]
async fn an_agent_that_needs_input_continues_the_same_task() {
    let server = TestServer::fixture();
    // The stream of the request ends when the task waits for the client.
    let events = streamed(&server, asking("tck-input-required")).await.rest().await;
    let last = &events.last().unwrap()["result"]["statusUpdate"];
    assert_eq!(last["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    let id = json!({ "id": last["taskId"] });
    let mut watching = Events::of(server.rpc_response("ann", "SubscribeToTask", id.clone()).await);
    watching.next().await.unwrap();
    let mut more = asking("tck-complete-task");
    more["message"]["taskId"] = last["taskId"].clone();
    let done = server.rpc("ann", "SendMessage", more.clone()).await["task"].clone();
    assert_eq!(done["id"], last["taskId"]);
    assert_eq!(done["contextId"], last["contextId"]);
    assert_eq!(done["history"].as_array().unwrap().len(), 2);
    assert_eq!(done["status"]["message"]["parts"][0]["text"], "Hello from TCK");
    let heard = watching.rest().await;
    let states: Vec<&Value> =
        heard.iter().map(|it| &it["result"]["statusUpdate"]["status"]["state"]).collect();
    assert_eq!(states, [&json!("TASK_STATE_SUBMITTED"), &json!("TASK_STATE_COMPLETED")]);
    assert_eq!(server.refused("ann", "SendMessage", more).await.0, -32004);
}

#[tokio::test]
async fn a_task_that_waits_for_its_client_can_be_cancelled() {
    let server = TestServer::fixture();
    let task = server.rpc("ann", "SendMessage", asking("tck-input-required")).await["task"].clone();
    let id = json!({ "id": task["id"] });
    let gone = server.rpc("ann", "CancelTask", id.clone()).await;
    assert_eq!(gone["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(server.rpc("ann", "GetTask", id).await, gone);
}

#[tokio::test]
async fn chunks_of_an_artifact_are_stored_as_one() {
    let server = TestServer::fixture();
    let events = streamed(&server, asking("tck-stream-artifact-chunked")).await.rest().await;
    let chunks: Vec<&Value> =
        events.iter().filter_map(|it| it["result"].get("artifactUpdate")).collect();
    assert_eq!(chunks.len(), 2);
    assert_eq!((&chunks[0]["append"], &chunks[1]["append"]), (&json!(false), &json!(true)));
    let task = server.rpc("ann", "GetTask", json!({ "id": chunks[0]["taskId"] })).await;
    assert_eq!(task["artifacts"].as_array().unwrap().len(), 1);
    assert_eq!(
        task["artifacts"][0]["parts"],
        json!([{ "text": "chunk-1 " }, { "text": "chunk-2" }])
    );
}

#[tokio::test]
async fn an_answer_may_need_no_task() {
    let server = TestServer::fixture();
    let answer = server.rpc("ann", "SendMessage", asking("tck-message-response")).await;
    assert_eq!(answer["message"]["parts"][0]["text"], "Direct message response");
    assert!(answer["message"]["contextId"].is_string());
    let events = streamed(&server, asking("tck-message-response")).await.rest().await;
    assert_eq!(events.len(), 1);
    assert_eq!(server.rpc("ann", "ListTasks", json!({})).await["totalSize"], 0);
}
