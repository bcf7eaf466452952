//! The WebSocket protocol, with a client that is not ours.

pub(crate) mod client;
mod limits;
mod upgrade;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use self::client::Client;
use super::fixture::{Rooms, TestServer};

fn tick(name: &str, n: u64) -> Value {
    json!({"type": "tick", "name": name, "n": n})
}

fn named(id: &str, mut event: Value) -> Value {
    event["id"] = Value::from(id);
    event
}

#[tokio::test]
async fn a_subscription_begins_goes_on_and_ends() {
    let server = TestServer::open().await;
    let mut client = Client::enter(&server, "/ws").await;
    client.say(json!({"type": "subscribe", "id": "a", "stream": "ticks", "name": "n", "last": 2}));
    assert_eq!(
        client.hear(5).await,
        [
            json!({"type": "subscribed", "id": "a", "stream": "ticks"}),
            named("a", tick("n", 1)),
            named("a", tick("n", 2)),
            named("a", json!({"type": "status", "status": "ended"})),
            json!({"type": "unsubscribed", "id": "a"}),
        ]
    );
    // The id is free again, and a resume point is where it goes on.
    client.say(json!({"type": "subscribe", "id": "a", "stream": "more", "name": "n", "after": 7, "last": 8}));
    let heard = client.hear(2).await;
    assert_eq!(heard[0]["stream"], "more");
    assert_eq!(heard[1], named("a", tick("n", 8)));
    client.leave().await;
    server.book.until_open(0).await;
}

#[tokio::test]
async fn a_client_that_names_nothing_is_given_a_name() {
    let server = TestServer::open().await;
    let mut client = Client::enter(&server, "/alone").await;
    client.say(json!({"type": "subscribe", "name": "n", "last": 1}));
    let heard = client.hear(4).await;
    assert_eq!(heard[0], json!({"type": "subscribed", "id": "s1", "stream": "alone"}));
    assert_eq!(heard[1], named("s1", tick("n", 1)));
    assert_eq!(heard[3], json!({"type": "unsubscribed", "id": "s1"}));
    // Two that ask for the same can be told apart, and what goes wrong with one names it.
    for name in ["m", "m", "nobody"] {
        client.say(json!({"type": "subscribe", "name": name, "last": 1}));
    }
    let heard = client.hear(9).await;
    for (at, id) in ["s2", "s3"].into_iter().enumerate() {
        let own: Vec<_> = heard.iter().filter(|message| message["id"] == id).collect();
        assert_eq!(own.len(), 4, "{at}: {heard:?}");
        assert_eq!(*own[1], named(id, tick("m", 1)));
    }
    let error = heard.iter().find(|message| message["type"] == "error").unwrap();
    check_error(error, Some("s4"), "unknown_symbol", None);
}

#[tokio::test]
async fn a_connection_whose_token_is_revoked_is_told_and_closed() {
    let server = TestServer::with(Rooms { strict: true, ..Rooms::default() }).await;
    let mut client = Client::enter_with(&server, "/ws", &[("authorization", "Bearer good")]).await;
    for id in ["a", "b"] {
        client.say(json!({"type": "subscribe", "id": id, "stream": "ticks", "name": "quiet"}));
    }
    client.hear(2).await;
    server.book.revoked.store(true, std::sync::atomic::Ordering::SeqCst);
    let error = &client.hear(1).await[0];
    assert_eq!(error["error"]["message"], "the token was revoked", "{error}");
    assert_eq!(
        (&error["type"], &error["error"]["code"]),
        (&json!("error"), &json!("unauthorized"))
    );
    assert_eq!(client.closed().await, Some(CloseCode::Policy));
    server.book.until_open(0).await;
}

#[tokio::test]
async fn unsubscribing_by_id_and_by_what_was_asked() {
    let server = TestServer::open().await;
    let mut client = Client::enter(&server, "/ws").await;
    client.say(json!({"type": "subscribe", "id": "a", "stream": "ticks", "name": "quiet"}));
    client.say(
        json!({"type": "subscribe", "stream": "ticks", "name": "quiet", "after": 5, "last": 9}),
    );
    client.hear(2).await;
    client.say(json!({"type": "unsubscribe", "id": "a"}));
    client.say(json!({"type": "unsubscribe", "last": 9, "name": "quiet", "stream": "ticks"}));
    client.say(json!({"type": "unsubscribe", "id": "a"}));
    let heard = client.hear(3).await;
    assert_eq!(heard[0], json!({"type": "unsubscribed", "id": "a"}));
    assert_eq!(heard[1], json!({"type": "unsubscribed", "id": "s1"}));
    check_error(&heard[2], Some("a"), "not_found", Some("id"));
    server.book.until_open(0).await;
}

/// An opening that takes long holds up neither messages nor the events of others.
#[tokio::test]
async fn an_opening_holds_up_nobody() {
    let server = TestServer::open().await;
    let mut client = Client::enter(&server, "/ws").await;
    client.say(
        json!({"type": "subscribe", "id": "slow", "stream": "ticks", "name": "wait", "last": 1}),
    );
    client.say(json!({"type": "subscribe", "id": "gone", "stream": "ticks", "name": "never"}));
    client
        .say(json!({"type": "subscribe", "id": "fast", "stream": "ticks", "name": "n", "last": 1}));
    let heard = client.hear(4).await;
    assert!(heard.iter().all(|message| message["id"] == "fast"), "{heard:?}");
    client.say(json!({"type": "unsubscribe", "id": "gone"}));
    client.say(json!({"type": "ping"}));
    let heard = client.hear(2).await;
    assert_eq!(heard, [json!({"type": "unsubscribed", "id": "gone"}), json!({"type": "pong"})]);
    server.book.let_through();
    assert_eq!(client.hear(1).await[0]["type"], "subscribed");
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
async fn what_cannot_be_done_is_told_and_the_connection_stays() {
    let server = TestServer::open().await;
    let mut client = Client::enter(&server, "/ws").await;
    client.say(json!({"type": "subscribe", "id": "taken", "stream": "ticks", "name": "quiet"}));
    client.hear(1).await;
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
        client.say_text(message);
        check_error(&client.hear(1).await[0], id, code, field);
    }
    client.say(json!({"type": "ping"}));
    assert_eq!(client.hear(1).await, [json!({"type": "pong"})]);
}

#[tokio::test]
async fn a_stopping_server_says_so_and_waits() {
    let mut server = TestServer::open().await;
    let mut client = Client::enter(&server, "/ws").await;
    client.say(json!({"type": "subscribe", "stream": "ticks", "name": "quiet"}));
    client.hear(1).await;
    server.stop.cancel();
    assert_eq!(client.closed().await, Some(CloseCode::Away));
    server.served.join_next().await.unwrap().unwrap();
    assert_eq!(*server.connections.borrow(), 0);
}

#[tokio::test]
async fn it_can_be_switched_off() {
    let streams = crate::StreamOptions { ws: false, ..crate::StreamOptions::default() };
    let server = TestServer::with(Rooms { streams, ..Rooms::default() }).await;
    assert_eq!(Client::refused(&server, "/ws", &[]).await, 404);
}
