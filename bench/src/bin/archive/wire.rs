//! The part of HTTP/1.1 for one request at a time: uploads without copies, answers as JSON.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use crate::Outcome;

/// Longer than any answer takes.
const READ_TIMEOUT: Duration = Duration::from_secs(900);
const BOUNDARY: &str = "----stoa-archive-bench";

pub(crate) struct Caller<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) token: &'a str,
}

impl Caller<'_> {
    /// Uploads a file made of these pieces and returns the answer's fields.
    pub(crate) fn upload(&self, name: &str, content: &[&[u8]]) -> Outcome<Value> {
        let opening = format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             content-type: application/octet-stream\r\n\r\n"
        );
        let closing = format!("\r\n--{BOUNDARY}--\r\n");
        let mut body = vec![opening.as_bytes()];
        body.extend(content);
        body.push(closing.as_bytes());
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        self.answer("POST", "/api/arkiver/upload", &kind, &body)
    }

    /// Processes a file and returns the finished job.
    pub(crate) fn process(&self, file: &str, settings: &Value) -> Outcome<Value> {
        let ask = json!({ "fileId": file, "processingSettings": settings }).to_string();
        let kind = "application/json";
        let job = self.answer("POST", "/api/arkiver/process", kind, &[ask.as_bytes()])?;
        let path = format!("/api/arkiver/jobs/{}?waitSeconds=60", text(&job, "jobId")?);
        loop {
            let job = self.answer("GET", &path, kind, &[])?;
            match job["status"].as_str() {
                Some("completed") => return Ok(job),
                Some("queued" | "processing") => {}
                _ => return Err(format!("the job did not end well: {job}").into()),
            }
        }
    }

    /// A file's bytes, piece by piece.
    pub(crate) fn content(&self, file: &str, take: &mut dyn FnMut(&[u8])) -> Outcome<u64> {
        let path = format!("/api/arkiver/files/{file}/content");
        let mut stream = self.send("GET", &path, "text/plain", &[])?;
        let (head, rest) = head(&mut stream)?;
        let length = header(&head, "content-length").ok_or("a download without a length")?;
        let length: u64 = length.parse()?;
        take(&rest);
        let mut taken = rest.len() as u64;
        let mut buffer = vec![0; 256 * 1024];
        while taken < length {
            let count = stream.read(&mut buffer)?;
            if count == 0 {
                return Err("the download was cut off".into());
            }
            take(buffer.get(..count).unwrap_or_default());
            taken += count as u64;
        }
        Ok(taken)
    }

    fn answer(&self, method: &str, path: &str, kind: &str, body: &[&[u8]]) -> Outcome<Value> {
        let mut stream = self.send(method, path, kind, body)?;
        let (head, mut rest) = head(&mut stream)?;
        stream.read_to_end(&mut rest)?;
        let whole =
            if header(&head, "transfer-encoding").is_some() { unchunked(&rest) } else { rest };
        let status = head.split(' ').nth(1).unwrap_or_default();
        if status != "200" {
            let body = String::from_utf8_lossy(&whole);
            return Err(format!("{method} {path} was answered {status}: {body}").into());
        }
        Ok(serde_json::from_slice(&whole)?)
    }

    fn send(&self, method: &str, path: &str, kind: &str, body: &[&[u8]]) -> Outcome<TcpStream> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        let length: usize = body.iter().map(|it| it.len()).sum();
        let Self { address, token } = self;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        for piece in body {
            // A server may refuse an upload before all of it has arrived; its answer is read then.
            if stream.write_all(piece).is_err() {
                break;
            }
        }
        Ok(stream)
    }
}

pub(crate) fn text<'a>(answer: &'a Value, field: &str) -> Outcome<&'a str> {
    answer[field].as_str().ok_or_else(|| format!("no {field} in {answer}").into())
}

/// The head of an answer, and what came with it of the body.
fn head(stream: &mut TcpStream) -> Outcome<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        if let Some(at) = all.windows(4).position(|it| it == b"\r\n\r\n") {
            let rest = all.split_off(at + 4);
            return Ok((String::from_utf8(all)?, rest));
        }
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Err("the connection ended without an answer".into());
        }
        all.extend_from_slice(buffer.get(..count).unwrap_or_default());
    }
}

pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut named = fields.filter(|(it, _)| it.eq_ignore_ascii_case(name));
    named.next().map(|(_, value)| value.trim())
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(at) = body.windows(2).position(|it| it == b"\r\n") {
        let (size, rest) = body.split_at(at);
        let size = std::str::from_utf8(size).ok();
        let size = size.and_then(|it| usize::from_str_radix(it, 16).ok()).unwrap_or(0);
        let Some(chunk) = rest.get(2..2 + size).filter(|it| !it.is_empty()) else { break };
        whole.extend_from_slice(chunk);
        body = rest.get(4 + size..).unwrap_or_default();
    }
    whole
}
