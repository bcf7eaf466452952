//! Server-sent events, read from a raw socket.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::fixture::{ServerSettings, TestServer};
use super::ws::client::WsClient;
use crate::{ClientLimits, StreamOptions};

/// Sends a request and reads the answer up to `mark`, or to its end when `mark` is empty.
pub(crate) async fn request(
    server: &TestServer,
    method: &str,
    path: &str,
    headers: &str,
    mark: &str,
) -> String {
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    let text = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    socket.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    loop {
        let read = socket.read_buf(&mut answer).await.unwrap();
        let text = String::from_utf8_lossy(&answer);
        if (!mark.is_empty() && text.contains(mark)) || read == 0 {
            return text.into_owned();
        }
    }
}

/// The `id` and `data` lines, without chunk sizes.
fn lines(answer: &str) -> Vec<&str> {
    answer
        .split("\r\n")
        .flat_map(|part| part.split('\n'))
        .filter(|line| line.starts_with("id:") || line.starts_with("data:"))
        .collect()
}

#[track_caller]
fn check(answer: &str, expected: &[&str]) {
    assert_eq!(lines(answer), expected, "{answer}");
}

const TWO: [&str; 5] = [
    "id: 8",
    r#"data: {"type":"tick","name":"a","n":8}"#,
    "id: 9",
    r#"data: {"type":"tick","name":"a","n":9}"#,
    r#"data: {"type":"status","status":"ended"}"#,
];

#[tokio::test]
async fn a_stream_sends_events_and_ends() {
    let server = TestServer::open().await;
    let answer =
        request(&server, "GET", "/stream/ticks?name=a&after=7&last=9", "", "\r\n0\r\n\r\n").await;
    let head = answer.to_ascii_lowercase();
    for line in [
        "http/1.1 200 ok",
        "content-type: text/event-stream",
        "cache-control: no-store",
        "x-accel-buffering: no",
        "retry: 1000\n",
    ] {
        assert!(head.contains(line), "{line} in {head}");
    }
    assert!(!head.contains("event:"));
    check(&answer, &TWO);
    server.log.until_open(0).await;
}

#[tokio::test]
async fn last_event_id_resumes_the_stream() {
    let server = TestServer::open().await;
    for (query, header, expected) in [
        ("name=a&last=9", "last-event-id: 7\r\n", &TWO[..]),
        ("name=a&last=9&after=3", "last-event-id: 7\r\n", &TWO[..]),
        ("name=a&last=9&after=8", "last-event-id: \r\n", &TWO[2..]),
    ] {
        let path = format!("/stream/ticks?{query}");
        let answer = request(&server, "GET", &path, header, "\r\n0\r\n\r\n").await;
        check(&answer, expected);
    }
}

#[tokio::test]
async fn a_refused_subscription_is_an_http_error() {
    let server = TestServer::open().await;
    for (path, headers, status, field) in [
        ("/stream/ticks?name=nobody", "", "404", "there is no such name"),
        ("/stream/ticks", "", "400", "name"),
        ("/stream/ticks?name=a&after=x", "", "400", "after"),
        ("/stream/ticks?name=a&after=1&after=2", "", "400", "after"),
        ("/stream/ticks?name=a", "last-event-id: x\r\n", "400", "after"),
        ("/stream/ticks?name=a", "authorization: Bearer bad\r\n", "401", "who are you"),
    ] {
        let headers = format!("{headers}connection: close\r\n");
        let answer = request(&server, "GET", path, &headers, "").await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {answer}");
        assert!(answer.contains(field) && answer.contains("requestId"), "{path}: {answer}");
    }
    let answer =
        request(&server, "POST", "/stream/ticks?name=a", "connection: close\r\n", "").await;
    assert!(
        answer.starts_with("HTTP/1.1 405") && answer.contains("allow: GET, HEAD\r"),
        "{answer}"
    );
    assert!(answer.contains("requestId"), "not in the envelope of its contract: {answer}");
}

#[tokio::test]
async fn a_stream_ends_when_the_server_stops() {
    let mut server = TestServer::open().await;
    let stop = server.stop.clone();
    let log = std::sync::Arc::clone(&server.log);
    let stopping = async {
        log.until_open(1).await;
        stop.cancel();
    };
    let (answer, ()) =
        tokio::join!(request(&server, "GET", "/stream/ticks?name=quiet", "", ""), stopping);
    assert!(answer.ends_with("\r\n0\r\n\r\n"), "{answer}");
    server.served.join_next().await.unwrap().unwrap();
}

