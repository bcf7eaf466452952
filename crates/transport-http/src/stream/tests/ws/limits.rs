//! Limits of one connection: message rate, subscriptions, message size.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::check_error;
use super::client::WsClient;
use crate::stream::tests::fixture::{ServerSettings, TestServer};
use crate::{StreamOptions, WsLimits};

async fn server(ws_limits: WsLimits) -> TestServer {
    let streams = StreamOptions { ws_limits, ..StreamOptions::default() };
    TestServer::with(ServerSettings { streams, ..ServerSettings::default() }).await
}

#[tokio::test]
async fn a_flood_is_refused_and_then_disconnected() {
    let limits = WsLimits { messages_per_second: 1, messages_burst: 3, ..WsLimits::default() };
    let server = server(limits).await;
    let mut client = WsClient::connect(&server, "/ws").await;
    for _ in 0..3 {
        client.send_json(json!({"type": "ping"}));
    }
    assert!(client.receive(3).await.iter().all(|message| message["type"] == "pong"));
    client.send_json(json!({"type": "ping"}));
    check_error(&client.receive(1).await[0], None, "rate_limited", None);
    client.send_json(json!({"type": "subscribe", "id": "a", "stream": "ticks", "name": "quiet"}));
    check_error(&client.receive(1).await[0], Some("a"), "rate_limited", None);
    for _ in 0..100 {
        client.send_json(json!({"type": "ping"}));
    }
    assert_eq!(client.closed().await, Some(CloseCode::Policy));
}

/// Subscriptions that are still opening count, and are dropped with the connection.
#[tokio::test]
async fn opening_subscriptions_count() {
    let server = server(WsLimits { subscriptions_max: 2, ..WsLimits::default() }).await;
    let mut client = WsClient::connect(&server, "/ws").await;
    for (id, name) in [("a", "never"), ("b", "quiet"), ("c", "quiet")] {
        client.send_json(json!({"type": "subscribe", "id": id, "stream": "ticks", "name": name}));
    }
    // The refusal comes at once; the second subscription may open before or after it.
    let mut received = client.receive(2).await;
    received.sort_by_key(|message| message["id"].to_string());
    assert_eq!(received[0]["type"], "subscribed");
    check_error(&received[1], Some("c"), "invalid_request", None);
    client.send_json(json!({"type": "unsubscribe", "id": "a"}));
    client.send_json(json!({"type": "subscribe", "id": "c", "stream": "ticks", "name": "quiet"}));
    let received = client.receive(2).await;
    assert_eq!(received[1]["type"], "subscribed");
    client.close().await;
    server.log.until_open(0).await;
}

#[tokio::test]
async fn unsupported_messages_close_with_their_code() {
    let server = server(WsLimits { message_bytes_max: 100, ..WsLimits::default() }).await;
    for (message, code) in [
        (Message::binary(vec![1, 2, 3]), CloseCode::Unsupported),
        (Message::text("x".repeat(101)), CloseCode::Size),
    ] {
        let mut client = WsClient::connect(&server, "/ws").await;
        client.send(message);
        assert_eq!(client.closed().await, Some(code));
    }
}

#[tokio::test]
async fn a_ping_is_answered_with_its_payload() {
    let server = TestServer::open().await;
    let mut client = WsClient::connect(&server, "/ws").await;
    client.send(Message::Ping(b"there?".to_vec().into()));
    assert_eq!(client.receive_any().await, Some(Message::Pong(b"there?".to_vec().into())));
}
