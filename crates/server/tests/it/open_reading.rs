//! Reading that is open without a token stays open with any token: a narrow, expired, revoked or
//! forged one. What needs a token says what is wrong with the given one.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::pricing_path::mint;
use crate::process::{Folder, Pipes, Server, http, mcp_headers, run, stoa};

const QUOTE: &str = r#"{"tickers":["BTCUSDT"]}"#;

/// Tokens that open less than no token would, with what is wrong about each of them.
fn tokens(folder: &Folder) -> Vec<(String, &'static str)> {
    let data = folder.path();
    let short = mint(data, &["--scope", "read,write", "--ttl", "1s"]);
    let revoked = mint(data, &["--scope", "read,write"]);
    let (code, _, err) = run(stoa(data).args(["token", "revoke"]).env("STOA_TOKEN", &revoked));
    assert_eq!(code, 0, "{err}");
    let elsewhere = Folder::new();
    let forged = mint(elsewhere.path(), &["--scope", "read,write"]);
    let while_valid = || run(stoa(data).args(["token", "inspect"]).env("STOA_TOKEN", &short)).1;
    while while_valid().contains("valid here     yes") {
        std::thread::sleep(Duration::from_millis(50));
    }
    vec![
        (mint(data, &["--scope", "propose"]), "needs the scope"),
        (mint(data, &["--scope", "read", "--market", "DE"]), "limited to markets"),
        (mint(data, &["--scope", "read", "--service", "collector"]), "limited to other services"),
        (short, "expired"),
        (revoked, "was revoked"),
        (forged, "was not signed by this server"),
        ("rubbish".to_owned(), "cannot be read"),
    ]
}

async fn status(request: reqwest::RequestBuilder, token: &str) -> u16 {
    request.bearer_auth(token).send().await.unwrap().status().as_u16()
}

async fn call(server: &Server, path: &str, token: &str, tool: &str, arguments: Value) -> Value {
    let request = http().post(server.url(path)).bearer_auth(token);
    let params = json!({ "name": tool, "arguments": arguments });
    let response = mcp_headers(request, "tools/call", params).send().await.unwrap();
    assert_eq!(response.status(), 200, "{path} {tool}");
    response.json::<Value>().await.unwrap()["result"].take()
}

#[tokio::test]
async fn every_transport_reads_what_is_open_with_any_token() {
    let folder = Folder::new();
    let tokens = tokens(&folder);
    let server = Server::start(folder.path(), &[]);
    for (token, wrong) in &tokens {
        let get = |path: &str| http().get(server.url(path));
        for path in
            ["/v1/quotes?tickers=BTCUSDT", "/stream/klines?symbol=BTCUSDT&interval=1s", "/symbols"]
        {
            assert_eq!(status(get(path), token).await, 200, "{path} {wrong}");
        }
        let question = json!({ "input": { "messages": [{ "role": "user", "content": "SBER" }] } });
        let ask = http().post(server.url("/a2a/analyst")).json(&question);
        assert_eq!(status(ask, token).await, 200, "a2a {wrong}");
        let mut upgrade = format!("ws://{}/ws", server.address()).into_client_request().unwrap();
        let protocols = format!("stoa.v1, bearer.{token}");
        upgrade.headers_mut().insert("sec-websocket-protocol", protocols.parse().unwrap());
        assert!(tokio_tungstenite::connect_async(upgrade).await.is_ok(), "websocket {wrong}");
        for path in ["/mcp", "/mcp/quotes"] {
            let arguments = serde_json::from_str(QUOTE).unwrap();
            let result = call(&server, path, token, "quotes.live", arguments).await;
            assert_eq!(result["isError"], false, "{path} {wrong} {result}");
        }
        let result = call(&server, "/mcp", token, "arkiver_query_insights", json!({})).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && text.contains(wrong), "{wrong} {text}");
    }
    let (token, _) = tokens.iter().find(|(_, wrong)| *wrong == "expired").unwrap();
    // A body over 64 KiB is read as that of a client without a token.
    let long = json!({ "symbol": "BTCUSDT", "interval": "1h", "padding": "x".repeat(70_000) });
    let large = || http().post(server.url("/indicators")).json(&long);
    let without = large().send().await.unwrap().status().as_u16();
    assert_eq!(status(large(), token).await, without);
    let task = http().get(server.url("/a2a/rest/tasks/0198a5b0-0000-7000-8000-000000000000"));
    let task = task.header("a2a-version", "1.0");
    let lost = task.try_clone().unwrap().send().await.unwrap().status().as_u16();
    assert_eq!((lost, status(task, token).await), (404, 401), "a task may be the token's own");
}

#[test]
fn commands_read_what_is_open_with_any_token() {
    let folder = Folder::new();
    for (token, wrong) in tokens(&folder) {
        let with = |args: &[&str]| run(stoa(folder.path()).args(args).env("STOA_TOKEN", &token));
        let (code, out, err) = with(&["call", "quotes.live", QUOTE, "--text"]);
        assert!(code == 0 && out.starts_with("BTCUSDT "), "{wrong} {err}");
        let (code, _, err) = with(&["call", "arkiver_query_insights"]);
        // A valid token for other services leaves the caller the local user of the archive.
        let valid = wrong == "needs the scope" || wrong.starts_with("limited to");
        assert!(if valid { code == 0 } else { code != 0 && err.contains(wrong) }, "{wrong} {err}");
        let mut pipes = Pipes::start_with(folder.path(), &[("STOA_TOKEN", &token)]);
        let call = json!({ "name": "quotes_live", "arguments": { "tickers": ["BTCUSDT"] } });
        pipes.initialize();
        let result = pipes.call(1, &call);
        assert_eq!(result["isError"], false, "{wrong} {result}");
    }
}
