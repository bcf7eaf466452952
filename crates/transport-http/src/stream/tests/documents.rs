//! The published documents, checked against real messages.

use contract::Schema;
use serde_json::{Value, json};

use super::fixture::{ServerSettings, TestServer};
use super::sse::request;
use super::ws::client::WsClient;
use crate::StreamOptions;

async fn document(server: &TestServer, path: &str) -> Value {
    let answer = request(server, "GET", path, "connection: close\r\n", "").await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    serde_json::from_str(body).unwrap()
}

/// Checks that every `$ref` resolves.
fn check_references(document: &Value, at: &Value) {
    match at {
        Value::Object(fields) => {
            if let Some(Value::String(to)) = fields.get("$ref") {
                let found = document.pointer(to.trim_start_matches('#'));
                assert!(found.is_some(), "{to} does not resolve");
            }
            fields.values().for_each(|it| check_references(document, it));
        }
        Value::Array(items) => items.iter().for_each(|it| check_references(document, it)),
        _ => {}
    }
}

/// The names of the documented messages whose schema accepts this one.
fn matching(document: &Value, operation: &str, message: &Value) -> Vec<String> {
    let messages = document["operations"][operation]["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|it| it["$ref"].as_str().unwrap().trim_start_matches('#'))
        .filter(|to| {
            let payload = document.pointer(to).unwrap()["payload"].clone();
            Schema::compile(payload).unwrap().check(message).is_ok()
        })
        .map(|to| to.rsplit('/').next().unwrap().to_owned())
        .collect()
}

#[track_caller]
fn check(document: &Value, operation: &str, message: &Value, expected: &str) {
    let matches = matching(document, operation, message);
    assert!(matches.iter().any(|name| name == expected), "{message} matches {matches:?}");
}

#[tokio::test]
async fn messages_match_the_asyncapi_document() {
    let server = TestServer::open().await;
    let document = document(&server, "/asyncapi.json").await;
    check_references(&document, &document);
    assert_eq!(document["asyncapi"], "3.0.0");
    assert_eq!(document["channels"]["stream_ticks"]["address"], "/stream/ticks");
    assert_eq!(document["channels"]["ws"]["address"], "/ws");

    let mut client = WsClient::connect(&server, "/ws").await;
    let subscribe =
        json!({"type": "subscribe", "id": "a", "stream": "ticks", "name": "n", "last": 1});
    check(&document, "say_ws", &subscribe, "subscribe_ticks");
    for message in [json!({"type": "subscribe", "name": "n"}), json!({"type": "buy"})] {
        assert!(matching(&document, "say_ws", &message).is_empty(), "{message}");
    }
    client.send_json(subscribe);
    let received = client.receive(4).await;
    let kinds = ["subscribed", "event_ticks", "event_ticks", "unsubscribed"];
    for (message, kind) in received.iter().zip(kinds) {
        check(&document, "hear_ws", message, kind);
    }
    for (message, sent, answer) in [
        (json!({"type": "ping"}), "ping", "pong"),
        (json!({"type": "unsubscribe", "id": "b"}), "unsubscribe", "error_indicators"),
    ] {
        check(&document, "say_ws", &message, sent);
        client.send_json(message);
        check(&document, "hear_ws", &client.receive(1).await[0], answer);
    }
}

#[tokio::test]
async fn openapi_and_docs_list_the_streams() {
    let server = TestServer::open().await;
    let openapi = document(&server, "/openapi.json").await;
    let follow = &openapi["paths"]["/stream/ticks"]["get"];
    assert!(follow["responses"]["200"]["content"]["text/event-stream"].is_object(), "{follow}");
    let page = request(&server, "GET", "/docs", "connection: close\r\n", "").await;
    for text in ["GET /stream/ticks", "/alone", "href=\"/asyncapi.json\""] {
        assert!(page.contains(text), "{text}");
    }
}

#[tokio::test]
async fn every_operation_of_openapi_has_an_id_a_tag_and_its_errors() {
    let server = TestServer::open().await;
    let openapi = document(&server, "/openapi.json").await;
    check_references(&openapi, &openapi);
    assert_eq!(openapi["servers"], json!([{ "url": "/" }]));
    assert_eq!(openapi["info"]["license"]["identifier"], "MIT OR Apache-2.0");
    let defined: Vec<&Value> =
        openapi["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]).collect();
    let mut ids = std::collections::BTreeSet::new();
    for (path, methods) in openapi["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{path}"));
            assert!(ids.insert(id), "{id} is there twice");
            assert!(operation["description"].is_string(), "{method} {path}");
            assert!(defined.contains(&&operation["tags"][0]), "{method} {path}");
            let statuses = operation["responses"].as_object().unwrap();
            assert!(statuses.keys().any(|status| status.starts_with('4')), "{method} {path}");
        }
    }
    let errors = &openapi["paths"]["/stream/ticks"]["get"]["responses"];
    for status in ["400", "429", "default"] {
        let schema = &errors[status]["content"]["application/json"]["schema"]["$ref"];
        assert_eq!(schema, "#/components/schemas/indicators_error", "{status}");
    }
}

/// The error of a path that belongs to no service.
#[tokio::test]
async fn a_refusal_of_the_server_itself_fits_its_component() {
    let server = TestServer::open().await;
    let openapi = document(&server, "/openapi.json").await;
    let schema = Schema::compile(openapi["components"]["schemas"]["server_error"].clone()).unwrap();
    let answer = request(&server, "GET", "/nothing", "connection: close\r\n", "").await;
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    schema.check(&serde_json::from_str(body).unwrap()).unwrap();
    assert!(schema.check(&json!({ "error": {} })).is_err());
}

#[tokio::test]
async fn disabled_streams_are_not_documented() {
    let streams = StreamOptions { sse: false, ws: false, ..StreamOptions::default() };
    let server = TestServer::with(ServerSettings { streams, ..ServerSettings::default() }).await;
    let asyncapi = document(&server, "/asyncapi.json").await;
    assert_eq!(asyncapi["channels"], json!({}));
    let openapi = document(&server, "/openapi.json").await;
    assert!(openapi["paths"]["/stream/ticks"].is_null());
}
