//! A login with the tool `auth` in a chat: it holds for its own session and for no other.

use std::io::Write as _;
use std::net::IpAddr;
use std::path::Path;
use std::process::Stdio;

use reqwest::{Client, Response};
use serde_json::{Value, json};

use crate::process::{Folder, Pipes, Server, http, mcp_headers, run, stoa};

const WHO: (&str, &str) = ("ada", "a long enough secret");

fn auth(action: &str) -> Value {
    let (username, password) = WHO;
    let arguments = match action {
        "logout" => json!({ "action": action }),
        _ => json!({ "action": action, "username": username, "password": password }),
    };
    json!({ "name": "auth", "arguments": arguments })
}

fn insights() -> Value {
    json!({ "name": "arkiver_query_insights", "arguments": {} })
}

/// The text of the last block: what a model reads last.
fn said(result: &Value) -> &str {
    let blocks = result["content"].as_array().unwrap_or_else(|| panic!("{result}"));
    blocks.last().unwrap()["text"].as_str().unwrap()
}

/// The session keeps the login, so that no text shows a token.
#[track_caller]
fn logged_in(result: &Value) {
    assert!(said(result).starts_with("This session is logged in"), "{result}");
    let text = result["content"].to_string();
    let content = &result["structuredContent"];
    for secret in ["token", "refreshToken"] {
        let secret = content[secret].as_str().unwrap_or_else(|| panic!("{result}"));
        assert!(!text.contains(secret) && !text.contains("stoa1_"), "{text}");
    }
}

#[track_caller]
fn opened(result: &Value) {
    assert_eq!(result["structuredContent"]["total"], 0, "{result}");
}

#[track_caller]
fn refused(result: &Value, word: &str) {
    assert_eq!(result["isError"], true, "{result}");
    assert!(said(result).contains(word), "{word}: {result}");
}

#[test]
fn a_login_over_stdio_holds_until_the_logout() {
    let folder = Folder::new();
    let mut pipes = Pipes::start(folder.path());
    pipes.initialize();
    let mut id = 0;
    let mut call = |params: Value| {
        id += 1;
        pipes.call(id, &params)
    };
    // Without a login the session is of the local user, whose file no other user sees.
    let add = json!({ "filename": "a.txt", "content": "On May 1, 2024 the court ruled." });
    let added = call(json!({ "name": "arkiver_add_file", "arguments": add }));
    assert_eq!(added["structuredContent"]["status"], "uploaded", "{added}");
    let files = json!({ "name": "arkiver_list_files", "arguments": {} });
    assert_eq!(call(files.clone())["structuredContent"]["total"], 1);
    logged_in(&call(auth("register")));
    assert_eq!(call(files.clone())["structuredContent"]["total"], 0);
    call(auth("logout"));
    assert_eq!(call(files.clone())["structuredContent"]["total"], 1);
    call(auth("login"));
    opened(&call(insights()));
    let (code, _, err) = password(folder.path());
    assert_eq!(code, 0, "{err}");
    refused(&call(insights()), "the session has ended; log in again");
}

fn password(data: &Path) -> (i32, String, String) {
    let mut command = stoa(data);
    command.args(["user", "password", WHO.0]).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"another long secret").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// A session of protocol 2025.
struct Session<'a> {
    server: &'a Server,
    id: String,
}

impl<'a> Session<'a> {
    async fn open(server: &'a Server) -> Self {
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "it", "version": "1" } } });
        let request = http().post(server.url("/mcp")).json(&body);
        let request = request.header("accept", "application/json, text/event-stream");
        let response = request.send().await.unwrap();
        let id = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let session = Self { server, id };
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        session.post(&http(), &initialized).await;
        session
    }

    async fn post(&self, client: &Client, body: &Value) -> Response {
        let request = client.post(self.server.url("/mcp")).json(body);
        let request = request.header("accept", "application/json, text/event-stream");
        let request = request.header("mcp-protocol-version", "2025-11-25");
        let request = request.header("mcp-session-id", &self.id);
        request.send().await.unwrap()
    }

    async fn call(&self, params: Value) -> Value {
        self.call_from(&http(), params).await
    }

    async fn call_from(&self, client: &Client, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let text = self.post(client, &body).await.text().await.unwrap();
        // An answer is one JSON object, or the last event of a stream.
        let mut events = text.lines().rev().filter_map(|line| line.strip_prefix("data:"));
        let message = events.find(|data| data.contains('{')).unwrap_or(&text);
        let mut message: Value = serde_json::from_str(message).unwrap_or_else(|_| panic!("{text}"));
        message["result"].take()
    }
}

