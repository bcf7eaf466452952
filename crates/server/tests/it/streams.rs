//! Live candles over server-sent events and WebSocket, from an exchange with faults.

mod moscow;
mod stuck;
mod tokens;

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::Response;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::process::{Folder, Server, http, mcp_call, mcp_headers, mcp_post};

/// Longer than any step takes; a test that waits this long has failed.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// A server whose exchange is another process with injectable faults.
pub(crate) struct Fixture {
    pub(crate) server: Server,
    exchange: Server,
    folder: Folder,
}

impl Fixture {
    pub(crate) fn new(more: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        let exchange = Server::start_sim(folder.path());
        let live = exchange.base.replace("http://", "ws://");
        let mut settings = vec![
            ("PROVIDER", "binance"),
            ("BINANCE_REST_URL", exchange.base.as_str()),
            ("BINANCE_WS_URL", live.as_str()),
        ];
        settings.extend_from_slice(more);
        let server = Server::start(folder.path(), &settings);
        Self { server, exchange, folder }
    }

    pub(crate) async fn fault(&self, fault: Value) {
        let request = http().post(self.exchange.url("/sim/faults")).json(&fault);
        let response = request.send().await.unwrap();
        assert!(response.status().is_success(), "{}", response.text().await.unwrap());
    }

    pub(crate) async fn events(&self, query: &str, after: Option<i64>) -> Events {
        let mut request = http().get(self.server.url(&format!("/stream/klines?{query}")));
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events { response, text: String::new() }
    }

    pub(crate) async fn socket(&self) -> Socket {
        let url = format!("ws://{}/ws", self.server.address());
        let (socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
        Socket(socket)
    }
}

/// Server-sent events, one at a time.
pub(crate) struct Events {
    response: Response,
    text: String,
}

impl Events {
    /// The next event with its id; `None` at the end.
    async fn next(&mut self) -> Option<(Option<i64>, Value)> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let Some(data) = field("data: ") else { continue };
                let id = field("id: ").map(|id| id.parse().unwrap());
                return Some((id, serde_json::from_str(data).unwrap()));
            }
            let chunk = timeout(READ_TIMEOUT, self.response.chunk()).await.unwrap().unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The opening times of the next `count` closed candles, and the statuses between them.
    pub(crate) async fn closed(&mut self, count: usize) -> (Vec<i64>, Vec<String>) {
        let (mut times, mut statuses) = (Vec::new(), Vec::new());
        while times.len() < count {
            let (id, event) = self.next().await.unwrap();
            match event["type"].as_str().unwrap() {
                "kline" if event["candle"]["closed"] == true => {
                    times.push(event["candle"]["t"].as_i64().unwrap());
                    assert_eq!(id, times.last().copied());
                }
                "status" => statuses.push(event["status"].as_str().unwrap().to_owned()),
                _ => assert_eq!(id, None, "{event}"),
            }
        }
        (times, statuses)
    }
}

pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub(crate) async fn say(&mut self, text: impl ToString) {
        self.0.send(Message::text(text.to_string())).await.unwrap();
    }

    /// The next message that is not a heartbeat; the close code where there is none.
    async fn next(&mut self) -> Result<Value, u16> {
        loop {
            match timeout(READ_TIMEOUT, self.0.next()).await.unwrap() {
                Some(Ok(Message::Text(text))) => return Ok(text.parse().unwrap()),
                Some(Ok(Message::Close(frame))) => {
                    return Err(frame.map_or(1005, |frame| frame.code.into()));
                }
                Some(Ok(_)) => {}
                other => panic!("the connection broke: {other:?}"),
            }
        }
    }

    /// The next message of a type.
    pub(crate) async fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next().await.unwrap();
            if message["type"] == kind {
                return message;
            }
        }
    }
}

#[track_caller]
fn check_consecutive(times: &[i64]) {
    let steps: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.iter().all(|step| *step == 1_000), "{times:?}");
}

#[tokio::test]
async fn events_are_warm_ordered_and_resumable() {
    let fixture = Fixture::new(&[]);
    let query = "symbol=BTCUSDT&interval=1s&indicators=macd,rsi&closedOnly=false";
    let mut events = fixture.events(query, None).await;
    let (first, _) = events.closed(3).await;
    check_consecutive(&first);
    drop(events);
    // Two candles close while the client is away; its channel still runs without a reader.
    fixture.events("symbol=ETHUSDT&interval=1s", None).await.closed(2).await;
    let mut events = fixture.events(query, first.last().copied()).await;
    let (_, event) = loop {
        let next = events.next().await.unwrap();
        if next.1["type"] == "kline" {
            break next;
        }
    };
    assert_eq!(event["candle"]["t"], first[2] + 1_000, "nothing missed, nothing twice");
    assert!(event["deltas"]["signal"].is_f64() && event["deltas"]["rsi"].is_f64(), "{event}");
    let (rest, _) = events.closed(3).await;
    check_consecutive(&rest);
}

