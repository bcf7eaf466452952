//! The streams in memory and on paused time: a wait ends as soon as every task waits.

use std::sync::Arc;
use std::time::Duration;

use clock::{Millis, parse_date};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use testkit::TokioClock;
use tokio::io::DuplexStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{FaultKind, InMemoryServer, InjectedFault, Sim, SimConfig, StreamRules};

/// How long a test waits for a message, in paused time, before it fails.
const TIMEOUT: Duration = Duration::from_mins(15);

struct StreamFixture {
    sim: Sim,
    server: InMemoryServer,
    /// Ends the exchange with the test.
    _running: DropGuard,
}

type Socket = WebSocketStream<DuplexStream>;

fn fixture(change: impl FnOnce(&mut StreamRules)) -> StreamFixture {
    let start = Millis(Millis::start_of(parse_date("2026-11-10").unwrap()).0 + 30_500);
    let mut config = SimConfig::new(7, Arc::new(TokioClock::new(start)));
    change(&mut config.streams);
    let sim = Sim::new(config);
    let cancel = CancellationToken::new();
    let server = sim.serve_in_memory(cancel.clone());
    StreamFixture { sim, server, _running: cancel.drop_guard() }
}

impl StreamFixture {
    async fn connect(&self, path: &str) -> Socket {
        client_async(format!("ws://exchange.test{path}"), self.server.connect()).await.unwrap().0
    }

    async fn rows(&self, query: &str) -> Vec<Value> {
        use http_body_util::BodyExt;
        use tower::ServiceExt;
        let request = axum::http::Request::get(format!("/api/v3/klines?{query}"));
        let request = request.body(axum::body::Body::empty()).unwrap();
        let response = self.sim.router().oneshot(request).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap()
    }
}

async fn message(socket: &mut Socket) -> Option<Message> {
    let next = tokio::time::timeout(TIMEOUT, socket.next()).await;
    next.expect("nothing came").and_then(Result::ok)
}

/// The next JSON, pings passed over.
async fn json(socket: &mut Socket) -> Value {
    loop {
        match message(socket).await.expect("the connection ended") {
            Message::Text(text) => return serde_json::from_str(text.as_str()).unwrap(),
            Message::Ping(_) => {}
            other => panic!("{other:?} came"),
        }
    }
}

async fn closing(socket: &mut Socket) -> Value {
    loop {
        let frame = json(socket).await;
        if frame["k"]["x"] == true {
            return frame;
        }
    }
}

