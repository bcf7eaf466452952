//! Requests that cost memory: large bodies, unfinished bodies, many bodies on one connection, and
//! JSON of millions of values. The server's peak stays below 300 MB above its idle state, and
//! `/health` keeps answering.

#![expect(clippy::print_stderr, reason = "the tests report what they measured")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::pricing_path::mint;
use crate::process::{Folder, Server, http, mcp_headers};

const LARGEST: usize = 32 * 1024 * 1024;
const PEAK_MB_MAX: u64 = 300;
/// The largest catalogue has a token that may import it, so it may cost more than an attack.
const CATALOGUE_PEAK_MB_MAX: u64 = 900;
/// The slowest answer of `/health` that a debug build on a busy machine may give.
const HEALTH_MAX: Duration = Duration::from_secs(2);
const OPERATOR: &str = "only-for-the-operator";

/// A server, its memory when idle, and a probe of `/health`.
struct Target {
    server: Server,
    idle_mb: u64,
    token: Option<String>,
    stop: Arc<AtomicBool>,
    probe: std::thread::JoinHandle<Duration>,
}

impl Target {
    /// A closed server, attacked without a credential or with a token that may import.
    async fn closed(folder: &Folder, with_token: bool) -> Self {
        let token = with_token.then(|| mint(folder.path(), &["--scope", "import,read"]));
        let settings = [("MCP_HTTP_TOKEN", OPERATOR), ("STOA_RATE_PER_SECOND", "0")];
        Self::new(Server::start(folder.path(), &settings), token).await
    }

    async fn new(server: Server, token: Option<String>) -> Self {
        let health = server.url("/health");
        assert_eq!(http().get(&health).send().await.unwrap().status(), 200);
        let idle_mb = server.memory_mb();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let probe = std::thread::spawn(move || probe(&health, &stopped));
        Self { server, idle_mb, token, stop, probe }
    }

    /// Ends the attack; fails if it cost too much memory or kept `/health` waiting.
    async fn survived(self, attack: &str) {
        self.survived_within(attack, PEAK_MB_MAX).await;
    }

    async fn survived_within(self, attack: &str, peak_mb_max: u64) {
        self.stop.store(true, Ordering::Relaxed);
        let worst = self.probe.join().unwrap();
        let grown = self.server.peak_memory_mb().saturating_sub(self.idle_mb);
        let with = if self.token.is_some() { "with a token" } else { "without a token" };
        eprintln!("{attack} {with}: {grown} MB above {} MB, /health {worst:?}", self.idle_mb);
        assert!(grown < peak_mb_max, "{attack} {with}: {grown} MB above idle");
        assert!(worst < HEALTH_MAX, "{attack} {with}: /health took {worst:?}");
    }

    fn authorization(&self) -> String {
        let line = |token: &String| format!("authorization: Bearer {token}\r\n");
        self.token.as_ref().map(line).unwrap_or_default()
    }
}

/// The slowest answer of `/health` until it is stopped. It runs on a thread of its own, because on the
/// thread of the attack it would wait for the attack's own writes.
fn probe(health: &str, stopped: &AtomicBool) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut worst = Duration::ZERO;
        while !stopped.load(Ordering::Relaxed) {
            let asked = Instant::now();
            let answer = http().get(health).timeout(Duration::from_secs(60)).send().await;
            assert_eq!(answer.unwrap().status(), 200);
            worst = worst.max(asked.elapsed());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        worst
    })
}

/// A call of this many bytes whose arguments are an array of zeros.
fn zeros(bytes: usize) -> Vec<u8> {
    let mut body =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":["#
            .to_vec();
    while body.len() + 6 < bytes {
        body.extend_from_slice(b"0,");
    }
    body.extend_from_slice(b"0]}}}");
    body
}

fn post(path: &str, authorization: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: \
         application/json, text/event-stream\r\n{authorization}content-length: {length}\r\n\r\n"
    )
}

/// Sends a request and returns the status; 0 if the connection was closed without an answer.
async fn send(target: &Target, path: &str, body: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(target.server.address()).await.unwrap();
    let head = post(path, &target.authorization(), body.len());
    let (mut read, mut write) = stream.split();
    let sending = async {
        // The server may answer and close before it has read everything.
        if write.write_all(head.as_bytes()).await.is_ok() {
            drop(write.write_all(body).await);
        }
        std::future::pending::<()>().await;
    };
    let mut answer = vec![0; 64];
    let count = tokio::select! {
        () = sending => 0,
        count = read.read(&mut answer) => count.unwrap_or_default(),
    };
    let text = String::from_utf8_lossy(&answer[..count]).into_owned();
    text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}

#[tokio::test]
async fn one_large_request_of_many_values() {
    let body = zeros(LARGEST);
    for (with_token, expected) in [(false, 401), (true, 413)] {
        let folder = Folder::new();
        let target = Target::closed(&folder, with_token).await;
        let status = send(&target, "/mcp/collector", &body).await;
        assert!(status == expected || status == 0, "{status}");
        target.survived("one body of 32 MiB of zeros").await;
    }
}

#[tokio::test]
async fn large_requests_of_many_values_on_an_open_server() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("STOA_RATE_PER_SECOND", "0")]);
    let target = Target::new(server, None).await;
    let body = zeros(4 * 1024 * 1024);
    for path in ["/mcp", "/mcp/archive", "/mcp/quotes", "/indicators", "/a2a"] {
        let statuses = join_all((0..8).map(|_| send(&target, path, &body))).await;
        let refused = |status: &u16| [0, 401, 413, 503].contains(status);
        assert!(statuses.iter().all(refused), "{path}: {statuses:?}");
    }
    target.survived("40 bodies of 4 MiB of zeros").await;
}

