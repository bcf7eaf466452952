//! The protocol over stdio: one message per line, and no line can end the process.

use std::sync::Arc;

use contract::{Credential, View};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use transport_mcp::{LINE_BYTES_MAX, McpServer, ServerOptions, serve_stdio};

use crate::client::{LEGACY, modern_body};
use crate::fixture::{HandlerEvent, ServiceProbe, pipeline};

pub(crate) struct StdioClient {
    to: Option<WriteHalf<DuplexStream>>,
    from: BufReader<ReadHalf<DuplexStream>>,
    pub(crate) probe: ServiceProbe,
    cancel: CancellationToken,
    serving: JoinSet<std::io::Result<()>>,
}

impl StdioClient {
    pub(crate) fn open() -> Self {
        let (pipeline, probe) = pipeline();
        let token = Credential::Bearer(Arc::from("from-env"));
        let server =
            McpServer::new(pipeline, View::default(), ServerOptions::stdio("9.9.9", token));
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(theirs);
        let (from, to) = tokio::io::split(ours);
        let cancel = CancellationToken::new();
        let mut serving = JoinSet::new();
        serving.spawn(serve_stdio(server, input, output, cancel.clone()));
        Self { to: Some(to), from: BufReader::new(from), probe, cancel, serving }
    }

    pub(crate) async fn write(&mut self, line: &[u8]) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line).await.unwrap();
        to.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.write(message.to_string().as_bytes()).await;
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line:?}"))
    }

    pub(crate) async fn initialize(&mut self) {
        self.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY, "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" } } }))
            .await;
        assert_eq!(self.receive().await["result"]["protocolVersion"], LEGACY);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await;
        self.receive().await
    }

    /// Closes the input and waits for the server to end by itself.
    pub(crate) async fn end(mut self) -> Vec<Value> {
        let mut to = self.to.take().unwrap();
        to.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let mut lines = self.from.lines();
        self.serving.join_next().await.unwrap().unwrap().unwrap();
        while let Ok(Some(line)) = lines.next_line().await {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        rest
    }
}

#[tokio::test]
async fn the_older_protocol_works_on_stdio() {
    let mut client = StdioClient::open();
    client.initialize().await;
    let listed = client.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["name"], "quotes_live");
    let call = json!({ "name": "quotes.live", "arguments": { "tickers": ["A"] } });
    let called = client.request("tools/call", call).await;
    // The token given at construction is the caller's, unless the call shows its own.
    assert_eq!(called["result"]["structuredContent"]["quotes"][0]["currency"], "from-env");
    let call = json!({ "name": "quotes.live", "arguments": { "tickers": ["A"] },
        "_meta": { "auth": { "token": "ada" } } });
    let called = client.request("tools/call", call).await;
    assert_eq!(called["result"]["structuredContent"]["quotes"][0]["currency"], "ada");
    assert!(client.end().await.is_empty());
}

#[tokio::test]
async fn the_newer_protocol_works_on_stdio() {
    let mut client = StdioClient::open();
    client.write(modern_body("server/discover", json!({})).as_bytes()).await;
    assert_eq!(client.receive().await["result"]["resultType"], "complete");
    let call = json!({ "name": "quotes_live", "arguments": { "tickers": ["A"] } });
    client.write(modern_body("tools/call", call).as_bytes()).await;
    let called = client.receive().await;
    assert_eq!(called["result"]["structuredContent"]["quotes"][0]["ticker"], "A");
}

#[tokio::test]
async fn an_end_before_the_first_request_is_a_clean_exit() {
    assert!(StdioClient::open().end().await.is_empty());
}

#[tokio::test]
async fn a_request_without_its_newline_is_answered_before_the_end() {
    let mut client = StdioClient::open();
    client.initialize().await;
    let ask = br#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#;
    client.to.as_mut().unwrap().write_all(ask).await.unwrap();
    let rest = client.end().await;
    assert_eq!(rest[0]["id"], 5);
}

#[track_caller]
fn check_error(answer: &Value, code: i64, id: &Value) {
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), id), "{answer}");
}

#[tokio::test]
async fn invalid_lines_are_refused_and_the_next_one_is_served() {
    for early in [true, false] {
        let mut client = StdioClient::open();
        if !early {
            client.initialize().await;
        }
        for line in [b"{\"jsonrpc\":\"2.0\",\"id\":".as_slice(), b"\xff\xfe\xfd", b"hello"] {
            client.write(line).await;
            check_error(&client.receive().await, -32700, &Value::Null);
        }
        client.write(b"[1,2]").await;
        check_error(&client.receive().await, -32600, &Value::Null);
        client.write(br#"{"id":9,"method":5}"#).await;
        check_error(&client.receive().await, -32600, &json!(9));
        // None of these gets an answer.
        client.write(b"").await;
        client.write(br#"{"jsonrpc":"2.0","method":"notifications/unheard/of"}"#).await;
        client.write(br#"{"jsonrpc":"2.0","id":77,"result":{}}"#).await;
        if early {
            client.initialize().await;
        }
        assert_eq!(client.request("tools/list", json!({})).await["id"], 1);
    }
}

#[tokio::test]
async fn an_oversized_line_is_refused_and_skipped() {
    let mut client = StdioClient::open();
    client.initialize().await;
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..=LINE_BYTES_MAX / piece.len() {
        client.to.as_mut().unwrap().write_all(&piece).await.unwrap();
    }
    check_error(&client.receive().await, -32700, &Value::Null);
    client.write(b"the end of that line").await;
    assert_eq!(client.request("tools/list", json!({})).await["id"], 1);
}

#[tokio::test]
async fn a_cancelled_call_stops_the_handler_and_gets_no_answer() {
    let mut client = StdioClient::open();
    client.initialize().await;
    client
        .send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": "quotes_live", "arguments": { "tickers": ["WAIT"] } } }))
        .await;
    assert_eq!(client.probe.events.recv().await, Some(HandlerEvent::Waiting));
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }))
        .await;
    assert_eq!(client.probe.events.recv().await, Some(HandlerEvent::Cancelled));
    assert_eq!(client.request("tools/list", json!({})).await["id"], 1);
}

#[tokio::test]
async fn a_client_with_too_many_running_requests_is_refused() {
    let wait = |id: usize| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "quotes_live", "arguments": { "tickers": ["WAIT"] } } })
    };
    let mut client = StdioClient::open();
    client.initialize().await;
    for id in 10..1_034 {
        client.send(&wait(id)).await;
    }
    client.send(&wait(5_000)).await;
    check_error(&client.receive().await, 429, &json!(5_000));
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 30 } }))
        .await;
    assert_eq!(client.request("tools/list", json!({})).await["id"], 1);
}

#[tokio::test]
async fn progress_comes_before_the_answer() {
    let mut client = StdioClient::open();
    client.initialize().await;
    let call = json!({ "name": "quotes_live", "arguments": { "tickers": ["STEPS"] }, "_meta": { "progressToken": 4 } });
    let mut message = client.request("tools/call", call).await;
    for done in [1.0, 2.0, 3.0] {
        assert_eq!(message["params"]["progress"].as_f64(), Some(done), "{message}");
        message = client.receive().await;
    }
    assert_eq!(message["id"], 1);
}

#[tokio::test]
async fn cancelling_the_server_s_token_ends_it() {
    let mut client = StdioClient::open();
    client.initialize().await;
    client.cancel.cancel();
    client.serving.join_next().await.unwrap().unwrap().unwrap();
}
