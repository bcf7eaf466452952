//! The analyst over A2A under attack: malformed and forged requests, tasks of other owners, and
//! floods.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::process::{Folder, Server, http, run, stoa};

const OPERATOR: &str = "only-for-the-operator";

struct TargetServer {
    folder: Folder,
    server: Server,
}

impl TargetServer {
    fn open() -> Self {
        let folder = Folder::new();
        let settings = [("MCP_HTTP_TOKEN", OPERATOR), ("STOA_RATE_PER_SECOND", "0")];
        let server = Server::start(folder.path(), &settings);
        Self { folder, server }
    }

    fn token(&self, who: &str) -> String {
        let mint = ["token", "mint", "--scope", "read", "--subject", who];
        let (code, token, told) = run(stoa(self.folder.path()).args(mint));
        assert_eq!(code, 0, "{told}");
        token.trim().to_owned()
    }

    async fn raw(&self, version: Option<&str>, body: Vec<u8>) -> (u16, Value) {
        let mut request = http().post(self.server.url("/a2a")).bearer_auth(OPERATOR);
        if let Some(version) = version {
            request = request.header("A2A-Version", version);
        }
        let request = request.header("content-type", "application/json").body(body);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    async fn rpc(&self, token: &str, method: &str, params: Value) -> (u16, Value) {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = http().post(self.server.url("/a2a")).bearer_auth(token);
        let response = request.header("A2A-Version", "1.0").json(&call).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }
}

fn message(text: &str) -> Value {
    json!({ "message": { "messageId": "1", "role": "ROLE_USER", "parts": [{ "text": text }] } })
}

#[tokio::test]
async fn malformed_requests_are_refused_and_the_server_goes_on() {
    let target = TargetServer::open();
    let nested = |depth: usize| {
        let mut body = br#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":"#.to_vec();
        body.extend(b"[".repeat(depth));
        body.extend(b"]".repeat(depth));
        body.push(b'}');
        body
    };
    for (body, code) in [
        (b"".to_vec(), -32700),
        (b"{".to_vec(), -32700),
        (b"\xff\xfe".to_vec(), -32700),
        (nested(50_000), -32700),
        (b"null".to_vec(), -32600),
        (b"[]".to_vec(), -32600),
        (br#"{"jsonrpc":"1.0","id":1,"method":"ListTasks"}"#.to_vec(), -32600),
        (br#"{"jsonrpc":"2.0","id":{},"method":"ListTasks"}"#.to_vec(), -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":"message/send"}"#.to_vec(), -32601),
        (br#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[1]}"#.to_vec(), -32602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":7}}"#.to_vec(), -32602),
    ] {
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        let (_, answer) = target.raw(Some("1.0"), body).await;
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
    }
    let list = br#"{"jsonrpc":"2.0","id":1,"method":"ListTasks"}"#;
    for version in [None, Some("0.3"), Some("2.0"), Some("1.0, 0.3"), Some("what")] {
        let (_, answer) = target.raw(version, list.to_vec()).await;
        assert_eq!(answer["error"]["code"], -32009, "{version:?}: {answer}");
    }
    for huge in [message(&"x".repeat(200_000)), {
        let part = json!({ "text": "x" });
        json!({ "message": { "messageId": "1", "role": "ROLE_USER", "parts": vec![part; 65] } })
    }] {
        let (_, answer) = target.rpc(OPERATOR, "SendMessage", huge).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let (_, answer) = target.raw(Some("1.0"), list.to_vec()).await;
    assert_eq!(answer["result"]["totalSize"], 0, "nothing of it became a task");
}

#[tokio::test]
async fn a_task_is_visible_to_its_owner_only_and_an_ended_task_stays_ended() {
    let target = TargetServer::open();
    let (ann, bob) = (target.token("ann"), target.token("bob"));
    let (_, sent) = target.rpc(&ann, "SendMessage", message("Как дела у Сбербанка?")).await;
    let task = &sent["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{sent}");
    let id = &task["id"];
    let mut more = message("ещё");
    more["message"]["taskId"] = id.clone();
    for (method, params, over) in [
        ("GetTask", json!({ "id": id }), None),
        ("CancelTask", json!({ "id": id }), Some(-32002)),
        ("SubscribeToTask", json!({ "id": id }), Some(-32004)),
        ("SendMessage", more, Some(-32004)),
        ("ListTaskPushNotificationConfigs", json!({ "taskId": id }), None),
        ("DeleteTaskPushNotificationConfig", json!({ "taskId": id, "id": "w" }), None),
    ] {
        let (_, hers) = target.rpc(&ann, method, params.clone()).await;
        assert_eq!(hers["error"]["code"].as_i64(), over, "{method}: {hers}");
        let (_, his) = target.rpc(&bob, method, params).await;
        assert_eq!(his["error"]["code"], -32001, "{method}: {his}");
    }
    let mut same = message("а дивиденды?");
    same["message"]["contextId"] = task["contextId"].clone();
    let (_, his) = target.rpc(&bob, "SendMessage", same).await;
    assert!(!his.to_string().contains("SBER"), "her conversation is not his: {his}");
    // Forged page tokens: base64 of a time and an id.
    for (token, refused) in [
        ("garbage!", true),
        ("eA", true),
        ("OTk5OTk5OTk5OTk5OTk5OTk5OTkgYQ", true),
        ("OTIyMzM3MjAzNjg1NDc3NTgwNyB6eno", false),
        ("MSAnIE9SIDE9MSAtLQ", false),
    ] {
        let (_, page) = target.rpc(&bob, "ListTasks", json!({ "pageToken": token })).await;
        assert_eq!(page["error"]["code"] == -32602, refused, "{token}: {page}");
        assert!(!page.to_string().contains(id.as_str().unwrap()), "{token}: {page}");
    }
}

#[tokio::test]
async fn requests_beyond_the_limit_get_retry_after_and_admitted_ones_are_answered() {
    let target = TargetServer::open();
    let asked = message("Сравни Сбербанк и Газпром за год");
    let crowd = (0..200).map(|_| target.rpc(OPERATOR, "SendMessage", asked.clone()));
    let answers = join_all(crowd).await;
    let let_in = answers.iter().filter(|(status, _)| *status == 200);
    assert!(let_in.clone().count() >= 16, "as many as there is room for");
    assert!(let_in.clone().count() < 200, "and no more");
    for (_, body) in let_in {
        let state = &body["result"]["task"]["status"]["state"];
        assert_eq!(*state, "TASK_STATE_COMPLETED", "{body}");
    }
    for (status, body) in answers.iter().filter(|(status, _)| *status != 200) {
        assert_eq!(*status, 429, "{body}");
        assert!(body["error"]["message"].as_str().unwrap().starts_with("16 tasks"), "{body}");
    }
}
