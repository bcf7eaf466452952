//! Cards, protocol versions, media types, authentication, and the errors of refused requests.

use axum::body::Body;
use http::Request;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::test_server::{Answer, TestServer, message};

async fn fetch(server: &TestServer, request: http::request::Builder, body: &str) -> Answer {
    let request = request.body(Body::from(body.to_owned())).unwrap();
    Answer::of(server.request("ann", request).await).await
}

#[tokio::test]
async fn the_agent_card_has_the_address_and_an_etag() {
    let server = TestServer::new();
    let path = "/.well-known/agent-card.json";
    let card = fetch(&server, Request::get(path).header("host", "bird.example"), "").await;
    assert_eq!(card.status, 200);
    assert_eq!(card.body["name"], "Parrot");
    assert_eq!(card.body["version"], "1.2.3");
    let interfaces = &card.body["supportedInterfaces"];
    assert_eq!(interfaces[0]["url"], "http://bird.example/a2a");
    assert_eq!(interfaces[1]["url"], "http://bird.example/a2a/rest");
    assert_eq!(card.body["securityRequirements"][0]["schemes"]["bearer"], json!({ "list": [] }));
    assert!(card.headers["cache-control"].to_str().unwrap().contains("max-age"));
    let known = Request::get(path)
        .header("host", "bird.example")
        .header("if-none-match", &card.headers["etag"]);
    assert_eq!(fetch(&server, known, "").await.status, 304);
    let elsewhere = Request::get(path)
        .header("host", "other.example")
        .header("x-forwarded-proto", "https")
        .header("if-none-match", &card.headers["etag"]);
    let elsewhere = fetch(&server, elsewhere, "").await;
    assert_eq!(elsewhere.body["supportedInterfaces"][0]["url"], "https://other.example/a2a");
}

#[tokio::test]
async fn clients_of_0_3_find_the_card_and_its_fields() {
    let server = TestServer::new();
    for path in ["/.well-known/agent-card.json", "/.well-known/agent.json"] {
        let card = fetch(&server, Request::get(path).header("host", "bird.example"), "").await.body;
        assert_eq!(card["url"], "http://bird.example/a2a", "{path}");
        assert_eq!(card["preferredTransport"], "JSONRPC");
        assert_eq!(card["additionalInterfaces"][1]["transport"], "HTTP+JSON");
        assert_eq!(card["securitySchemes"]["bearer"]["type"], "http");
        assert_eq!(card["security"], json!([{ "bearer": [] }]));
    }
}

#[tokio::test]
async fn authenticated_callers_get_the_extended_card() {
    let server = TestServer::new();
    let card = server.rpc("ann", "GetExtendedAgentCard", json!({})).await;
    assert_eq!(card["capabilities"]["extensions"][0]["params"]["tasksMax"], 1000);
    let card = server.rest("ann", "GET", "/extendedAgentCard", Value::Null).await;
    assert_eq!((card.status, &card.body["name"]), (200, &json!("Parrot")));
}

#[tokio::test]
async fn a_trailing_slash_is_accepted() {
    let call = json!({ "jsonrpc": "2.0", "id": "x", "method": "ListTasks" }).to_string();
    let request = Request::post("/a2a/")
        .header("a2a-version", "1.0")
        .header("content-type", "application/json; charset=utf-8");
    let answer = fetch(&TestServer::new(), request, &call).await;
    assert_eq!(answer.body["id"], "x");
    assert_eq!(answer.body["result"]["tasks"], json!([]));
}

