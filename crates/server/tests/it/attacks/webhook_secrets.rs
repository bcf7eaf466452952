//! The secrets of an A2A webhook are written and never shown, on an open server too, where all
//! anonymous callers are one.

use serde_json::{Value, json};

use crate::process::{Folder, Server, http};

async fn rpc(server: &Server, method: &str, params: Value) -> Value {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = http().post(server.url("/a2a")).header("A2A-Version", "1.0").json(&call);
    request.send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn an_anonymous_caller_does_not_see_the_webhook_secrets_of_another() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("STOA_PRIVATE_WEBHOOKS", "true")]);
    let message = json!({ "messageId": "1", "role": "ROLE_USER", "parts": [{ "text": "SBER" }] });
    let sent = rpc(&server, "SendMessage", json!({ "message": message })).await;
    let task = sent["result"]["task"]["id"].clone();
    let webhook = json!({ "taskId": task, "id": "w", "url": "http://127.0.0.1:9/hook",
        "token": "s3cret-token",
        "authentication": { "scheme": "Bearer", "credentials": "s3cret-credentials" } });
    let kept = rpc(&server, "CreateTaskPushNotificationConfig", webhook).await;
    assert_eq!(kept["result"]["id"], "w", "{kept}");
    let listed = rpc(&server, "ListTasks", json!({})).await;
    assert!(listed.to_string().contains(task.as_str().unwrap()), "{listed}");
    for (method, params) in [
        ("ListTaskPushNotificationConfigs", json!({ "taskId": task })),
        ("GetTaskPushNotificationConfig", json!({ "taskId": task, "id": "w" })),
        ("GetTask", json!({ "id": task })),
    ] {
        let shown = rpc(&server, method, params).await;
        assert!(shown["result"].is_object(), "{method}: {shown}");
        assert!(!shown.to_string().contains("s3cret"), "{method}: {shown}");
    }
}
