//! Uploads that are valid, invalid, slow or incomplete.

use std::sync::atomic::Ordering;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::fixture::{BATCH_BYTES, SMALL_BYTES, TestResponse, TestServer};

const FORM: &str = "Content-Type: multipart/form-data; boundary=XX\r\n";

fn field(name: &str, text: &str) -> String {
    format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
}

fn file_head(name: &str) -> String {
    format!(
        "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: text/plain\r\n\r\n"
    )
}

fn file(name: &str, text: &str) -> String {
    format!("{}{text}\r\n", file_head(name))
}

/// The head of an upload with this content length.
fn head(length: u64, headers: &str) -> String {
    format!(
        "POST /api/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{FORM}{headers}\r\n"
    )
}

const GOOD: &str = "Authorization: Bearer good\r\n";

#[tokio::test]
async fn fields_and_files_arrive_in_any_order() {
    let server = TestServer::open().await;
    let (before, after) = (field("caseId", "c"), field("tags", "[\"a\"]"));
    let body = format!("{before}{}{after}{}--XX--\r\n", file("дело", "12345"), file("b", ""));
    let headers = format!("{FORM}X-Upload-Id: my.upload-1\r\n");
    for path in ["/api/upload", "/api/v1/upload"] {
        let answer = server.ask(&format!("POST {path}"), &headers, body.as_bytes()).await;
        let files = json!([["дело", "text/plain", 5], ["b", "text/plain", 0]]);
        let form = json!({ "caseId": "c", "tags": ["a"] });
        let all = json!({ "files": files, "form": form, "id": "my.upload-1", "announced": true });
        assert_eq!((answer.status, answer.json()), (200, all));
    }
}

#[tokio::test]
async fn an_invalid_form_is_refused_in_the_contract_s_envelope() {
    let server = TestServer::open().await;
    let whole = format!("{}--XX--\r\n", file("a", "1"));
    let unknown = format!("{}{}--XX--", field("other", "1"), file("a", "1"));
    let long = format!("{FORM}X-Upload-Id: {}\r\n", "x".repeat(65));
    for (headers, body, expected) in [
        ("Content-Type: application/json\r\n", "{}", "multipart/form-data"),
        ("", &whole, "multipart/form-data"),
        ("Content-Type: multipart/form-data\r\n", &whole, "multipart/form-data"),
        (FORM, "", "last boundary"),
        (FORM, &whole[..20], "part 1"),
        (FORM, &unknown, "other: expected no such field"),
        (&format!("{FORM}X-Upload-Id: a b\r\n"), &whole, "x-upload-id"),
        (&long, &whole, "x-upload-id"),
        (&format!("{FORM}X-Upload-Id: \r\n"), &whole, "x-upload-id"),
    ] {
        let answer = server.ask("POST /api/upload", headers, body.as_bytes()).await;
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(answer.status, 400, "{message}");
        assert!(message.contains(expected), "{headers}: {message}");
    }
}

#[tokio::test]
async fn a_missing_token_is_refused_before_the_body_is_read() {
    let server = TestServer::open().await;
    let mut stream = server.connect().await;
    let form = "Connection: close\r\nExpect: 100-continue\r\n";
    stream.write_all(head(1_000_000, form).as_bytes()).await.unwrap();
    let answer = TestResponse::read(stream).await;
    assert_eq!((answer.status, server.log.calls.load(Ordering::SeqCst)), (401, 0));
    assert!(answer.json()["error"].is_object());
}

#[tokio::test]
async fn a_client_that_expects_100_continue_gets_it() {
    let server = TestServer::open().await;
    let body = format!("{}--XX--\r\n", file("a", "123"));
    let mut stream = server.connect().await;
    let expect = format!("{GOOD}Connection: close\r\nExpect: 100-continue\r\n");
    stream.write_all(head(body.len() as u64, &expect).as_bytes()).await.unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).await.unwrap();
    let answer = TestResponse::read(stream).await;
    assert_eq!((answer.status, answer.json()["files"][0][2].as_u64()), (200, Some(3)));
}

#[tokio::test]
async fn a_content_length_above_the_limit_is_refused_unread() {
    let server = TestServer::open().await;
    let mut stream = server.connect().await;
    let expect = format!("{GOOD}Connection: close\r\nExpect: 100-continue\r\n");
    let length = BATCH_BYTES + 1024 * 1024 + 1;
    stream.write_all(head(length, &expect).as_bytes()).await.unwrap();
    let answer = TestResponse::read(stream).await;
    assert_eq!(answer.status, 400);
    assert!(answer.json()["error"]["message"].as_str().unwrap().contains("larger than"));
}