#[track_caller]
fn check_rpc(body: &Value, headers: &[(&str, &str)], code: i64, status: u16) {
    let mut request = Request::post("/a2a");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = match body {
        Value::String(text) => text.clone(),
        json => json.to_string(),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let answer = runtime.block_on(async { fetch(&TestServer::new(), request, &body).await });
    assert_eq!((answer.body["error"]["code"].as_i64(), answer.status), (Some(code), status));
}

#[test]
fn malformed_requests_are_refused_with_their_code() {
    let json = ("content-type", "application/json");
    let now = ("a2a-version", "1.0");
    let good = json!({ "jsonrpc": "2.0", "id": 1, "method": "ListTasks" });
    let with = |key: &str, value: Value| {
        let mut request = good.clone();
        request[key] = value;
        request
    };
    check_rpc(&json!("{"), &[json, now], -32700, 200);
    check_rpc(&json!([good]), &[json, now], -32600, 200);
    check_rpc(&json!(7), &[json, now], -32600, 200);
    check_rpc(&with("id", json!({})), &[json, now], -32600, 200);
    check_rpc(&with("id", Value::Null), &[json, now], -32600, 200);
    check_rpc(&with("jsonrpc", json!("1.0")), &[json, now], -32600, 200);
    check_rpc(&with("method", json!(5)), &[json, now], -32600, 200);
    check_rpc(&with("method", json!("message/send")), &[json, now], -32601, 200);
    check_rpc(&with("params", json!([1])), &[json, now], -32602, 200);
    check_rpc(&with("params", json!({ "pageSize": "x" })), &[json, now], -32602, 200);
    check_rpc(&good, &[json], -32009, 200);
    check_rpc(&good, &[json, ("a2a-version", "0.3")], -32009, 200);
    check_rpc(&good, &[("content-type", "text/plain"), now], -32005, 415);
    check_rpc(&good, &[now], -32005, 415);
}

#[track_caller]
fn check_message(change: impl FnOnce(&mut Value), code: i64) {
    let mut request = message("hello");
    change(&mut request);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let shown = request.to_string();
    let shown: String = shown.chars().take(200).collect();
    let (refused, _) =
        runtime.block_on(async { TestServer::new().refused("ann", "SendMessage", request).await });
    assert_eq!(refused, code, "{shown}");
}

#[test]
fn malformed_messages_are_refused_before_a_task_is_created() {
    check_message(|it| it["message"] = Value::Null, -32602);
    check_message(|it| it["message"]["role"] = json!("ROLE_AGENT"), -32602);
    check_message(|it| it["message"]["role"] = json!("user"), -32602);
    check_message(|it| it["message"]["messageId"] = json!(""), -32602);
    check_message(|it| it["message"]["parts"] = json!([]), -32602);
    check_message(|it| it["message"]["parts"] = json!([{}]), -32602);
    check_message(|it| it["message"]["parts"] = json!([{ "text": "a", "data": 1 }]), -32602);
    check_message(|it| it["message"]["parts"] = json!([{ "data": { "no": "input" } }]), -32602);
    check_message(|it| it["message"]["parts"] = json!([{ "data": { "input": 5 } }]), -32602);
    check_message(|it| it["message"]["parts"] = json!([{ "raw": "AAAA" }]), -32005);
    check_message(|it| it["message"]["parts"] = json!([{ "url": "https://a.b" }]), -32005);
    check_message(
        |it| it["message"]["parts"] = json!([{ "text": "a", "mediaType": "image/png" }]),
        -32005,
    );
    check_message(|it| it["message"]["parts"][0]["text"] = json!("x".repeat(200_000)), -32602);
    check_message(|it| it["message"]["taskId"] = json!("none"), -32001);
    check_message(|it| it["configuration"]["historyLength"] = json!(-1), -32602);
    check_message(|it| it["configuration"]["acceptedOutputModes"] = json!(["image/png"]), -32005);
    check_message(
        |it| it["configuration"]["taskPushNotificationConfig"]["url"] = json!("ftp://a"),
        -32602,
    );
}

#[tokio::test]
async fn callers_without_token_or_scope_are_refused_in_both_bindings() {
    let server = TestServer::new();
    for (who, status) in [("nobody", 401), ("guest", 403)] {
        let answer = Answer::of(server.rpc_response(who, "SendMessage", message("hi")).await).await;
        assert_eq!((answer.status, &answer.body["error"]["code"]), (status, &json!(-32000)));
        let answer = server.rest(who, "POST", "/message:send", message("hi")).await;
        assert_eq!((answer.status, &answer.body["error"]["code"]), (status, &json!(status)));
        if who == "nobody" {
            assert!(answer.headers.contains_key("www-authenticate"));
        }
    }
    assert!(server.echo_tool.inputs.lock().is_empty());
}

#[tokio::test]
async fn a_reply_has_the_content_type_of_the_request() {
    let server = TestServer::new();
    for kind in ["application/json", "application/a2a+json"] {
        let request = Request::post("/a2a/rest/message:send")
            .header("a2a-version", "1.0")
            .header("content-type", kind);
        let answer = fetch(&server, request, &message("hi").to_string()).await;
        assert_eq!((answer.status, answer.headers["content-type"].to_str().unwrap()), (200, kind));
    }
    let old = Request::get("/a2a/rest/tasks");
    let refused = fetch(&server, old, "").await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.body["error"]["details"][0]["reason"], "VERSION_NOT_SUPPORTED");
    let odd = server.rest("ann", "POST", "/tasks/x:explode", Value::Null).await;
    assert_eq!(odd.status, 404);
}

/// Any JSON, a few levels deep.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let key = prop_oneof![
            Just("message".to_owned()),
            Just("parts".to_owned()),
            Just("id".to_owned()),
            Just("taskId".to_owned()),
            Just("url".to_owned()),
            "[a-zA-Z]{0,8}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_body_is_answered_in_its_binding(params in anything(), at in 0_usize..11) {
        let methods = ["SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask",
            "SubscribeToTask", "CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig",
            "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig", "Nothing"];
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let answer = runtime.block_on(async {
            let response = TestServer::new().rpc_response("ann", methods[at], params).await;
            Answer::of(response).await
        });
        prop_assert_eq!(&answer.body["jsonrpc"], "2.0");
        let code = answer.body["error"]["code"].as_i64();
        prop_assert!(answer.body.get("result").is_some() != code.is_some());
        prop_assert_ne!(code, Some(-32603));
    }
}

#[tokio::test]
async fn a_path_that_is_not_utf8_is_refused_in_its_binding() {
    let server = TestServer::new();
    for path in ["/tasks/a%ffb", "/tasks/%ff:cancel", "/tasks/a/pushNotificationConfigs/%ff"] {
        let answer = server.rest("ann", "GET", path, Value::Null).await;
        assert_eq!(answer.status, 400, "{path}");
        assert_eq!(answer.body["error"]["details"][0]["reason"], "INVALID_PARAMS", "{path}");
    }
}