#[tokio::test]
async fn no_closed_candle_is_lost_when_the_exchange_drops_stalls_and_repeats() {
    let fixture = Fixture::new(&[]);
    let mut events = fixture.events("symbol=ETHUSDT&interval=1s", None).await;
    let (mut times, _) = events.closed(2).await;
    let mut statuses_seen = Vec::new();
    for kind in ["ws_drop", "ws_duplicate", "ws_missing_close", "ws_shutdown"] {
        fixture.fault(json!({ "kind": kind, "times": 3 })).await;
        let (more, statuses) = events.closed(3).await;
        times.extend(more);
        statuses_seen.extend(statuses);
    }
    assert!(statuses_seen.contains(&"reconnecting".to_owned()), "{statuses_seen:?}");
    assert!(statuses_seen.contains(&"connected".to_owned()), "{statuses_seen:?}");
    // The server itself must notice that the connection is silent.
    fixture.fault(json!({ "kind": "ws_stall", "times": 1 })).await;
    let mut statuses_seen = Vec::new();
    while !statuses_seen.ends_with(&["reconnecting".to_owned(), "connected".to_owned()]) {
        let (more, statuses) = events.closed(1).await;
        times.extend(more);
        statuses_seen.extend(statuses.into_iter().filter(|it| it != "gap_filled"));
    }
    check_consecutive(&times);
}

#[tokio::test]
async fn a_socket_carries_many_subscriptions_and_survives_bad_messages() {
    let fixture = Fixture::new(&[]);
    let mut socket = fixture.socket().await;
    let ask = json!({"type": "subscribe", "id": "a", "symbol": "BTCUSDT", "interval": "1s",
        "indicators": {"rsi": {"period": 7}}});
    socket.say(&ask).await;
    assert_eq!(socket.next_of("subscribed").await["id"], "a");
    socket
        .say(json!({"type": "subscribe", "id": "b", "symbol": "ETHUSDT", "interval": "1s"}))
        .await;
    assert_eq!(socket.next_of("subscribed").await["id"], "b");
    for (bad, code) in [
        ("not json".to_owned(), "invalid_request"),
        ("[1]".to_owned(), "invalid_request"),
        (json!({"type": "sing"}).to_string(), "invalid_request"),
        (ask.to_string(), "conflict"),
        (
            json!({"type": "subscribe", "symbol": "NOPE", "interval": "1s"}).to_string(),
            "unknown_symbol",
        ),
        (
            json!({"type": "subscribe", "symbol": "BTCUSDT", "interval": "2s"}).to_string(),
            "invalid_request",
        ),
        (
            json!({"type": "subscribe", "symbol": "BTCUSDT", "interval": "1s",
            "indicators": {"rsi": {"period": 0}}})
            .to_string(),
            "invalid_request",
        ),
        (json!({"type": "unsubscribe", "id": "zzz"}).to_string(), "not_found"),
    ] {
        socket.say(&bad).await;
        let error = socket.next_of("error").await;
        assert_eq!(error["error"]["code"], code, "{bad}: {error}");
        assert!(!error["error"]["message"].as_str().unwrap().is_empty());
    }
    let mut counts = [0; 2];
    while counts.iter().any(|count| *count < 2) {
        let event = socket.next_of("kline").await;
        let at = usize::from(event["id"] == "b");
        assert_eq!(event["symbol"], ["BTCUSDT", "ETHUSDT"][at]);
        assert_eq!(event.get("deltas").is_some(), at == 0);
        counts[at] += 1;
    }
    socket.say(json!({"type": "unsubscribe", "id": "a"})).await;
    assert_eq!(socket.next_of("unsubscribed").await["id"], "a");
    for _ in 0..2 {
        assert_eq!(socket.next_of("kline").await["id"], "b");
    }
}

#[tokio::test]
async fn readers_get_an_end_event_when_the_server_stops() {
    let fixture = Fixture::new(&[]);
    let mut events = fixture.events("symbol=BTCUSDT&interval=1s", None).await;
    let (times, _) = events.closed(1).await;
    let mut socket = fixture.socket().await;
    socket.say(json!({"type": "subscribe", "symbol": "BTCUSDT", "interval": "1s"})).await;
    socket.next_of("subscribed").await;
    let pid = fixture.server.pid.to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let mut last = None;
    while let Some((_, event)) = events.next().await {
        last = Some(event);
    }
    let last = last.unwrap();
    assert_eq!(last["status"], "ended", "{last}");
    assert!(last["resumeAfter"].as_i64() >= times.last().copied());
    let code = loop {
        if let Err(code) = socket.next().await {
            break code;
        }
    };
    assert_eq!(code, 1001);
    let Fixture { server, folder, .. } = fixture;
    assert_eq!(server.wait(), Some(0));
    drop(folder);
}

#[tokio::test]
async fn a_page_of_another_origin_may_not_open_a_socket() {
    let fixture = Fixture::new(&[]);
    let url = format!("ws://{}/ws", fixture.server.address());
    for (origin, allowed) in [("https://evil.example", false), ("http://localhost:3000", true)] {
        let mut request = url.as_str().into_client_request().unwrap();
        request.headers_mut().insert("origin", origin.parse().unwrap());
        let opened = tokio_tungstenite::connect_async(request).await;
        assert_eq!(opened.is_ok(), allowed, "{origin}");
        if let Err(tokio_tungstenite::tungstenite::Error::Http(refused)) = opened {
            let body: Value = serde_json::from_slice(refused.body().as_ref().unwrap()).unwrap();
            assert_eq!(body["error"]["code"], "forbidden", "{body}");
        }
    }
}

