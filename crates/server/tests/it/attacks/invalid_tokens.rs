//! `/mcp` with invalid tokens: open tools still work, the others say that they need a token.

use std::time::Duration;

use serde_json::{Value, json};

use crate::pricing_path::mint;
use crate::process::{Folder, Server, http, mcp_headers};

struct InvalidTokenClient<'a> {
    server: &'a Server,
    token: &'a str,
}

impl InvalidTokenClient<'_> {
    async fn send(&self, method: &str, params: Value) -> (u16, Value) {
        let request = http().post(self.server.url("/mcp")).bearer_auth(self.token);
        let response = mcp_headers(request, method, params).send().await.unwrap();
        let status = response.status().as_u16();
        assert_eq!(response.headers().contains_key("www-authenticate"), status == 401);
        (status, response.json().await.unwrap())
    }

    async fn call(&self, tool: &str, arguments: Value) -> (u16, Value) {
        self.send("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// The handshake of the older protocol.
    async fn initialize(&self) -> u16 {
        let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "it", "version": "1" } } });
        let request = http().post(self.server.url("/mcp")).bearer_auth(self.token);
        let request = request.header("accept", "application/json, text/event-stream");
        request.json(&initialize).send().await.unwrap().status().as_u16()
    }

    /// Registers a new account and returns its token.
    async fn register(&self, name: &str) -> String {
        let who = json!({ "action": "register", "username": name, "password": "a long secret" });
        let (status, answer) = self.call("auth", who).await;
        assert_eq!(status, 200, "{answer}");
        let token = &answer["result"]["structuredContent"]["token"];
        token.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    async fn ask(&self) -> (u16, Value) {
        self.call("arkiver_query_insights", json!({})).await
    }

    /// Waits until the token has expired.
    async fn wait_until_expired(&self) {
        while self.ask().await.1["result"]["isError"] != true {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn check_refused(answer: &Value, word: &str) {
    let text =
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text.contains(word), "{text}");
}

#[tokio::test]
async fn an_invalid_token_does_not_prevent_a_login() {
    let folder = Folder::new();
    let short = mint(folder.path(), &["--scope", "read,write", "--ttl", "1s"]);
    let server = Server::start(folder.path(), &[]);
    let expired = InvalidTokenClient { server: &server, token: &short };
    expired.wait_until_expired().await;
    for (name, token) in [("ada", short.as_str()), ("bob", "stoa1_AAAA"), ("eve", "rubbish")] {
        let client = InvalidTokenClient { server: &server, token };
        assert_eq!(client.send("tools/list", json!({})).await.0, 200);
        assert_eq!(client.initialize().await, 200);
        let (status, answer) = client.ask().await;
        assert_eq!(status, 200);
        check_refused(&answer, "AUTHENTICATION_FAILED");
        // Reading is open here, so an invalid token does not prevent it.
        let (_, answer) = client.call("quotes_live", json!({ "tickers": ["BTCUSDT"] })).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        let good = client.register(name).await;
        let (_, answer) = InvalidTokenClient { server: &server, token: &good }.ask().await;
        assert_eq!(answer["result"]["structuredContent"]["total"], 0, "{answer}");
    }
}

#[tokio::test]
async fn a_closed_server_serves_clients_without_a_token_only_what_needs_none() {
    let folder = Folder::new();
    let short = mint(folder.path(), &["--scope", "read,write", "--ttl", "1s"]);
    let open = Server::start(folder.path(), &[]);
    InvalidTokenClient { server: &open, token: &short }.wait_until_expired().await;
    drop(open);
    let settings = [("MCP_HTTP_TOKEN", "a-token-of-ours"), ("STOA_ARCHIVE_REGISTRATION", "true")];
    let server = Server::start(folder.path(), &settings);
    for (name, token, session) in [("ada", short.as_str(), 200), ("bob", "stoa1_AAAA", 401)] {
        let client = InvalidTokenClient { server: &server, token };
        for (method, expected) in
            [("server/discover", session), ("tools/list", session), ("resources/list", 401)]
        {
            let (status, answer) = client.send(method, json!({})).await;
            assert_eq!(status, expected, "{method}: {answer}");
        }
        assert_eq!(client.initialize().await, session, "a session is for those who had a token");
        assert_eq!(client.ask().await.0, 401);
        assert_eq!(client.call("quotes_live", json!({ "tickers": ["A"] })).await.0, 401);
        let good = client.register(name).await;
        let (_, answer) = InvalidTokenClient { server: &server, token: &good }.ask().await;
        assert_eq!(answer["result"]["structuredContent"]["total"], 0, "{answer}");
        // A token in the call itself is verified.
        for (shown, opens) in [(good.as_str(), true), ("rubbish", false)] {
            let params = json!({ "name": "arkiver_query_insights", "arguments": {},
                "_meta": { "auth": { "token": shown } } });
            let (status, answer) = client.send("tools/call", params).await;
            assert_eq!(status, 200, "{answer}");
            assert_eq!(answer["result"]["isError"] != true, opens, "{answer}");
        }
    }
}