#[tokio::test]
async fn sixty_bodies_that_lack_their_last_byte() {
    let body = vec![b' '; LARGEST - 1];
    for with_token in [false, true] {
        let folder = Folder::new();
        let target = Target::closed(&folder, with_token).await;
        let head = post("/mcp/collector", &target.authorization(), LARGEST);
        let held = join_all((0..60).map(|_| async {
            let mut stream = TcpStream::connect(target.server.address()).await.unwrap();
            if stream.write_all(head.as_bytes()).await.is_ok() {
                drop(stream.write_all(&body).await);
            }
            stream
        }))
        .await;
        drop(held);
        target.survived("60 bodies one byte short of 32 MiB").await;
    }
}

#[tokio::test]
async fn many_bodies_on_one_http2_connection() {
    for with_token in [false, true] {
        let folder = Folder::new();
        let target = Target::closed(&folder, with_token).await;
        let stream = TcpStream::connect(target.server.address()).await.unwrap();
        let (client, connection) = h2::client::handshake(stream).await.unwrap();
        let driver = tokio::spawn(connection);
        let streams = (0..256).map(|_| {
            let mut request = http::Request::post("http://localhost/mcp/collector")
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream");
            if let Some(token) = &target.token {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            unfinished(client.clone(), request.body(()).unwrap(), 12 * 1024 * 1024)
        });
        join_all(streams).await;
        driver.abort();
        target.survived("256 bodies of 12 MiB on one HTTP/2 connection").await;
    }
}

/// Sends a body of this length without its end, as long as the server takes it.
async fn unfinished(
    client: h2::client::SendRequest<Bytes>,
    request: http::Request<()>,
    length: usize,
) {
    let chunk = Bytes::from(vec![b' '; 16 * 1024]);
    let sending = async {
        let mut client = client.ready().await.ok()?;
        let (_response, mut body) = client.send_request(request, false).ok()?;
        let mut sent = 0;
        while sent < length {
            body.reserve_capacity(chunk.len());
            let room = std::future::poll_fn(|context| body.poll_capacity(context)).await?.ok()?;
            let part = chunk.slice(..room.min(chunk.len()));
            sent += part.len();
            body.send_data(part, false).ok()?;
        }
        Some(())
    };
    // A stream that gets no more capacity from the server has sent all that it can.
    drop(tokio::time::timeout(Duration::from_secs(20), sending).await);
}

/// A catalogue of this many ordinary rows.
fn rows(count: usize) -> Vec<Value> {
    let row = |at: usize| {
        json!({ "sku": format!("SKU-{at:06}"), "title": format!("Product number {at}"),
            "category": "garden", "currency": "EUR", "cost": "4.10", "price": "7.25", "stock": at })
    };
    (0..count).map(row).collect()
}

async fn import(target: &Target, bearer: Option<&str>, arguments: Value) -> (u16, Value) {
    let mut request = http().post(target.server.url("/mcp/collector"));
    if let Some(token) = bearer {
        request = request.bearer_auth(token);
    }
    let params = json!({ "name": "import_product_catalog", "arguments": arguments });
    let response = mcp_headers(request, "tools/call", params).send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    // A call that takes longer than 10 s, as on a busy machine, is answered as events.
    let event = text.lines().rev().find_map(|line| line.strip_prefix("data:"));
    (status, serde_json::from_str(event.unwrap_or(&text)).unwrap())
}

#[tokio::test]
async fn a_large_import_needs_its_token_early() {
    let folder = Folder::new();
    let target = Target::closed(&folder, true).await;
    let token = target.token.clone().unwrap();
    let reader = mint(folder.path(), &["--scope", "read"]);
    let few = rows(2_000);
    for (bearer, arguments, status, word) in [
        (None, json!({ "capability_token": token, "rows": few }), 200, "\"count\":2000"),
        (Some(&token), json!({ "rows": few }), 200, "capability_token: expected a value"),
        (Some(&token), json!({ "rows": few, "capability_token": token }), 200, "\"count\":2000"),
        (None, json!({ "rows": few, "capability_token": token }), 401, "first 65536 bytes"),
        (None, json!({ "rows": few }), 401, "Authorization header"),
        (None, json!({ "capability_token": "rubbish", "rows": few }), 401, "valid token"),
        (Some(&reader), json!({ "rows": few }), 200, "needs the scope"),
        (Some(&reader), json!({ "rows": rows(60_000) }), 413, "scope \\\"import\\\""),
    ] {
        let (found, body) = import(&target, bearer.map(String::as_str), arguments).await;
        let text = body.to_string();
        assert_eq!(found, status, "{text}");
        assert!(text.contains(word), "{text}");
        if status != 200 {
            assert_eq!((&body["jsonrpc"], &body["error"]["code"]), (&json!("2.0"), &json!(status)));
        }
    }
}

/// The contract takes 100,000 rows in one call.
#[tokio::test]
async fn the_largest_catalogue_is_imported() {
    let folder = Folder::new();
    let target = Target::closed(&folder, true).await;
    let token = target.token.clone().unwrap();
    let arguments = json!({ "rows": rows(100_000), "capability_token": token });
    let (status, body) = import(&target, Some(&token), arguments).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["result"]["structuredContent"]["count"], 100_000, "{body}");
    target.survived_within("a catalogue of 100,000 rows", CATALOGUE_PEAK_MB_MAX).await;
}
