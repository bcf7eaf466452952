//! Attacks on the sessions of the older MCP protocol: floods of new sessions, and sessions of others.

use std::net::IpAddr;

use futures_util::stream::{self, StreamExt as _};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::pricing_path::mint;
use crate::process::{Folder, Server, http};

const OPERATOR: &str = "a-token-of-the-operator";

fn client_at(last: u8) -> Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = Client::builder().local_address(IpAddr::from([127, 0, 0, last]));
    builder.pool_max_idle_per_host(0).build().unwrap()
}

fn message(request: RequestBuilder, token: Option<&str>, body: &Value) -> RequestBuilder {
    let request = request.header("accept", "application/json, text/event-stream").json(body);
    match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    }
}

/// The status of an `initialize`, and the session that it opened.
async fn open(client: &Client, url: &str, token: Option<&str>) -> (u16, Option<String>, String) {
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "it", "version": "1" } } });
    let response = message(client.post(url), token, &body).send().await.unwrap();
    let status = response.status().as_u16();
    let id = response.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
    let wait = response.headers().get("retry-after").map(|it| it.to_str().unwrap().to_owned());
    let text = response.text().await.unwrap();
    (status, id, format!("{} {text}", wait.unwrap_or_default()))
}

async fn within(method: Method, url: &str, session: &str, token: Option<&str>) -> u16 {
    let ping = json!({ "jsonrpc": "2.0", "id": 8, "method": "ping" });
    let request = http().request(method.clone(), url).header("mcp-session-id", session);
    let request = request.header("mcp-protocol-version", "2025-11-25");
    let request = match method {
        Method::POST => message(request, token, &ping),
        _ => {
            let request = request.header("accept", "text/event-stream");
            token.map_or(request.try_clone().unwrap(), |token| request.bearer_auth(token))
        }
    };
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn anonymous_clients_neither_end_sessions_of_others_nor_take_their_slots() {
    let folder = Folder::new();
    let settings = [("MCP_HTTP_TOKEN", OPERATOR), ("STOA_RATE_PER_SECOND", "0")];
    let server = Server::start(folder.path(), &settings);
    let url = server.url("/mcp/archive");
    let (status, session, _) = open(&http(), &url, Some(OPERATOR)).await;
    let session = session.unwrap_or_else(|| panic!("{status}"));
    for last in [2, 3] {
        let stranger = client_at(last);
        let opened = stream::iter(0..550).map(|_| open(&stranger, &url, None));
        let opened: Vec<_> = opened.buffer_unordered(16).collect().await;
        assert!(opened.iter().all(|(status, _, _)| *status == 200), "each ends its own");
    }
    assert_eq!(within(Method::POST, &url, &session, Some(OPERATOR)).await, 200);
    let (status, _, told) = open(&client_at(4), &url, None).await;
    assert_eq!(status, 503, "{told}");
    assert!(told.starts_with("30 {") && told.contains("\"code\":503"), "{told}");
    assert!(told.contains("\"id\":7") && told.contains("retry_after_s"), "{told}");
    let (status, _, told) = open(&http(), &url, Some(OPERATOR)).await;
    assert_eq!(status, 200, "{told}");
    assert_eq!(within(Method::POST, &url, &session, Some(OPERATOR)).await, 200);
}

#[tokio::test]
async fn initialize_is_within_the_rate_of_its_client() {
    let folder = Folder::new();
    let settings = [("STOA_RATE_BURST", "5"), ("STOA_RATE_PER_SECOND", "0.01")];
    let server = Server::start(folder.path(), &settings);
    let url = server.url("/mcp");
    for _ in 0..5 {
        assert_eq!(open(&http(), &url, None).await.0, 200);
    }
    let (status, session, told) = open(&http(), &url, None).await;
    assert_eq!((status, session), (429, None), "{told}");
    assert!(told.contains("\"code\":429"), "{told}");
    assert_eq!(open(&client_at(2), &url, None).await.0, 200, "another client has its own rate");
}

#[tokio::test]
async fn a_session_is_used_by_the_subject_that_opened_it() {
    let folder = Folder::new();
    let token = |who: &str| mint(folder.path(), &["--scope", "read,write", "--subject", who]);
    let (ann, bob) = (token("ann"), token("bob"));
    let server = Server::start(folder.path(), &[]);
    for path in ["/mcp", "/mcp/archive"] {
        let url = server.url(path);
        let (_, session, told) = open(&http(), &url, Some(&ann)).await;
        let session = session.unwrap_or_else(|| panic!("{told}"));
        for other in [Some(bob.as_str()), Some("rubbish"), None] {
            for method in [Method::POST, Method::GET, Method::DELETE] {
                let status = within(method.clone(), &url, &session, other).await;
                assert_eq!(status, 404, "{path} {method} {other:?}");
            }
        }
        for (method, expected) in
            [(Method::POST, 200), (Method::GET, 200), (Method::DELETE, 204), (Method::POST, 404)]
        {
            let status = within(method.clone(), &url, &session, Some(&ann)).await;
            assert_eq!(status, expected, "{path} {method}");
        }
        let (_, session, _) = open(&http(), &url, None).await;
        let session = session.unwrap();
        assert_eq!(within(Method::DELETE, &url, &session, Some(&ann)).await, 404, "{path}");
        assert_eq!(within(Method::POST, &url, &session, None).await, 200, "{path}");
    }
}