async fn tell(socket: &mut Socket, request: &Value) -> Value {
    socket.send(Message::text(request.to_string())).await.unwrap();
    loop {
        let answer = json(socket).await;
        if answer.get("id").is_some() || answer.get("error").is_some() {
            return answer;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_closing_frame_equals_the_rest_row() {
    let fixture = fixture(|_| {});
    let mut socket = fixture.connect("/ws/btcusdt@kline_1m").await;
    for _ in 0..3 {
        let frame = closing(&mut socket).await;
        let k = &frame["k"];
        let (open, close) = (k["t"].as_i64().unwrap(), k["T"].as_i64().unwrap());
        assert_eq!((frame["e"].as_str(), close - open), (Some("kline"), 59_999));
        assert!(frame["E"].as_i64().unwrap() > close);
        let query = format!("symbol=BTCUSDT&interval=1m&startTime={open}&limit=1");
        let row = fixture.rows(&query).await.remove(0);
        let expected_row = json!([
            k["t"], k["o"], k["h"], k["l"], k["c"], k["v"], k["T"], k["q"], k["n"], k["V"], k["Q"],
            k["B"]
        ]);
        assert_eq!(row, expected_row);
    }
}

#[tokio::test(start_paused = true)]
async fn candles_grow_and_close_in_order() {
    let fixture = fixture(|_| {});
    let mut socket = fixture.connect("/ws/ethusdt@kline_1m").await;
    let mut last = (0, 0, false);
    let mut closed = 0;
    while closed < 3 {
        let frame = json(&mut socket).await;
        let k = &frame["k"];
        let now = (k["t"].as_i64().unwrap(), k["n"].as_i64().unwrap(), k["x"] == true);
        assert!(
            now.0 == last.0 && now.1 >= last.1 && !last.2 || now.0 > last.0,
            "{last:?} {now:?}"
        );
        closed += usize::from(now.2);
        last = now;
    }
}

#[tokio::test(start_paused = true)]
async fn combined_streams_name_their_stream() {
    let fixture = fixture(|_| {});
    let mut socket =
        fixture.connect("/stream?streams=btcusdt@kline_1m/ethusdt@kline_3m/nope@kline_1m").await;
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 2 {
        let frame = json(&mut socket).await;
        let k = &frame["data"]["k"];
        let (symbol, interval) = (k["s"].as_str().unwrap(), k["i"].as_str().unwrap());
        let stream = format!("{}@kline_{interval}", symbol.to_lowercase());
        assert_eq!(frame["stream"], stream.as_str());
        seen.insert(stream);
    }
    assert_eq!(fixture.sim.stream_counts().streams, 3);
}

#[tokio::test(start_paused = true)]
async fn streams_are_subscribed_listed_and_unsubscribed() {
    let fixture = fixture(|_| {});
    let mut socket = fixture.connect("/ws").await;
    let streams = json!(["btcusdt@kline_1m", "BTCUSDT@kline_1m", "nope@kline_9x"]);
    let order = json!({"method": "SUBSCRIBE", "params": streams, "id": 1});
    assert_eq!(tell(&mut socket, &order).await, json!({"result": null, "id": 1}));
    let list = json!({"method": "LIST_SUBSCRIPTIONS", "id": 2});
    let listed = tell(&mut socket, &list).await;
    assert_eq!(listed["result"].as_array().unwrap().len(), 3);
    // Only the well spelt one sends.
    for _ in 0..5 {
        assert_eq!(json(&mut socket).await["k"]["s"], "BTCUSDT");
    }
    let order = json!({"method": "UNSUBSCRIBE", "params": ["btcusdt@kline_1m"], "id": "x"});
    assert_eq!(tell(&mut socket, &order).await, json!({"result": null, "id": "x"}));
    assert_eq!(fixture.sim.stream_counts().streams, 2);
    assert_eq!(tell(&mut socket, &json!({"method": "DANCE"})).await["error"]["code"], 2);
}

#[tokio::test(start_paused = true)]
async fn subscriptions_can_be_refused_or_ignored() {
    let fixture = fixture(|_| {});
    let mut socket = fixture.connect("/ws").await;
    let order =
        |id: u64| json!({"method": "SUBSCRIBE", "params": ["a@kline_1m", "b@kline_1m"], "id": id});
    for kind in [FaultKind::WsUnanswered, FaultKind::WsRefused] {
        fixture.sim.faults().add(InjectedFault::new(kind, 1).on("/ws/b@kline_1m")).unwrap();
    }
    // The next answer is that to the second request.
    socket.send(Message::text(order(1).to_string())).await.unwrap();
    let refused = tell(&mut socket, &order(2)).await;
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(2), &json!(2)));
    assert_eq!(fixture.sim.stream_counts().streams, 0);
    assert_eq!(tell(&mut socket, &order(3)).await, json!({"result": null, "id": 3}));
    assert_eq!(fixture.sim.stream_counts().streams, 2);
}

#[tokio::test(start_paused = true)]
async fn too_many_messages_end_the_connection() {
    let fixture = fixture(|_| {});
    let mut socket = fixture.connect("/ws").await;
    for id in 0..6 {
        let list = json!({"method": "LIST_SUBSCRIPTIONS", "id": id});
        socket.send(Message::text(list.to_string())).await.unwrap();
    }
    loop {
        if let Message::Close(Some(frame)) = message(&mut socket).await.unwrap() {
            assert_eq!((u16::from(frame.code), frame.reason.as_str()), (1008, "Too many requests"));
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn stream_count_and_connection_age_are_limited() {
    let fixture = fixture(|rules| {
        rules.streams_max = 2;
        rules.life = Duration::from_mins(1);
    });
    let mut socket = fixture.connect("/ws/btcusdt@kline_1m").await;
    let names = json!(["a@kline_1m", "b@kline_1m"]);
    let order = json!({"method": "SUBSCRIBE", "params": names, "id": 1});
    assert_eq!(tell(&mut socket, &order).await["error"]["code"], 2);
    while !matches!(message(&mut socket).await, None | Some(Message::Close(_))) {}
}

#[tokio::test(start_paused = true)]
async fn pings_must_be_answered() {
    let fixture = fixture(|_| {});
    // A client that reads answers pings: the library does it.
    let mut reader = fixture.connect("/ws/btcusdt@kline_1m").await;
    for _ in 0..4 {
        closing(&mut reader).await;
    }
    let silent = fixture.connect("/ws").await;
    while fixture.sim.stream_counts().connections > 1 {
        message(&mut reader).await.unwrap();
    }
    drop(silent);
}

async fn closings(socket: &mut Socket, count: usize) -> Vec<i64> {
    let mut opens = Vec::new();
    while opens.len() < count {
        opens.push(closing(socket).await["k"]["t"].as_i64().unwrap() / 60_000);
    }
    opens
}

#[tokio::test(start_paused = true)]
async fn closing_frames_can_be_lost_late_duplicated_or_reordered() {
    let fixture = fixture(|_| {});
    let path = "/ws/btcusdt@kline_1m";
    let fault = |fault: InjectedFault| fixture.sim.faults().add(fault.on(path)).unwrap();
    fault(InjectedFault::new(FaultKind::WsMissingClose, 1));
    fault(InjectedFault::new(FaultKind::WsLateClose, 1).delay_ms(90_000));
    let mut socket = fixture.connect(path).await;
    let first = json(&mut socket).await["k"]["t"].as_i64().unwrap() / 60_000;
    assert_eq!(closings(&mut socket, 3).await, [first + 2, first + 1, first + 3]);
    fault(InjectedFault::new(FaultKind::WsDuplicate, 100));
    let (one, two) = (closing(&mut socket).await, closing(&mut socket).await);
    assert_eq!(one, two);
}

#[tokio::test(start_paused = true)]
async fn connections_drop_stall_and_announce_their_end() {
    let fixture = fixture(|_| {});
    let path = "/ws/btcusdt@kline_1m";
    let mut socket = fixture.connect(path).await;
    json(&mut socket).await;
    fixture.sim.faults().add(InjectedFault::new(FaultKind::WsDrop, 1)).unwrap();
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(_))) => {}
            Some(Err(_)) | None => break,
            other => panic!("{other:?}"),
        }
    }
    let mut socket = fixture.connect(path).await;
    fixture.sim.faults().add(InjectedFault::new(FaultKind::WsShutdown, 1)).unwrap();
    while json(&mut socket).await["e"] != "serverShutdown" {}
    while !matches!(message(&mut socket).await, None | Some(Message::Close(_))) {}
    let mut stalled = fixture.connect(path).await;
    fixture.sim.faults().add(InjectedFault::new(FaultKind::WsStall, 1)).unwrap();
    // Frames come every two seconds, and a stalled connection stays open for two minutes.
    while tokio::time::timeout(Duration::from_mins(1), stalled.next()).await.is_ok() {}
}

#[tokio::test(start_paused = true)]
async fn rest_lags_behind_when_configured() {
    let fixture = fixture(|_| {});
    let rows = |limit: u32| format!("symbol=BTCUSDT&interval=1m&limit={limit}");
    let before = fixture.rows(&rows(5)).await;
    fixture.sim.faults().add(InjectedFault::new(FaultKind::RestLag, 1).delay_ms(60_000)).unwrap();
    let lagging = fixture.rows(&rows(5)).await;
    assert!(lagging.len() <= 4 && lagging[0][0].as_i64() >= before[0][0].as_i64());
    assert_eq!(fixture.rows(&rows(5)).await.len(), 5);
}
