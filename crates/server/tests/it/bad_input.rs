//! Invalid input of every kind: the right error, flat memory, and a server that keeps running.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::process::{Folder, Server, http, mcp_call};

async fn still_well(server: &Server) {
    let health = http().get(server.url("/health")).send().await.unwrap();
    assert_eq!(health.status(), 200);
}

/// Each row is a tool, its arguments, and a part of the message that must name the error.
#[tokio::test]
async fn every_wrong_argument_is_named() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let tickers: Vec<String> = (0..51).map(|at| format!("T{at}")).collect();
    let history = |patch: Value| {
        let mut args = json!({ "tickers": ["BTCUSDT"], "from": "2024-01-01", "to": "2024-01-02",
            "interval": "1d" });
        for (name, value) in patch.as_object().unwrap() {
            args[name] = value.clone();
        }
        args
    };
    let rows = [
        ("quotes_live", json!({}), "tickers: expected a value"),
        ("quotes_live", json!({ "tickers": "BTCUSDT" }), "tickers: expected an array"),
        ("quotes_live", json!({ "tickers": [7] }), "tickers[0]: expected a string"),
        ("quotes_live", json!({ "tickers": [] }), "at least 1"),
        ("quotes_live", json!({ "tickers": tickers }), "at most 50"),
        ("quotes_live", json!({ "tickers": ["A"], "depth": 1 }), "depth: expected no such field"),
        ("quotes_live", json!({ "tickers": ["A B"] }), "letters, digits"),
        ("quotes_live", json!({ "tickers": ["NYSE:IBM"] }), "BINANCE, MOEX, FILE"),
        ("quotes_live", json!({ "tickers": ["x".repeat(100_000)] }), "at most 40 characters"),
        ("quotes_historical", history(json!({ "from": "2024-02-30" })), "from: expected a date"),
        ("quotes_historical", history(json!({ "to": "yesterday" })), "to: expected a date"),
        ("quotes_historical", history(json!({ "to": "2023-12-31" })), "not after `to`"),
        ("quotes_historical", history(json!({ "from": "2001-01-01" })), "at most 3660 days"),
        ("quotes_historical", history(json!({ "interval": "1h" })), "interval: expected one of"),
        ("quotes_historical", history(json!({ "page": 0 })), "page: expected at least 1"),
        ("quotes_historical", history(json!({ "page": 1.5 })), "page: expected an integer"),
        ("quotes_historical", history(json!({ "page": "1" })), "page: expected an integer"),
        (
            "quotes_historical",
            history(json!({ "page_size": 201 })),
            "page_size: expected at most 200",
        ),
        (
            "quotes_historical",
            history(json!({ "page_size": null })),
            "page_size: expected an integer",
        ),
        ("system_health", json!({ "x": 1 }), "x: expected no such field"),
    ];
    for (tool, args, expected) in rows {
        let answer = mcp_call(&server, "/mcp", tool, &args).await;
        assert_eq!(answer["result"]["isError"], true, "{args}: {answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        let error: Value = text.parse().unwrap();
        assert_eq!(error["type"], "VALIDATION_ERROR", "{error}");
        assert_eq!(error["retryable"], false);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(expected), "{tool}: {message:?} does not say {expected:?}");
        assert!(message.len() < 1000, "{tool}: the message repeats the input");
        assert!(answer["result"].get("structuredContent").is_none());
    }
    let odd =
        mcp_call(&server, "/mcp", "quotes_historical", &history(json!({ "page": 1.0 }))).await;
    assert_eq!(odd["result"]["structuredContent"]["page"], 1, "{odd}");
}

/// Writes raw bytes and returns the response up to the end of the connection.
async fn raw(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    // The server may answer and close the connection before it has read everything.
    drop(stream.write_all(bytes).await);
    let mut answer = Vec::new();
    drop(tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer)).await);
    String::from_utf8_lossy(&answer).into_owned()
}

fn post(path: &str, body: &[u8], length: usize) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

#[tokio::test]
async fn broken_bodies_are_refused() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    for body in
        [&b"{\"jsonrpc\": \"2.0\", \"id\""[..], b"\xff\xfe{}", b"", b"[]", b"null", b"\"x\""]
    {
        let answer = raw(&server, &post("/mcp", body, body.len())).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{body:?}: {answer}");
        assert!(answer.contains("-32700"), "{body:?}: {answer}");
        still_well(&server).await;
    }
    let nested = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    let answer = raw(&server, &post("/mcp", &nested, nested.len())).await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    for head in [
        "GET /v1/quotes?tickers=%zz%00 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        "NONSENSE\r\n\r\n",
    ] {
        let answer = raw(&server, head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{head}: {answer}");
    }
    still_well(&server).await;
}

#[tokio::test]
async fn a_body_of_twenty_megabytes_is_refused() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    still_well(&server).await;
    let before = server.memory_mb();
    let huge = vec![b'x'; 20 * 1024 * 1024];
    for path in ["/mcp", "/v1/quotes"] {
        let response = http().post(server.url(path)).body(huge.clone()).send().await;
        // An error response and a closed connection both count as refusals.
        if let Ok(response) = response {
            assert_eq!(response.status(), 413, "{path}");
        }
    }
    let chunked = {
        let mut bytes =
            b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        for _ in 0..20 {
            bytes.extend_from_slice(b"100000\r\n");
            bytes.extend(std::iter::repeat_n(b'x', 0x10_0000));
            bytes.extend_from_slice(b"\r\n");
        }
        bytes
    };
    let answer = raw(&server, &chunked).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 413"), "{answer}");
    still_well(&server).await;
    let grown = server.memory_mb().saturating_sub(before);
    assert!(grown < 32, "memory grew by {grown} MB");
}

#[tokio::test]
async fn many_idle_connections_cost_little_and_end() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("STOA_CONNECTIONS_MAX", "300")]);
    still_well(&server).await;
    let before = server.memory_mb();
    let mut streams = Vec::new();
    for _ in 0..600 {
        // Beyond the limit the server answers some clients and closes all; connecting itself still
        // works.
        if let Ok(mut stream) = TcpStream::connect(server.address()).await {
            drop(stream.write_all(b"GET /health HTTP/1.1\r\nhost: lo").await);
            streams.push(stream);
        }
    }
    let mut refused = 0;
    for stream in &mut streams {
        let mut byte = [0_u8; 1];
        let read = tokio::time::timeout(Duration::from_millis(5), stream.read(&mut byte)).await;
        // Half a request is answered only where no slot is free.
        refused += usize::from(read.is_ok());
    }
    assert!(refused >= 250, "only {refused} of 600 were refused");
    let grown = server.memory_mb().saturating_sub(before);
    assert!(grown < 64, "memory grew by {grown} MB");
    drop(streams);
    // The slots are free again once the server notices that the clients are gone.
    for _ in 0..200 {
        if http().get(server.url("/health")).send().await.is_ok_and(|it| it.status() == 200) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the server did not recover");
}

#[tokio::test]
async fn a_slow_client_is_not_waited_for() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("STOA_CLIENT_TIMEOUT_S", "0.3")]);
    // A body that never arrives, and a head that never ends.
    let answer = raw(&server, &post("/mcp", b"{", 1000)).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("body_too_slow"), "{answer}");
    let answer = raw(&server, b"GET /health HTTP/1.1\r\nhost: localh").await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    still_well(&server).await;
}
