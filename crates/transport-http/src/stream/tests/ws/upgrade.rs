//! The upgrade request: origin, token, rate, connection slots, and requests without an upgrade.

use http::HeaderValue;
use limits::RateLimit;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::client::WsClient;
use crate::stream::tests::fixture::{ServerSettings, TestServer};

#[tokio::test]
async fn pages_of_other_origins_are_refused() {
    let server = TestServer::open().await;
    for (origin, status) in [
        ("https://app.example", 101),
        ("http://localhost:5173", 101),
        ("https://evil.example", 403),
        ("null", 403),
    ] {
        assert_eq!(
            WsClient::upgrade_status(&server, "/ws", &[("origin", origin)]).await,
            status,
            "{origin}"
        );
    }
    let any_origin = ServerSettings {
        origins: vec![HeaderValue::from_static("*")],
        ..ServerSettings::default()
    };
    let open = TestServer::with(any_origin).await;
    assert_eq!(
        WsClient::upgrade_status(&open, "/ws", &[("origin", "https://evil.example")]).await,
        101
    );
    let host = [("host", "stoa.example"), ("origin", "https://stoa.example")];
    assert_eq!(WsClient::upgrade_status(&server, "/ws", &host).await, 101);
    assert_eq!(WsClient::upgrade_status(&server, "/ws", &[("host", "evil.example")]).await, 403);
}

#[tokio::test]
async fn a_token_comes_in_a_header_or_as_a_subprotocol() {
    let server =
        TestServer::with(ServerSettings { strict: true, ..ServerSettings::default() }).await;
    for (headers, status) in [
        (vec![], 401),
        (vec![("authorization", "Bearer bad")], 401),
        (vec![("authorization", "Bearer good")], 101),
        (vec![("sec-websocket-protocol", "stoa.v1, bearer.bad")], 401),
    ] {
        assert_eq!(WsClient::upgrade_status(&server, "/ws", &headers).await, status, "{headers:?}");
    }
    let subprotocol = [("sec-websocket-protocol", "stoa.v1, bearer.good")];
    let answer = WsClient::upgrade_response(&server, "/ws", &subprotocol).await.unwrap();
    assert_eq!(answer.headers()["sec-websocket-protocol"], "stoa.v1");
}

#[tokio::test]
async fn a_client_above_its_rate_is_refused() {
    let rate = RateLimit { burst: 1, per_second: 0.001 };
    let server = TestServer::with(ServerSettings { rate, ..ServerSettings::default() }).await;
    assert_eq!(WsClient::upgrade_status(&server, "/ws", &[]).await, 101);
    assert_eq!(WsClient::upgrade_status(&server, "/ws", &[]).await, 429);
}

#[tokio::test]
async fn an_upgraded_connection_keeps_its_slot() {
    let mut server =
        TestServer::with(ServerSettings { connections_max: 1, ..ServerSettings::default() }).await;
    let client = WsClient::connect(&server, "/ws").await;
    let mut second = TcpStream::connect(server.address).await.unwrap();
    let mut answer = String::new();
    second.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert_eq!(*server.connections.borrow_and_update(), 1);
    client.close().await;
    server.connections.wait_for(|open| *open == 0).await.unwrap();
    WsClient::connect(&server, "/ws").await;
}

/// The whole answer to a request at `/ws` with these headers.
async fn answer(server: &TestServer, method: &str, headers: &str) -> String {
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    let request =
        format!("{method} /ws HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n{headers}\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !String::from_utf8_lossy(&answer).contains("requestId") {
        assert_ne!(socket.read_buf(&mut answer).await.unwrap(), 0, "{method} {headers}");
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_request_that_begins_no_websocket_gets_the_status_that_fits() {
    let server = TestServer::open().await;
    let upgrade = "connection: keep-alive, Upgrade\r\nupgrade: WebSocket\r\n";
    let version = "sec-websocket-version: 13\r\n";
    let key = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let short = "sec-websocket-key: c2hvcnQ=\r\n";
    let no_base64 = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZ!==\r\n";
    let unpadded = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQaa\r\n";
    let required = &["upgrade: websocket", "sec-websocket-version: 13"][..];
    for (method, headers, status, has, word) in [
        ("GET", String::new(), 426, required, "ask for the upgrade"),
        ("GET", format!("{key}{version}"), 426, required, "ask for the upgrade"),
        ("GET", format!("{upgrade}{key}"), 426, required, "version 13"),
        ("GET", format!("{upgrade}{key}sec-websocket-version: 8\r\n"), 426, required, "version 13"),
        ("POST", format!("{upgrade}{key}{version}"), 405, &["allow: get\r\n"], "takes GET only"),
        ("DELETE", String::new(), 405, &["allow: get\r\n"], "takes GET only"),
        ("GET", format!("{upgrade}{version}"), 400, &[], "sec-websocket-key"),
        ("GET", format!("{upgrade}{version}{short}"), 400, &[], "sec-websocket-key"),
        ("GET", format!("{upgrade}{version}{no_base64}"), 400, &[], "sec-websocket-key"),
        ("GET", format!("{upgrade}{version}{unpadded}"), 400, &[], "sec-websocket-key"),
        ("GET", format!("{upgrade}{version}{key}{key}"), 400, &[], "sec-websocket-key"),
    ] {
        let answer = answer(&server, method, &headers).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {headers}: {answer}");
        let lower = answer.to_ascii_lowercase();
        assert!(has.iter().all(|it| lower.contains(it)), "{method} {headers}: {answer}");
        assert!(answer.contains(word), "{method} {headers}: {answer}");
    }
}

/// The key of the RFC's example, and a ping in the same packet as the request.
#[tokio::test]
async fn a_frame_sent_with_the_upgrade_request_is_read() {
    let server = TestServer::open().await;
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    let mut bytes = b"GET /ws HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\n\
        upgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
        sec-websocket-version: 13\r\n\r\n"
        .to_vec();
    bytes.extend([0x89, 0x82, 0, 0, 0, 0, b'h', b'i']);
    socket.write_all(&bytes).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(&[0x8A, 2, b'h', b'i']) {
        assert_ne!(socket.read_buf(&mut answer).await.unwrap(), 0);
    }
    assert!(String::from_utf8_lossy(&answer).contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
}
