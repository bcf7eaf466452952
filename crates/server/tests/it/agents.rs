//! The analyst as another agent uses it: its card, messages, and earlier tasks of a conversation.

use serde_json::{Value, json};

use crate::process::{Folder, Server, http, run, stoa};

const OPERATOR: &str = "only-for-the-operator";

async fn request(
    server: &Server,
    token: &str,
    method: &str,
    path: &str,
    body: Value,
) -> (u16, Value) {
    let url = server.url(&format!("/a2a/rest{path}"));
    let request = http()
        .request(method.parse().unwrap(), url)
        .bearer_auth(token)
        .header("A2A-Version", "1.0")
        .json(&body);
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

fn question(text: &str) -> Value {
    json!({ "message": { "messageId": "1", "role": "ROLE_USER", "parts": [{ "text": text }] } })
}

#[tokio::test]
async fn a_stored_task_survives_a_kill_and_is_private_to_its_owner() {
    let folder = Folder::new();
    let settings = [("MCP_HTTP_TOKEN", OPERATOR)];
    let mint = ["token", "mint", "--scope", "read", "--subject", "another"];
    let (code, other, error) = run(stoa(folder.path()).args(mint));
    assert_eq!(code, 0, "{error}");
    let server = Server::start(folder.path(), &settings);
    let card = server.url("/.well-known/agent-card.json");
    let card: Value = http().get(card).send().await.unwrap().json().await.unwrap();
    assert_eq!(card["supportedInterfaces"][0]["url"], server.url("/a2a"));
    assert!(card["securityRequirements"].is_array(), "{card}");

    let question = question("Как дела у Сбербанка за последний месяц?");
    let (status, _) = request(&server, "wrong", "POST", "/message:send", question.clone()).await;
    assert_eq!(status, 401);
    let (status, sent) = request(&server, OPERATOR, "POST", "/message:send", question).await;
    assert_eq!(status, 200, "{sent}");
    let task = &sent["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{task}");
    let parts = &task["artifacts"][0]["parts"];
    assert_eq!(parts[0]["text"], parts[1]["data"]["output"]["text"]);
    server.kill();

    let server = Server::start(folder.path(), &settings);
    let path = format!("/tasks/{}", task["id"].as_str().unwrap());
    assert_eq!(request(&server, OPERATOR, "GET", &path, Value::Null).await, (200, task.clone()));
    let (status, refused) = request(&server, other.trim(), "GET", &path, Value::Null).await;
    assert_eq!(status, 404);
    assert_eq!(refused["error"]["details"][0]["reason"], "TASK_NOT_FOUND");
    let (_, list) = request(&server, other.trim(), "GET", "/tasks", Value::Null).await;
    assert_eq!(list["totalSize"], 0);
}
