//! What one connection may do: messages, subscriptions, sizes.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::check_error;
use super::client::Client;
use crate::stream::tests::fixture::{Rooms, TestServer};
use crate::{StreamOptions, WsLimits};

async fn server(ws_limits: WsLimits) -> TestServer {
    let streams = StreamOptions { ws_limits, ..StreamOptions::default() };
    TestServer::with(Rooms { streams, ..Rooms::default() }).await
}

#[tokio::test]
async fn a_flood_is_refused_and_then_sent_away() {
    let limits = WsLimits { messages_per_second: 1, messages_burst: 3, ..WsLimits::default() };
    let server = server(limits).await;
    let mut client = Client::enter(&server, "/ws").await;
    for _ in 0..3 {
        client.say(json!({"type": "ping"}));
    }
    assert!(client.hear(3).await.iter().all(|message| message["type"] == "pong"));
    client.say(json!({"type": "ping"}));
    check_error(&client.hear(1).await[0], None, "rate_limited", None);
    client.say(json!({"type": "subscribe", "id": "a", "stream": "ticks", "name": "quiet"}));
    check_error(&client.hear(1).await[0], Some("a"), "rate_limited", None);
    for _ in 0..100 {
        client.say(json!({"type": "ping"}));
    }
    assert_eq!(client.closed().await, Some(CloseCode::Policy));
}

/// Those that are being opened count, and are dropped with the connection.
#[tokio::test]
async fn subscriptions_are_counted_from_the_asking() {
    let server = server(WsLimits { subscriptions_max: 2, ..WsLimits::default() }).await;
    let mut client = Client::enter(&server, "/ws").await;
    for (id, name) in [("a", "never"), ("b", "quiet"), ("c", "quiet")] {
        client.say(json!({"type": "subscribe", "id": id, "stream": "ticks", "name": name}));
    }
    // The refusal is told at once; the second may be open before or after.
    let mut heard = client.hear(2).await;
    heard.sort_by_key(|message| message["id"].to_string());
    assert_eq!(heard[0]["type"], "subscribed");
    check_error(&heard[1], Some("c"), "invalid_request", None);
    client.say(json!({"type": "unsubscribe", "id": "a"}));
    client.say(json!({"type": "subscribe", "id": "c", "stream": "ticks", "name": "quiet"}));
    let heard = client.hear(2).await;
    assert_eq!(heard[1]["type"], "subscribed");
    client.leave().await;
    server.book.until_open(0).await;
}

#[tokio::test]
async fn what_is_not_spoken_here_closes_with_its_code() {
    let server = server(WsLimits { message_bytes_max: 100, ..WsLimits::default() }).await;
    for (message, code) in [
        (Message::binary(vec![1, 2, 3]), CloseCode::Unsupported),
        (Message::text("x".repeat(101)), CloseCode::Size),
    ] {
        let mut client = Client::enter(&server, "/ws").await;
        client.send(message);
        assert_eq!(client.closed().await, Some(code));
    }
}

#[tokio::test]
async fn a_ping_is_answered_with_its_own_words() {
    let server = TestServer::open().await;
    let mut client = Client::enter(&server, "/ws").await;
    client.send(Message::Ping(b"there?".to_vec().into()));
    assert_eq!(client.hear_any().await, Some(Message::Pong(b"there?".to_vec().into())));
}
