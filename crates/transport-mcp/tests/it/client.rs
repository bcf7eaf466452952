//! An MCP client over raw HTTP/1.1, so that no library hides the bytes.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

pub(crate) const LEGACY: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl HttpAnswer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Every protocol message of the answer, whether it came as JSON or as events.
    pub(crate) fn messages(&self) -> Vec<Value> {
        if self.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
            return vec![serde_json::from_str(&self.body).unwrap()];
        }
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
    }

    /// The last message, which is the response.
    #[track_caller]
    pub(crate) fn message(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("no message in {self:?}"))
    }
}

/// An event stream that is read as it arrives.
pub(crate) struct EventReader {
    socket: BufReader<TcpStream>,
    pub(crate) head: String,
    /// The ids of all events that were read, with and without data.
    pub(crate) ids: Vec<String>,
}

impl EventReader {
    /// Reads up to the end of the head.
    pub(crate) async fn open(socket: TcpStream) -> Self {
        let (head, ids) = (String::new(), Vec::new());
        let mut events = Self { socket: BufReader::new(socket), head, ids };
        loop {
            let line = events.line().await.expect("a head");
            if line.is_empty() {
                return events;
            }
            events.head.push_str(&line.to_ascii_lowercase());
            events.head.push('\n');
        }
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.socket.read_line(&mut line).await.unwrap_or_default();
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The id of the event that begins a stream.
    pub(crate) async fn first_id(&mut self) -> String {
        while self.ids.is_empty() {
            let line = self.line().await.expect("an event");
            self.ids.extend(line.strip_prefix("id:").map(|id| id.trim().to_owned()));
        }
        self.ids[0].clone()
    }

    /// The next protocol message; `None` at the end of the stream. Chunk sizes and comments are
    /// skipped, because every event is one line of data, which its id may follow.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut message = None;
        loop {
            let line = self.line().await?;
            if line.is_empty() && message.is_some() {
                return message;
            }
            self.ids.extend(line.strip_prefix("id:").map(|id| id.trim().to_owned()));
            let data = line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty());
            if let Some(data) = data {
                message = Some(serde_json::from_str(data).unwrap());
            }
        }
    }
}

#[derive(Clone)]
pub(crate) struct HttpClient {
    pub(crate) address: SocketAddr,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl HttpClient {
    pub(crate) fn new(address: SocketAddr, path: &str) -> Self {
        Self { address, path: path.to_owned(), headers: Vec::new() }
    }

    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut headers = self.headers.clone();
        headers.push((name.to_owned(), value.to_owned()));
        Self { headers, ..self.clone() }
    }

    /// Writes one request and leaves the answer unread.
    pub(crate) async fn open(&self, method: &str, body: &[u8]) -> TcpStream {
        let named = |name: &str| self.headers.iter().any(|(key, _)| key == name);
        let mut head = format!("{method} {} HTTP/1.1\r\nconnection: close\r\n", self.path);
        if !named("host") {
            head.push_str(&format!("host: {}\r\n", self.address));
        }
        head.push_str("accept: application/json, text/event-stream\r\n");
        head.push_str(&format!(
            "content-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        ));
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(b"\r\n").await.unwrap();
        // A server that refuses early may stop reading.
        socket.write_all(body).await.ok();
        socket
    }

    pub(crate) async fn send(&self, method: &str, body: &[u8]) -> HttpAnswer {
        let mut socket = self.open(method, body).await;
        let mut bytes = Vec::new();
        socket.read_to_end(&mut bytes).await.ok();
        answer(&bytes)
    }

    /// A request of the newer protocol, which needs no session.
    pub(crate) async fn modern(&self, method: &str, params: Value) -> HttpAnswer {
        self.modern_client(method, &params)
            .send("POST", modern_body(method, params).as_bytes())
            .await
    }

    /// A request of the newer protocol whose answer is read as a stream.
    pub(crate) async fn follow(&self, method: &str, params: Value) -> EventReader {
        let client = self.modern_client(method, &params);
        EventReader::open(client.open("POST", modern_body(method, params).as_bytes()).await).await
    }

    /// The same within a session.
    pub(crate) async fn follow_in_session(&self, method: &str, params: Value) -> EventReader {
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        EventReader::open(self.open("POST", request.to_string().as_bytes()).await).await
    }

    /// The stream of a session for messages that answer no request.
    pub(crate) async fn listen(&self) -> EventReader {
        EventReader::open(self.open("GET", b"").await).await
    }

    pub(crate) fn modern_client(&self, method: &str, params: &Value) -> Self {
        let client = self.with("mcp-protocol-version", MODERN).with("mcp-method", method);
        let named = ["name", "uri", "taskId"].iter().find_map(|it| params[it].as_str());
        match named {
            Some(name) => client.with("mcp-name", name),
            None => client,
        }
    }

    /// The handshake of the older protocol; the returned client has a session.
    pub(crate) async fn legacy(&self) -> (Self, Value) {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY, "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" } } });
        let answer = self.send("POST", hello.to_string().as_bytes()).await;
        let session = answer.header("mcp-session-id").expect("a session").to_owned();
        let client = self.with("mcp-session-id", &session).with("mcp-protocol-version", LEGACY);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let accepted = client.send("POST", ready.to_string().as_bytes()).await;
        assert_eq!(accepted.status, 202);
        (client, answer.message()["result"].clone())
    }

    pub(crate) async fn in_session(&self, method: &str, params: Value) -> HttpAnswer {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.send("POST", request.to_string().as_bytes()).await
    }
}

pub(crate) fn modern_body(method: &str, mut params: Value) -> String {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
    meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "0" });
    let able = &mut meta["io.modelcontextprotocol/clientCapabilities"];
    if able.is_null() {
        *able = json!({});
    }
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

fn answer(bytes: &[u8]) -> HttpAnswer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_default();
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunked(body) } else { body.to_owned() };
    HttpAnswer { status, head: head.to_owned(), body }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size.trim(), 16) else { break };
        let Some(chunk) = rest.get(..size) else { break };
        whole.push_str(chunk);
        body = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}