#[tokio::test]
async fn each_kind_of_stream_can_be_disabled() {
    let fixture = Fixture::new(&[("MCP_ENABLE_SSE", "false"), ("MCP_ENABLE_WS", "false")]);
    let url = fixture.server.url("/stream/klines?symbol=BTCUSDT&interval=1s");
    for url in [url, fixture.server.url("/ws")] {
        let refused = http().get(url).send().await.unwrap();
        assert_eq!(refused.status(), 404);
        let body: Value = refused.json().await.unwrap();
        assert_eq!(body["error"]["code"], "not_found", "{body}");
        assert!(body["requestId"].is_string(), "{body}");
    }
    let klines = fixture.server.url("/klines?symbol=BTCUSDT&interval=1h&limit=1");
    assert_eq!(http().get(klines).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn streams_per_client_are_limited_by_the_setting() {
    let fixture = Fixture::new(&[("STOA_STREAMS_PER_CLIENT_MAX", "1")]);
    let _one = fixture.events("symbol=BTCUSDT&interval=1s", None).await;
    let url = fixture.server.url("/stream/klines?symbol=BTCUSDT&interval=1s");
    let refused = http().get(url).send().await.unwrap();
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["retry-after"]),
        (429, &"5".parse().unwrap())
    );
    let body: Value = refused.json().await.unwrap();
    assert_eq!(body["error"]["code"], "rate_limited", "{body}");
    let few = Fixture::new(&[("STOA_STREAMS_PER_CLIENT_MINUTE", "1")]);
    drop(few.events("symbol=BTCUSDT&interval=1s", None).await);
    let url = few.server.url("/stream/klines?symbol=BTCUSDT&interval=1s");
    assert_eq!(http().get(url).send().await.unwrap().status(), 429);
}

#[tokio::test]
async fn streams_on_postgresql_are_warm_and_resumable_after_a_restart() {
    let Some(url) = testkit::postgres::database() else { return };
    let mut fixture = Fixture::new(&[("DATABASE_URL", &url)]);
    let query = "symbol=BTCUSDT&interval=1s&indicators=macd,obv";
    let (first, _) = fixture.events(query, None).await.closed(3).await;
    // The next server resumes where the first one stopped.
    let live = fixture.exchange.base.replace("http://", "ws://");
    let settings = [
        ("PROVIDER", "binance"),
        ("BINANCE_REST_URL", fixture.exchange.base.as_str()),
        ("BINANCE_WS_URL", live.as_str()),
        ("DATABASE_URL", &url),
    ];
    fixture.server = Server::start(fixture.folder.path(), &settings);
    let mut events = fixture.events(query, first.first().copied()).await;
    let (rest, _) = events.closed(4).await;
    assert_eq!(rest[0], first[0] + 1_000);
    check_consecutive(&rest);
}

#[tokio::test]
async fn a_pair_may_be_written_with_a_separator() {
    let fixture = Fixture::new(&[]);
    let server = &fixture.server;
    let (_, first) =
        fixture.events("symbol=BTC/USDT&interval=1s", None).await.next().await.unwrap();
    assert_ne!(first["type"], "error", "{first}");
    let mut socket = fixture.socket().await;
    socket
        .say(json!({"type": "subscribe", "id": "a", "symbol": "BTC/USDT", "interval": "1s"}))
        .await;
    assert_eq!(socket.next_of("subscribed").await["id"], "a");
    for symbol in ["BTC/USDT", "btc-usdt", "BTCUSDT"] {
        let args = json!({ "symbol": symbol, "interval": "1h" });
        let answer = mcp_call(server, "/mcp", "compute_indicators", &args).await;
        assert_eq!(answer["result"]["structuredContent"]["symbol"], "BTCUSDT", "{answer}");
        let request =
            http().get(server.url("/klines")).query(&[("symbol", symbol), ("interval", "1h")]);
        let klines: Value = request.send().await.unwrap().json().await.unwrap();
        assert!(klines["candles"].is_array(), "{symbol}: {klines}");
    }
    for uri in ["klines://BTC/USDT/1h", "klines://BTC%2FUSDT/1h", "klines://BTC-USDT/1h"] {
        let (_, body) =
            mcp_post(&server.url("/mcp"), "resources/read", json!({ "uri": uri })).await;
        let text = body["result"]["contents"][0]["text"].as_str();
        assert!(text.is_some_and(|it| it.contains("candles")), "{uri}: {body}");
        let uris = json!({ "notifications": { "resourceSubscriptions": [uri] } });
        let request = mcp_headers(http().post(server.url("/mcp")), "subscriptions/listen", uris);
        let mut events = Events { response: request.send().await.unwrap(), text: String::new() };
        let (_, first) = events.next().await.unwrap();
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{uri}: {first}");
    }
}