#[tokio::test]
async fn a_login_in_a_session_is_of_no_other_session_and_no_other_address() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let (ours, other) = (Session::open(&server).await, Session::open(&server).await);
    refused(&ours.call(insights()).await, "log in with the tool arkiver_auth");
    logged_in(&ours.call(auth("register")).await);
    opened(&ours.call(insights()).await);
    refused(&other.call(insights()).await, "log in with the tool arkiver_auth");
    let elsewhere = Client::builder().local_address(IpAddr::from([127, 0, 0, 9]));
    let elsewhere = elsewhere.pool_max_idle_per_host(0).build().unwrap();
    refused(&ours.call_from(&elsewhere, insights()).await, "log in with the tool arkiver_auth");
    let stateless = async |params: Value| {
        let request = mcp_headers(http().post(server.url("/mcp")), "tools/call", params);
        request.send().await.unwrap().json::<Value>().await.unwrap()["result"].take()
    };
    let told = stateless(auth("login")).await;
    assert!(said(&told).contains("auth.token in _meta"), "{told}");
    let token = told["structuredContent"]["token"].as_str().unwrap();
    assert!(told["content"][0]["text"].as_str().unwrap().contains(token), "{told}");
    refused(&stateless(insights()).await, "log in with the tool arkiver_auth");
    let token = &told["structuredContent"]["token"];
    let mut params = insights();
    params["_meta"] = json!({ "auth": { "token": token } });
    opened(&stateless(params).await);
    ours.call(auth("logout")).await;
    refused(&ours.call(insights()).await, "log in with the tool arkiver_auth");
    // The same session logs in again, and its end ends the login.
    ours.call(auth("login")).await;
    opened(&ours.call(insights()).await);
    let end = http().delete(server.url("/mcp")).header("mcp-session-id", &ours.id);
    assert!(end.send().await.unwrap().status().is_success());
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(ours.post(&http(), &ping).await.status(), 404);
}

#[tokio::test]
async fn a_token_for_a_user_speaks_for_the_user_until_the_user_is_removed() {
    let folder = Folder::new();
    let mut add = stoa(folder.path());
    add.args(["user", "add", WHO.0]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut add = add.spawn().unwrap();
    add.stdin.take().unwrap().write_all(WHO.1.as_bytes()).unwrap();
    assert!(add.wait().unwrap().success());
    let with =
        |args: &[&str], token: &str| run(stoa(folder.path()).args(args).env("STOA_TOKEN", token));
    let (code, token, err) = run(stoa(folder.path()).args(["token", "mint", "--user", "ADA"]));
    assert_eq!(code, 0, "{err}");
    let token = token.trim();
    let (_, listed, _) = run(stoa(folder.path()).args(["token", "list"]));
    assert!(listed.contains("  user ADA  until ") && listed.contains("  read,write"), "{listed}");
    // The file that the token uploads is the user's own.
    let server = Server::start(folder.path(), &[]);
    let form = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
                Content-Type: text/plain\r\n\r\nOn May 1, 2024 the court ruled.\r\n--x--\r\n";
    let upload = http().post(server.url("/api/arkiver/upload")).bearer_auth(token);
    let upload = upload.header("content-type", "multipart/form-data; boundary=x").body(form);
    let uploaded: Value = upload.send().await.unwrap().json().await.unwrap();
    let file = uploaded["fileId"].as_str().unwrap_or_else(|| panic!("{uploaded}"));
    let login = http().post(server.url("/api/arkiver/auth")).json(&auth("login")["arguments"]);
    let login: Value = login.send().await.unwrap().json().await.unwrap();
    for token in [token, login["token"].as_str().unwrap_or_else(|| panic!("{login}"))] {
        let listed = http().get(server.url("/api/arkiver/files")).bearer_auth(token);
        let listed = listed.send().await.unwrap().text().await.unwrap();
        assert!(listed.contains(file), "both are the same user: {listed}");
    }
    drop(server);
    opened(&Pipes::start_and_call(folder.path(), token, &insights()));
    let (code, _, err) = with(&["call", "arkiver_query_insights"], token);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = with(&["call", "quotes.live", r#"{"tickers":["BTCUSDT"]}"#], token);
    assert_eq!(code, 0, "{out}{err}");
    let (_, _, err) = with(&["call", "list_proposals"], token);
    assert!(err.contains("limited to other services than optimizer"), "{err}");
    let (code, _, err) = run(stoa(folder.path()).args(["user", "remove", "ada"]));
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = with(&["call", "arkiver_query_insights"], token);
    assert!(code != 0 && err.contains("the session has ended"), "{err}");
}
