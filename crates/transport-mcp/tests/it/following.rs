//! Long calls: progress as it happens, and cancellation when no client waits any more.

use std::time::Duration;

use contract::View;
use serde_json::{Value, json};
use transport_mcp::HttpOptions;

use crate::double::Heard;
use crate::http::House;
use crate::stdio::Pipes;

fn call(ticker: &str) -> Value {
    json!({ "name": "quotes_live", "arguments": { "tickers": [ticker] },
        "_meta": { "progressToken": "p" } })
}

fn done(message: &Value) -> f64 {
    message["params"]["progress"].as_f64().unwrap_or_else(|| panic!("no progress: {message}"))
}

#[tokio::test]
async fn progress_is_heard_while_the_call_runs_and_hanging_up_ends_it() {
    let mut house = House::all().await;
    house.ear.steps.add_permits(1);
    let mut events = house.at("/mcp").follow("tools/call", call("FOLLOW")).await;
    assert!(events.head.contains("content-type: text/event-stream"), "{}", events.head);
    assert_eq!(done(&events.next().await.unwrap()), 1.0);
    // Each step is allowed only after the one before was heard, and the call never ends.
    for step in 2..5 {
        house.ear.steps.add_permits(1);
        assert_eq!(done(&events.next().await.unwrap()), f64::from(step));
    }
    drop(events);
    assert_eq!(house.ear.heard.recv().await, Some(Heard::Cancelled));
}

#[tokio::test]
async fn progress_is_heard_while_the_call_of_a_session_runs_until_it_is_cancelled() {
    let mut house = House::all().await;
    let (session, _) = house.at("/mcp").legacy().await;
    let mut events = session.follow_in_session("tools/call", call("FOLLOW")).await;
    for step in 1..5 {
        house.ear.steps.add_permits(1);
        assert_eq!(done(&events.next().await.unwrap()), f64::from(step));
    }
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 7 } });
    assert_eq!(session.send("POST", cancel.to_string().as_bytes()).await.status, 202);
    assert_eq!(house.ear.heard.recv().await, Some(Heard::Cancelled));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn progress_is_heard_while_a_call_on_pipes_runs_until_it_is_cancelled() {
    let mut pipes = Pipes::open();
    pipes.greet().await;
    pipes.ear.steps.add_permits(1);
    assert_eq!(done(&pipes.ask("tools/call", call("FOLLOW")).await), 1.0);
    for step in 2..5 {
        pipes.ear.steps.add_permits(1);
        assert_eq!(done(&pipes.hear().await), f64::from(step));
    }
    pipes
        .say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 1 } }))
        .await;
    assert_eq!(pipes.ear.heard.recv().await, Some(Heard::Cancelled));
}

/// Reports may be left out, but never repeated or out of order, and the answer comes all the same.
#[track_caller]
fn check_flood(messages: &[Value]) {
    let (answer, reports) = messages.split_last().unwrap();
    assert_eq!(answer["result"]["structuredContent"]["quotes"][0]["ticker"], "FLOOD");
    let seen: Vec<f64> = reports.iter().map(done).collect();
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
    assert!(seen.len() >= 32, "{seen:?}");
}

#[tokio::test]
async fn a_hundred_reports_at_once_hold_nothing_up() {
    let house = House::all().await;
    let (session, _) = house.at("/mcp").legacy().await;
    check_flood(&house.at("/mcp").modern("tools/call", call("FLOOD")).await.messages());
    check_flood(&session.in_session("tools/call", call("FLOOD")).await.messages());
    let mut pipes = Pipes::open();
    pipes.greet().await;
    let mut messages = vec![pipes.ask("tools/call", call("FLOOD")).await];
    while messages.last().is_some_and(|it| it.get("id").is_none()) {
        messages.push(pipes.hear().await);
    }
    check_flood(&messages);
}

#[tokio::test]
async fn a_silent_call_answers_with_an_open_stream_and_hanging_up_ends_it() {
    let options = HttpOptions { quiet_max: Duration::from_millis(1), ..HttpOptions::default() };
    let mut house = House::facing(View::default(), 50, &options).await;
    let call = json!({ "name": "quotes_live", "arguments": { "tickers": ["WAIT"] } });
    let events = house.at("/mcp").follow("tools/call", call).await;
    assert!(events.head.contains("content-type: text/event-stream"), "{}", events.head);
    assert_eq!(house.ear.heard.recv().await, Some(Heard::Waiting));
    drop(events);
    assert_eq!(house.ear.heard.recv().await, Some(Heard::Cancelled));
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_calls_and_watches() {
    let mut house = House::all().await;
    let (session, _) = house.at("/mcp").legacy().await;
    let watch = json!({ "uri": "ticks://AAA/1s" });
    session.in_session("resources/subscribe", watch).await;
    let feed = house.ear.opened.recv().await.unwrap();
    house.ear.steps.add_permits(1);
    let mut events = session.follow_in_session("tools/call", call("FOLLOW")).await;
    assert_eq!(done(&events.next().await.unwrap()), 1.0);
    assert_eq!(session.send("DELETE", b"").await.status, 204);
    assert_eq!(house.ear.heard.recv().await, Some(Heard::Cancelled));
    feed.left().await;
}
