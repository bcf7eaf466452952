//! The tools over MCP as raw messages; `tests/e2e` uses real clients.

use serde_json::{Value, json};

use crate::process::{Folder, Pipes, Server, mcp_call, mcp_post};

#[tokio::test]
async fn both_tool_name_forms_work_and_replies_have_text_and_structure() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let args = json!({ "tickers": ["BTCUSDT", "NOSUCH"] });
    for path in ["/mcp", "/mcp/quotes"] {
        for name in ["quotes.live", "quotes_live"] {
            let answer = mcp_call(&server, path, name, &args).await;
            let result = &answer["result"];
            assert_eq!(result["structuredContent"]["source_status"], 206, "{path} {name} {answer}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("BTCUSDT") && text.contains("missing NOSUCH"), "{text}");
            assert!(text.contains("source: simulated"), "{text}");
            assert_eq!(result["_meta"]["stoa/freshness"]["source"], "simulated");
        }
    }
}

#[tokio::test]
async fn history_names_the_call_for_its_next_page() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let args = json!({ "tickers": ["BTCUSDT"], "from": "2024-01-01", "to": "2024-01-10",
        "interval": "1d", "page_size": 4 });
    let answer = mcp_call(&server, "/mcp", "quotes_historical", &args).await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let next = text.lines().find_map(|line| line.strip_prefix("next: quotes_historical ")).unwrap();
    let next: Value = next.parse().unwrap();
    let second = mcp_call(&server, "/mcp", "quotes_historical", &next).await;
    assert_eq!(second["result"]["structuredContent"]["page"], 2);
    assert_eq!(
        second["result"]["structuredContent"]["items"][0]["timestamp"],
        "2024-01-05T00:00:00Z"
    );
}

#[tokio::test]
async fn protocol_errors_are_reported() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let unknown = json!({ "name": "quotes_dead", "arguments": {} });
    let (_, body) = mcp_post(&server.url("/mcp"), "tools/call", unknown).await;
    assert_eq!(body["error"]["code"], -32602);
    let (status, body) = mcp_post(&server.url("/mcp"), "tools/lost", json!({})).await;
    assert_eq!((status, body["error"]["code"].as_i64()), (404, Some(-32601)));
    let (status, body) = mcp_post(&server.url("/mcp/nothing"), "tools/list", json!({})).await;
    assert_eq!(status, 404, "{body}");
}

#[test]
fn stdio_writes_only_protocol_messages() {
    let folder = Folder::new();
    let mut pipes = Pipes::start(folder.path());
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "it", "version": "1" } } });
    pipes.send(hello.to_string().as_bytes());
    let answer = pipes.receive();
    assert_eq!(answer["result"]["serverInfo"]["name"], "stoa");
    assert!(answer["result"]["instructions"].as_str().unwrap().contains("quotes_live"));
    pipes.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    // Invalid lines between messages must not end the connection.
    pipes.send(b"{\"jsonrpc\": \"2.0\", \"id\": ");
    pipes.send(b"\xff\xfe\x00");
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": "quotes_live", "arguments": { "tickers": ["BTCUSDT"] } } });
    pipes.send(call.to_string().as_bytes());
    let answer = loop {
        let message = pipes.receive();
        if message["id"] == 7 {
            break message;
        }
        assert!(message["error"]["code"].is_i64(), "{message}");
    };
    assert_eq!(answer["result"]["structuredContent"]["quotes"][0]["ticker"], "BTCUSDT");
    let (rest, code) = pipes.finish();
    assert_eq!((rest.as_str(), code), ("", 0));
}

#[test]
fn a_client_that_disconnects_at_once_is_not_an_error() {
    let folder = Folder::new();
    let (rest, code) = Pipes::start(folder.path()).finish();
    assert_eq!((rest.as_str(), code), ("", 0));
}
