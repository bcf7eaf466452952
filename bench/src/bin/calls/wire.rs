//! The part of HTTP/1.1 that the load needs: prepared requests, one answer at a time.

use std::fmt::{self, Display};
use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Outcome;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";
/// The id is incremented inside the prepared request, so all ids have this many digits.
const ID_DIGITS: usize = 10;
const FIRST_ID: u64 = 1_000_000_000;

/// The protocol version.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtocolVersion {
    Modern,
    /// With a session where the server creates one.
    Legacy,
}

impl Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Modern => MODERN,
            Self::Legacy => LEGACY,
        })
    }
}

/// A connection with the one call it repeats.
pub(crate) struct Caller {
    stream: TcpStream,
    buffer: Vec<u8>,
    request: Vec<u8>,
    id_at: usize,
    id: u64,
}

/// The position of an answer in the buffer.
struct Frame {
    status: u16,
    body: usize,
    chunked: bool,
}

impl Caller {
    pub(crate) async fn connect(
        to: SocketAddr,
        version: ProtocolVersion,
        tickers: &[String],
    ) -> Outcome<Self> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        let buffer = Vec::with_capacity(64 * 1024);
        let mut caller = Self { stream, buffer, request: Vec::new(), id_at: 0, id: FIRST_ID };
        let session = match version {
            ProtocolVersion::Modern => None,
            ProtocolVersion::Legacy => caller.initialize(to).await?,
        };
        caller.request = call(to, version, tickers, session.as_deref());
        let id = FIRST_ID.to_string();
        let at = caller.request.windows(ID_DIGITS).position(|it| it == id.as_bytes());
        caller.id_at = at.ok_or("the request has no id")?;
        Ok(caller)
    }

    /// The session's id, where the server keeps sessions.
    async fn initialize(&mut self, to: SocketAddr) -> Outcome<Option<String>> {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "protocolVersion": LEGACY, "capabilities": {},
                "clientInfo": { "name": "bench", "version": "0" },
            },
        });
        let frame = self.exchange(&post(to, "", &body)).await?;
        expect_ok(frame.status)?;
        let head = String::from_utf8_lossy(&self.buffer[..frame.body]).into_owned();
        let session = header(&head, "mcp-session-id").map(str::to_owned);
        let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let request = post(to, &legacy_headers(session.as_deref()), &body);
        self.exchange(&request).await?;
        Ok(session)
    }

    /// Makes the call once and reads the whole answer.
    pub(crate) async fn call(&mut self) -> Outcome<()> {
        self.id += 1;
        let digits = self.id.to_string();
        self.request[self.id_at..self.id_at + ID_DIGITS].copy_from_slice(digits.as_bytes());
        let request = std::mem::take(&mut self.request);
        let frame = self.exchange(&request).await;
        self.request = request;
        expect_ok(frame?.status)
    }

    /// The parsed result of the last call, which must be a success with its id.
    pub(crate) fn result(&self) -> Outcome<Value> {
        let frame = frame(&self.buffer).ok_or("no answer yet")?;
        let body = &self.buffer[frame.body..];
        let body = if frame.chunked { event(&unchunked(body))? } else { body.to_vec() };
        let mut message: Value = serde_json::from_slice(&body)?;
        let served = message["id"] == self.id
            && message["result"]["isError"] != true
            && message["result"]["structuredContent"]["source_status"] == 200;
        if served {
            Ok(message["result"].take())
        } else {
            Err(format!("not served: {message}").into())
        }
    }

    async fn exchange(&mut self, request: &[u8]) -> Outcome<Frame> {
        self.buffer.clear();
        self.stream.write_all(request).await?;
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err("the server closed the connection".into());
            }
            if let Some(frame) = frame(&self.buffer) {
                return Ok(frame);
            }
        }
    }
}

fn expect_ok(status: u16) -> Outcome<()> {
    if status == 200 { Ok(()) } else { Err(format!("the server answered {status}").into()) }
}

/// The answer in `buffer` once all of it has arrived.
fn frame(buffer: &[u8]) -> Option<Frame> {
    let body = buffer.windows(4).position(|it| it == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&buffer[..body]).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    if let Some(length) = header(head, "content-length") {
        let end = body + length.parse::<usize>().ok()?;
        return (buffer.len() >= end).then_some(Frame { status, body, chunked: false });
    }
    let chunked = header(head, "transfer-encoding").is_some();
    let ended = !chunked || buffer[body - 2..].ends_with(b"\r\n0\r\n\r\n");
    ended.then_some(Frame { status, body, chunked })
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut named = fields.filter(|(it, _)| it.eq_ignore_ascii_case(name));
    named.next().map(|(_, value)| value.trim())
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(at) = body.windows(2).position(|it| it == b"\r\n") {
        let size = std::str::from_utf8(&body[..at]).ok();
        let size = size.and_then(|it| usize::from_str_radix(it, 16).ok()).unwrap_or(0);
        let Some(chunk) = body.get(at + 2..at + 2 + size).filter(|it| !it.is_empty()) else {
            break;
        };
        whole.extend_from_slice(chunk);
        body = body.get(at + 4 + size..).unwrap_or_default();
    }
    whole
}

/// The message in a stream of server-sent events; other events only keep the stream alive.
fn event(stream: &[u8]) -> Outcome<Vec<u8>> {
    let lines = stream.split(|byte| *byte == b'\n');
    let mut data = lines.filter_map(|line| line.strip_prefix(b"data:")).map(<[u8]>::trim_ascii);
    Ok(data.find(|it| it.starts_with(b"{")).ok_or("no message in the stream")?.to_vec())
}

fn call(
    to: SocketAddr,
    version: ProtocolVersion,
    tickers: &[String],
    session: Option<&str>,
) -> Vec<u8> {
    let mut body = json!({
        "jsonrpc": "2.0", "id": FIRST_ID, "method": "tools/call",
        "params": { "name": "quotes_live", "arguments": { "tickers": tickers } },
    });
    if version == ProtocolVersion::Legacy {
        return post(to, &legacy_headers(session), &body);
    }
    body["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers = format!(
        "mcp-protocol-version: {MODERN}\r\nmcp-method: tools/call\r\nmcp-name: quotes_live\r\n"
    );
    post(to, &headers, &body)
}

fn legacy_headers(session: Option<&str>) -> String {
    let version = format!("mcp-protocol-version: {LEGACY}\r\n");
    session.map_or(version.clone(), |id| format!("{version}mcp-session-id: {id}\r\n"))
}

fn post(to: SocketAddr, headers: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {length}\r\n\r\n"
    );
    (head + &body).into_bytes()
}
