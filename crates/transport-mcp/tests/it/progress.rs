//! Long calls: progress while they run, and cancellation when the client disconnects.

use std::time::Duration;

use contract::View;
use serde_json::{Value, json};
use transport_mcp::HttpOptions;

use crate::fixture::HandlerEvent;
use crate::http::TestServer;
use crate::stdio::StdioClient;

fn call(ticker: &str) -> Value {
    json!({ "name": "quotes_live", "arguments": { "tickers": [ticker] },
        "_meta": { "progressToken": "p" } })
}

fn done(message: &Value) -> f64 {
    message["params"]["progress"].as_f64().unwrap_or_else(|| panic!("no progress: {message}"))
}

#[tokio::test]
async fn progress_arrives_while_a_call_runs_and_a_disconnect_cancels_it() {
    let mut server = TestServer::all().await;
    server.probe.steps.add_permits(1);
    let mut events = server.at("/mcp").follow("tools/call", call("FOLLOW")).await;
    assert!(events.head.contains("content-type: text/event-stream"), "{}", events.head);
    assert_eq!(done(&events.next().await.unwrap()), 1.0);
    // Each step is allowed only after the previous report arrived; the call never ends.
    for step in 2..5 {
        server.probe.steps.add_permits(1);
        assert_eq!(done(&events.next().await.unwrap()), f64::from(step));
    }
    drop(events);
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Cancelled));
}

#[tokio::test]
async fn progress_arrives_in_a_session_until_the_call_is_cancelled() {
    let mut server = TestServer::all().await;
    let (session, _) = server.at("/mcp").legacy().await;
    let mut events = session.follow_in_session("tools/call", call("FOLLOW")).await;
    for step in 1..5 {
        server.probe.steps.add_permits(1);
        assert_eq!(done(&events.next().await.unwrap()), f64::from(step));
    }
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 7 } });
    assert_eq!(session.send("POST", cancel.to_string().as_bytes()).await.status, 202);
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Cancelled));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn progress_arrives_on_stdio_until_the_call_is_cancelled() {
    let mut client = StdioClient::open();
    client.initialize().await;
    client.probe.steps.add_permits(1);
    assert_eq!(done(&client.request("tools/call", call("FOLLOW")).await), 1.0);
    for step in 2..5 {
        client.probe.steps.add_permits(1);
        assert_eq!(done(&client.receive().await), f64::from(step));
    }
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 1 } }))
        .await;
    assert_eq!(client.probe.events.recv().await, Some(HandlerEvent::Cancelled));
}

/// Reports may be dropped, but never repeated or out of order, and the answer always comes.
#[track_caller]
fn check_flood(messages: &[Value]) {
    let (answer, reports) = messages.split_last().unwrap();
    assert_eq!(answer["result"]["structuredContent"]["quotes"][0]["ticker"], "FLOOD");
    let seen: Vec<f64> = reports.iter().map(done).collect();
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
    assert!(seen.len() >= 32, "{seen:?}");
}

#[tokio::test]
async fn a_hundred_reports_at_once_delay_nothing() {
    let server = TestServer::all().await;
    let (session, _) = server.at("/mcp").legacy().await;
    check_flood(&server.at("/mcp").modern("tools/call", call("FLOOD")).await.messages());
    check_flood(&session.in_session("tools/call", call("FLOOD")).await.messages());
    let mut client = StdioClient::open();
    client.initialize().await;
    let mut messages = vec![client.request("tools/call", call("FLOOD")).await];
    while messages.last().is_some_and(|it| it.get("id").is_none()) {
        messages.push(client.receive().await);
    }
    check_flood(&messages);
}

#[tokio::test]
async fn a_slow_call_gets_a_keepalive_stream_and_a_disconnect_cancels_it() {
    let options = HttpOptions { quiet_max: Duration::from_millis(1), ..HttpOptions::default() };
    let mut server = TestServer::with_options(View::default(), 50, &options).await;
    let call = json!({ "name": "quotes_live", "arguments": { "tickers": ["WAIT"] } });
    let events = server.at("/mcp").follow("tools/call", call).await;
    assert!(events.head.contains("content-type: text/event-stream"), "{}", events.head);
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Waiting));
    drop(events);
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Cancelled));
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_calls_and_subscriptions() {
    let mut server = TestServer::all().await;
    let (session, _) = server.at("/mcp").legacy().await;
    let watch = json!({ "uri": "ticks://AAA/1s" });
    session.in_session("resources/subscribe", watch).await;
    let feed = server.probe.opened.recv().await.unwrap();
    server.probe.steps.add_permits(1);
    let mut events = session.follow_in_session("tools/call", call("FOLLOW")).await;
    assert_eq!(done(&events.next().await.unwrap()), 1.0);
    assert_eq!(session.send("DELETE", b"").await.status, 204);
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Cancelled));
    feed.until_dropped().await;
}