/// Sends this much of a file; `false` when the server closed the connection.
async fn send_mebibytes(stream: &mut TcpStream, mebibytes: usize) -> bool {
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..mebibytes {
        if stream.write_all(&piece).await.is_err() {
            return false;
        }
    }
    true
}

#[tokio::test]
async fn a_refusal_reaches_a_client_that_keeps_sending() {
    let server = TestServer::open().await;
    for name in ["small", "no"] {
        let mut stream = server.connect().await;
        let end = "\r\n--XX--\r\n";
        let begin = file_head(name);
        let length = (begin.len() + end.len()) as u64 + 16 * SMALL_BYTES;
        stream.write_all(head(length, GOOD).as_bytes()).await.unwrap();
        stream.write_all(begin.as_bytes()).await.unwrap();
        assert!(send_mebibytes(&mut stream, 16).await, "{name}");
        stream.write_all(end.as_bytes()).await.unwrap();
        // The whole body was read, so the connection is reused.
        stream
            .write_all(
                format!("GET /api/files/7 HTTP/1.1\r\nHost: localhost\r\n{GOOD}Connection: close\r\n\r\n")
                    .as_bytes(),
            )
            .await
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        assert!(text.starts_with("HTTP/1.1 400"), "{text}");
        assert!(text.contains("\"tool\":\"status\""), "{text}");
    }
    assert!(
        *server.log.received.borrow() <= 2 * SMALL_BYTES,
        "the handler read no more than it needed"
    );
}

#[tokio::test]
async fn a_body_is_streamed_and_never_held_in_memory() {
    let server = TestServer::open().await;
    let before = high_water();
    let mut stream = server.connect().await;
    let (begin, end) = (file_head("large"), "\r\n--XX--\r\n");
    let length = (begin.len() + end.len()) as u64 + 120 * 1024 * 1024;
    let close = format!("{GOOD}Connection: close\r\n");
    stream.write_all(head(length, &close).as_bytes()).await.unwrap();
    stream.write_all(begin.as_bytes()).await.unwrap();
    assert!(send_mebibytes(&mut stream, 20).await);
    // The handler reads the first part before the rest is sent; a few bytes may be held back.
    let mut received = server.log.received.subscribe();
    received.wait_for(|received| *received > 19 * 1024 * 1024).await.unwrap();
    assert!(send_mebibytes(&mut stream, 100).await);
    stream.write_all(end.as_bytes()).await.unwrap();
    let answer = TestResponse::read(stream).await;
    assert_eq!(answer.json()["files"][0][2].as_u64(), Some(120 * 1024 * 1024));
    assert!(server.log.piece_max.load(Ordering::SeqCst) <= 1024 * 1024);
    if let (Some(before), Some(after)) = (before, high_water()) {
        assert!(after - before < 40 * 1024, "{} KiB more than before", after - before);
    }
}

/// The peak memory of this process in KiB, where /proc exists.
fn high_water() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[tokio::test]
async fn a_disconnect_cancels_the_handler() {
    let server = TestServer::open().await;
    let mut stream = server.connect().await;
    stream.write_all(head(1_000_000, GOOD).as_bytes()).await.unwrap();
    stream.write_all(file_head("a").as_bytes()).await.unwrap();
    stream.write_all(&[b'x'; 1000]).await.unwrap();
    let mut open = server.log.open.subscribe();
    open.wait_for(|open| *open == 1).await.unwrap();
    server.log.received.subscribe().wait_for(|received| *received > 0).await.unwrap();
    drop(stream);
    open.wait_for(|open| *open == 0).await.unwrap();
}

#[tokio::test]
async fn an_upload_path_accepts_only_post() {
    let server = TestServer::open().await;
    let answer = server.ask("PUT /api/upload", "", b"").await;
    assert_eq!(answer.status, 405);
    answer.has("allow: post");
    // The edge reads bodies of other methods, up to its own limit.
    let answer = server.ask("PUT /api/upload", "", &[0; 2000]).await;
    assert_eq!(answer.status, 413);
}

#[tokio::test]
async fn cors_allows_uploads_from_allowed_origins() {
    let server = TestServer::open().await;
    for method in ["POST", "PUT", "DELETE"] {
        let headers = format!(
            "Origin: https://app.example\r\nAccess-Control-Request-Method: {method}\r\n\
             Access-Control-Request-Headers: x-upload-id,authorization\r\n"
        );
        let answer = server.ask("OPTIONS /api/upload", &headers, b"").await;
        let allowed = |name: &str| answer.head.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(allowed("access-control-allow-methods").contains(&method.to_lowercase()));
        assert!(allowed("access-control-allow-headers").contains("x-upload-id"));
    }
}
