//! Connections that send no request or only a part of one: each is closed after `client_timeout_s`,
//! and thousands of them do not keep a client out.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::process::{Folder, Server, http};

/// Far above the timeout of one second that the server is started with.
const LONG: Duration = Duration::from_secs(60);

/// Sends these bytes and waits until the server closes the connection.
async fn is_closed_after(server: &Server, bytes: &[u8]) -> bool {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    timeout(LONG, stream.read_to_end(&mut answer)).await.is_ok()
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("STOA_CLIENT_TIMEOUT_S", "1")]);
    // An empty frame of settings.
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let half = &preface[..16];
    let whole = [&preface[..], &settings].concat();
    for (name, bytes) in [
        ("nothing", &b""[..]),
        ("one byte", b"P"),
        ("half a request line", b"GET /hea"),
        ("half a head", b"GET /health HTTP/1.1\r\nhost: localhost\r\n"),
        ("half a preface", half),
        ("a preface", preface),
        ("a preface and settings", &whole),
    ] {
        assert!(is_closed_after(&server, bytes).await, "{name}");
    }
}

/// Answers pings and sends nothing.
#[tokio::test]
async fn an_idle_http2_connection_is_closed_and_a_stream_on_one_is_not() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("STOA_CLIENT_TIMEOUT_S", "1")]);
    let connect = async || {
        let stream = TcpStream::connect(server.address()).await.unwrap();
        let (client, connection) = h2::client::handshake(stream).await.unwrap();
        (client.ready().await.unwrap(), tokio::spawn(connection))
    };
    let (client, silent) = connect().await;
    assert!(timeout(LONG, silent).await.is_ok(), "no request");
    drop(client);
    let (mut client, idle) = connect().await;
    let get = |path: &str| http::Request::get(format!("http://localhost{path}")).body(()).unwrap();
    let (health, _) = client.send_request(get("/health"), true).unwrap();
    assert_eq!(health.await.unwrap().status(), 200);
    let (mut reader, streaming) = connect().await;
    let path = "/stream/klines?symbol=BTCUSDT&interval=1m";
    let (stream, _) = reader.send_request(get(path), true).unwrap();
    let mut events = stream.await.unwrap().into_body();
    assert!(timeout(LONG, idle).await.is_ok(), "one request");
    // The idle connection took longer than the timeout, and the stream is still open.
    assert!(!streaming.is_finished());
    assert!(events.data().await.unwrap().is_ok());
    assert!(!streaming.is_finished());
}

#[tokio::test]
async fn silent_connections_do_not_keep_a_client_out() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("STOA_CONNECTIONS_MAX", "200")]);
    let limit = raise_file_limit();
    // As many as this process may hold, beside its own files.
    let count = limit.saturating_sub(256).min(10_000);
    let mut held = Vec::new();
    for at in 0..count {
        held.push(TcpStream::connect(server.address()).await.unwrap());
        if at % 1_000 == 999 {
            let answer = http().get(server.url("/health")).send().await.unwrap();
            assert_eq!(answer.status(), 200, "after {at} silent connections");
        }
    }
    eprintln!("{} silent connections", held.len());
    for _ in 0..3 {
        let answer = http().get(server.url("/health")).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }
    let metrics = http().get(server.url("/metrics")).send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("\nstoa_connections_pending "), "{metrics}");
}

/// Raises the limit of open files of this process to what the system allows.
fn raise_file_limit() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, ..limit };
    // Where the system refuses, the test goes on with fewer connections.
    let _refused = setrlimit(Resource::Nofile, raised);
    let current = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(current).unwrap_or(usize::MAX)
}
