//! Calls in a session of the older protocol: their events, and streams that break, are cancelled or
//! end with their session.

use serde_json::{Value, json};

use crate::client::{EventReader, HttpClient};
use crate::fixture::HandlerEvent;
use crate::http::TestServer;

fn quotes(ticker: &str) -> Value {
    json!({ "name": "quotes_live", "arguments": { "tickers": [ticker] } })
}

/// A call that waits in its handler, after the event that begins its stream.
async fn waiting(server: &mut TestServer, ticker: &str) -> (HttpClient, EventReader, String) {
    let (session, _) = server.at("/mcp").legacy().await;
    let mut events = session.follow_in_session("tools/call", quotes(ticker)).await;
    let begin = events.first_id().await;
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Waiting));
    (session, events, begin)
}

#[tokio::test]
async fn every_event_of_a_session_has_an_id_of_its_own() {
    let server = TestServer::all().await;
    let (session, _) = server.at("/mcp").legacy().await;
    let mut ids = Vec::new();
    for method in ["tools/call", "tools/list", "tools/call"] {
        let mut events = session.follow_in_session(method, quotes("A")).await;
        let answer = events.next().await.unwrap();
        assert_eq!(answer["id"], 7, "{answer}");
        assert_eq!(events.next().await, None, "an event after the answer");
        assert_eq!(events.ids.len(), 2, "{:?}", events.ids);
        ids.extend(events.ids);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6, "{ids:?}");
}

#[tokio::test]
async fn an_older_client_gets_no_event_without_data() {
    let server = TestServer::all().await;
    let (mut session, _) = server.at("/mcp").legacy().await;
    for (name, value) in &mut session.headers {
        if name == "mcp-protocol-version" {
            *value = "2025-06-18".to_owned();
        }
    }
    let mut events = session.follow_in_session("tools/call", quotes("A")).await;
    assert!(events.next().await.is_some());
    assert_eq!(events.ids.len(), 1, "{:?}", events.ids);
}

#[tokio::test]
async fn a_broken_stream_is_resumed_with_the_answer() {
    let mut server = TestServer::all().await;
    let (session, events, begin) = waiting(&mut server, "PERMIT").await;
    drop(events);
    let mut resumed = session.with("last-event-id", &begin).listen().await;
    assert!(resumed.head.starts_with("http/1.1 200"), "{}", resumed.head);
    server.probe.steps.add_permits(1);
    let answer = resumed.next().await.unwrap();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(7), &json!(false)));
    assert_eq!(resumed.next().await, None);
    assert!(resumed.ids.iter().all(|id| *id != begin), "{:?}", resumed.ids);
    let ended = session.with("last-event-id", &begin).send("GET", b"").await;
    assert!(ended.messages().is_empty(), "{ended:?}");
}

#[tokio::test]
async fn a_cancelled_call_has_no_answer() {
    let mut server = TestServer::all().await;
    let (session, mut events, _) = waiting(&mut server, "WAIT").await;
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 7 } });
    assert_eq!(session.send("POST", cancel.to_string().as_bytes()).await.status, 202);
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Cancelled));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_disconnect_in_a_session_cancels_nothing() {
    let mut server = TestServer::all().await;
    let (session, events, begin) = waiting(&mut server, "PERMIT").await;
    drop(events);
    // The call still waits when another request of the session has been answered.
    assert_eq!(session.in_session("tools/list", json!({})).await.status, 200);
    let mut resumed = session.with("last-event-id", &begin).listen().await;
    server.probe.steps.add_permits(1);
    assert_eq!(resumed.next().await.unwrap()["id"], 7);
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_calls_without_an_answer() {
    let mut server = TestServer::all().await;
    let (session, mut events, _) = waiting(&mut server, "WAIT").await;
    assert_eq!(session.send("DELETE", b"").await.status, 204);
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Cancelled));
    assert_eq!(events.next().await, None);
}
