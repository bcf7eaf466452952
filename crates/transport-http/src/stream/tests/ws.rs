//! The WebSocket protocol, tested with the tungstenite client.

pub(crate) mod client;
mod limits;
mod upgrade;

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use self::client::WsClient;
use super::fixture::{ServerSettings, TestServer};

fn tick(name: &str, n: u64) -> Value {
    json!({"type": "tick", "name": name, "n": n})
}

fn with_id(id: &str, mut event: Value) -> Value {
    event["id"] = Value::from(id);
    event
}

#[tokio::test]
async fn a_subscription_sends_events_and_ends() {
    let server = TestServer::open().await;
    let mut client = WsClient::connect(&server, "/ws").await;
    client.send_json(
        json!({"type": "subscribe", "id": "a", "stream": "ticks", "name": "n", "last": 2}),
    );
    assert_eq!(
        client.receive(5).await,
        [
            json!({"type": "subscribed", "id": "a", "stream": "ticks"}),
            with_id("a", tick("n", 1)),
            with_id("a", tick("n", 2)),
            with_id("a", json!({"type": "status", "status": "ended"})),
            json!({"type": "unsubscribed", "id": "a"}),
        ]
    );
    // The id is free again, and the stream resumes after the given point.
    client.send_json(json!({"type": "subscribe", "id": "a", "stream": "more", "name": "n", "after": 7, "last": 8}));
    let received = client.receive(2).await;
    assert_eq!(received[0]["stream"], "more");
    assert_eq!(received[1], with_id("a", tick("n", 8)));
    client.close().await;
    server.log.until_open(0).await;
}

#[tokio::test]
async fn a_subscription_without_an_id_gets_one() {
    let server = TestServer::open().await;
    let mut client = WsClient::connect(&server, "/alone").await;
    client.send_json(json!({"type": "subscribe", "name": "n", "last": 1}));
    let received = client.receive(4).await;
    assert_eq!(received[0], json!({"type": "subscribed", "id": "s1", "stream": "alone"}));
    assert_eq!(received[1], with_id("s1", tick("n", 1)));
    assert_eq!(received[3], json!({"type": "unsubscribed", "id": "s1"}));
    // Equal subscriptions get different ids, and an error has the id of its subscription.
    for name in ["m", "m", "nobody"] {
        client.send_json(json!({"type": "subscribe", "name": name, "last": 1}));
    }
    let received = client.receive(9).await;
    for (at, id) in ["s2", "s3"].into_iter().enumerate() {
        let own: Vec<_> = received.iter().filter(|message| message["id"] == id).collect();
        assert_eq!(own.len(), 4, "{at}: {received:?}");
        assert_eq!(*own[1], with_id(id, tick("m", 1)));
    }
    let error = received.iter().find(|message| message["type"] == "error").unwrap();
    check_error(error, Some("s4"), "unknown_symbol", None);
}