#[tokio::test]
async fn sse_can_be_disabled() {
    let streams = StreamOptions { sse: false, ..StreamOptions::default() };
    let server = TestServer::with(ServerSettings { streams, ..ServerSettings::default() }).await;
    let answer = request(&server, "GET", "/stream/ticks?name=a", "connection: close\r\n", "").await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert!(answer.contains("switched off") && answer.contains("requestId"), "{answer}");
}

#[tokio::test]
async fn a_client_above_its_stream_limits_gets_429_and_retry_after() {
    let check = async |server: &TestServer, message: &str| {
        let answer =
            request(server, "GET", "/stream/ticks?name=a", "connection: close\r\n", "").await;
        assert!(answer.starts_with("HTTP/1.1 429"), "{answer}");
        assert!(answer.to_ascii_lowercase().contains("\r\nretry-after: "), "{answer}");
        for part in [message, r#""code":"rate_limited""#, "requestId"] {
            assert!(answer.contains(part), "{part} in {answer}");
        }
        assert_eq!(WsClient::upgrade_status(server, "/ws", &[]).await, 429);
    };
    let limited = |open_max, per_minute| {
        let client_limits = ClientLimits { open_max, per_minute };
        let streams = StreamOptions { client_limits, ..StreamOptions::default() };
        TestServer::with(ServerSettings { streams, ..ServerSettings::default() })
    };
    // A WebSocket counts as one stream.
    let mut server = limited(1, 0).await;
    let socket = WsClient::connect(&server, "/ws").await;
    check(&server, "a client may have 1 streams open").await;
    socket.close().await;
    server.connections.wait_for(|open| *open == 0).await.unwrap();
    let answer = request(&server, "GET", "/stream/ticks?name=a&last=1", "", "\r\n0\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let server = limited(0, 2).await;
    for _ in 0..2 {
        request(&server, "GET", "/stream/ticks?name=a&last=1", "", "\r\n0\r\n\r\n").await;
    }
    check(&server, "a client may begin 2 streams in a minute").await;
}

/// Only the first response of a connection takes the socket from hyper.
#[tokio::test]
async fn a_reused_connection_can_carry_a_stream() {
    let server = TestServer::open().await;
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    let mut answer = Vec::new();
    for (path, mark) in
        [("/health", "provider"), ("/stream/ticks?name=a&after=7&last=9", "\r\n0\r\n\r\n")]
    {
        let text = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        socket.write_all(text.as_bytes()).await.unwrap();
        answer.clear();
        while !String::from_utf8_lossy(&answer).contains(mark) {
            assert_ne!(socket.read_buf(&mut answer).await.unwrap(), 0);
        }
    }
    check(&String::from_utf8(answer).unwrap(), &TWO);
}

/// A disconnect is noticed although no event is due.
#[tokio::test]
async fn a_disconnect_ends_the_subscription() {
    let mut server = TestServer::open().await;
    let quiet = request(&server, "GET", "/stream/ticks?name=quiet", "", "retry: 1000").await;
    assert!(quiet.starts_with("HTTP/1.1 200 OK\r\n"), "{quiet}");
    // The request helper closed the socket when it returned.
    server.connections.wait_for(|open| *open == 0).await.unwrap();
    server.log.until_open(0).await;
}

#[tokio::test]
async fn a_stream_ends_with_an_error_when_its_token_is_revoked() {
    let server =
        TestServer::with(ServerSettings { strict: true, ..ServerSettings::default() }).await;
    let log = std::sync::Arc::clone(&server.log);
    let revoking = async {
        log.until_open(1).await;
        log.revoked.store(true, std::sync::atomic::Ordering::SeqCst);
    };
    let headers = "authorization: Bearer good\r\n";
    let path = "/stream/ticks?name=quiet";
    let (answer, ()) =
        tokio::join!(request(&server, "GET", path, headers, "\r\n0\r\n\r\n"), revoking);
    let (_, error) = answer.split_once("event: error\ndata: ").unwrap();
    let error: serde_json::Value = serde_json::from_str(error.lines().next().unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "unauthorized");
    assert_eq!(error["error"]["message"], "the token was revoked");
    assert!(error["requestId"].is_string(), "{error}");
    server.log.until_open(0).await;
}