#[tokio::test]
async fn a_token_is_verified_once_for_all_subscriptions_of_a_connection() {
    let settings =
        ServerSettings { strict: true, recheck: Duration::from_hours(1), ..Default::default() };
    let server = TestServer::with(settings).await;
    let bearer = [("authorization", "Bearer good")];
    let mut client = WsClient::connect_with(&server, "/ws", &bearer).await;
    for id in ["a", "b", "c"] {
        let stream =
            json!({"type": "subscribe", "id": id, "stream": "ticks", "name": "n", "last": 1});
        client.send_json(stream);
    }
    let received = client.receive(12).await;
    assert!(received.iter().all(|message| message["type"] != "error"), "{received:?}");
    assert_eq!(server.log.verified.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_connection_whose_token_is_revoked_gets_an_error_and_closes() {
    let server =
        TestServer::with(ServerSettings { strict: true, ..ServerSettings::default() }).await;
    let mut client =
        WsClient::connect_with(&server, "/ws", &[("authorization", "Bearer good")]).await;
    for id in ["a", "b"] {
        client
            .send_json(json!({"type": "subscribe", "id": id, "stream": "ticks", "name": "quiet"}));
    }
    client.receive(2).await;
    server.log.revoked.store(true, Ordering::SeqCst);
    let error = &client.receive(1).await[0];
    assert_eq!(error["error"]["message"], "the token was revoked", "{error}");
    assert_eq!(
        (&error["type"], &error["error"]["code"]),
        (&json!("error"), &json!("unauthorized"))
    );
    assert_eq!(client.closed().await, Some(CloseCode::Policy));
    server.log.until_open(0).await;
}

#[tokio::test]
async fn unsubscribing_by_id_and_by_input() {
    let server = TestServer::open().await;
    let mut client = WsClient::connect(&server, "/ws").await;
    client.send_json(json!({"type": "subscribe", "id": "a", "stream": "ticks", "name": "quiet"}));
    client.send_json(
        json!({"type": "subscribe", "stream": "ticks", "name": "quiet", "after": 5, "last": 9}),
    );
    client.receive(2).await;
    client.send_json(json!({"type": "unsubscribe", "id": "a"}));
    client.send_json(json!({"type": "unsubscribe", "last": 9, "name": "quiet", "stream": "ticks"}));
    client.send_json(json!({"type": "unsubscribe", "id": "a"}));
    let received = client.receive(3).await;
    assert_eq!(received[0], json!({"type": "unsubscribed", "id": "a"}));
    assert_eq!(received[1], json!({"type": "unsubscribed", "id": "s1"}));
    check_error(&received[2], Some("a"), "not_found", Some("id"));
    server.log.until_open(0).await;
}

/// A slow opening delays neither messages nor the events of other subscriptions.
#[tokio::test]
async fn a_slow_opening_delays_no_other_subscription() {
    let server = TestServer::open().await;
    let mut client = WsClient::connect(&server, "/ws").await;
    client.send_json(
        json!({"type": "subscribe", "id": "slow", "stream": "ticks", "name": "wait", "last": 1}),
    );
    client
        .send_json(json!({"type": "subscribe", "id": "gone", "stream": "ticks", "name": "never"}));
    client.send_json(
        json!({"type": "subscribe", "id": "fast", "stream": "ticks", "name": "n", "last": 1}),
    );
    let received = client.receive(4).await;
    assert!(received.iter().all(|message| message["id"] == "fast"), "{received:?}");
    client.send_json(json!({"type": "unsubscribe", "id": "gone"}));
    client.send_json(json!({"type": "ping"}));
    let received = client.receive(2).await;
    assert_eq!(received, [json!({"type": "unsubscribed", "id": "gone"}), json!({"type": "pong"})]);
    server.log.open_latch();
    assert_eq!(client.receive(1).await[0]["type"], "subscribed");
}

#[track_caller]
fn check_error(message: &Value, id: Option<&str>, code: &str, field: Option<&str>) {
    assert_eq!(message["type"], "error", "{message}");
    assert_eq!(message.get("id").and_then(Value::as_str), id, "{message}");
    assert_eq!(message["error"]["code"], code, "{message}");
    assert_eq!(message["error"]["details"][0]["field"].as_str(), field, "{message}");
    assert!(message["requestId"].is_string(), "{message}");
}

#[tokio::test]
async fn an_invalid_message_gets_an_error_and_the_connection_stays() {
    let server = TestServer::open().await;
    let mut client = WsClient::connect(&server, "/ws").await;
    client
        .send_json(json!({"type": "subscribe", "id": "taken", "stream": "ticks", "name": "quiet"}));
    client.receive(1).await;
    for (message, id, code, field) in [
        ("not JSON", None, "invalid_request", Some("")),
        ("[1]", None, "invalid_request", Some("")),
        (r#"{"type":"buy"}"#, None, "invalid_request", Some("type")),
        (r#"{"type":"subscribe","id":5}"#, None, "invalid_request", Some("id")),
        (
            r#"{"type":"subscribe","id":"x","name":"n"}"#,
            Some("x"),
            "invalid_request",
            Some("stream"),
        ),
        (
            r#"{"type":"subscribe","id":"x","stream":"alone","name":"n"}"#,
            Some("x"),
            "invalid_request",
            Some("stream"),
        ),
        (
            r#"{"type":"subscribe","id":"x","stream":"ticks"}"#,
            Some("x"),
            "invalid_request",
            Some("name"),
        ),
        (
            r#"{"type":"subscribe","id":"x","stream":"ticks","name":"n","after":"5"}"#,
            Some("x"),
            "invalid_request",
            Some("after"),
        ),
        (
            r#"{"type":"subscribe","stream":"ticks","name":"nobody"}"#,
            Some("s1"),
            "unknown_symbol",
            None,
        ),
        (
            r#"{"type":"subscribe","id":"taken","stream":"ticks","name":"n"}"#,
            Some("taken"),
            "conflict",
            Some("id"),
        ),
        (r#"{"type":"unsubscribe","id":"other"}"#, Some("other"), "not_found", Some("id")),
        (r#"{"type":"unsubscribe","stream":"ticks","name":"n"}"#, None, "not_found", Some("id")),
    ] {
        client.send_text(message);
        check_error(&client.receive(1).await[0], id, code, field);
    }
    client.send_json(json!({"type": "ping"}));
    assert_eq!(client.receive(1).await, [json!({"type": "pong"})]);
}

#[tokio::test]
async fn a_stopping_server_closes_with_going_away() {
    let mut server = TestServer::open().await;
    let mut client = WsClient::connect(&server, "/ws").await;
    client.send_json(json!({"type": "subscribe", "stream": "ticks", "name": "quiet"}));
    client.receive(1).await;
    server.stop.cancel();
    assert_eq!(client.closed().await, Some(CloseCode::Away));
    server.served.join_next().await.unwrap().unwrap();
    assert_eq!(*server.connections.borrow(), 0);
}

#[tokio::test]
async fn websocket_can_be_disabled() {
    let streams = crate::StreamOptions { ws: false, ..crate::StreamOptions::default() };
    let server = TestServer::with(ServerSettings { streams, ..ServerSettings::default() }).await;
    assert_eq!(WsClient::upgrade_status(&server, "/ws", &[]).await, 404);
}
