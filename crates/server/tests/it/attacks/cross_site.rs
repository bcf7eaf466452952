//! Requests that a page of another site makes a browser send: they are refused before they change
//! or compute anything.

use serde_json::{Value, json};

use crate::process::{Folder, Server, http};

const OURS: &str = "https://app.example";

struct ForeignPage<'a> {
    server: &'a Server,
    origin: Option<&'a str>,
}

impl ForeignPage<'_> {
    async fn post(&self, path: &str, kind: &str, body: &Value) -> (u16, Value) {
        let mut request = http().post(self.server.url(path)).header("a2a-version", "1.0");
        if let Some(origin) = self.origin {
            request = request.header("origin", origin);
        }
        if !kind.is_empty() {
            request = request.header("content-type", kind);
        }
        let response = request.body(body.to_string()).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }
}

fn register(name: &str) -> Value {
    json!({ "action": "register", "username": name, "password": "password123" })
}

#[tokio::test]
async fn a_page_of_another_site_cannot_register_or_ask() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("MCP_CORS_ORIGINS", OURS)]);
    let own = server.base.clone();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "ListTasks" });
    for (at, (origin, expected)) in [
        (None, 200),
        (Some(OURS), 200),
        (Some(own.as_str()), 200),
        (Some("http://evil.example"), 403),
        (Some("http://localhost:5173"), 403),
        (Some("null"), 403),
    ]
    .into_iter()
    .enumerate()
    {
        let page = ForeignPage { server: &server, origin };
        let json = "application/json; charset=utf-8";
        let (status, body) =
            page.post("/api/arkiver/auth", json, &register(&format!("user{at}"))).await;
        assert_eq!(status, expected, "{origin:?}: {body}");
        let (status, told) = page.post("/a2a", json, &list).await;
        assert_eq!(status, expected, "{origin:?}: {told}");
        if expected == 403 {
            assert_eq!(body["error"]["code"], "AUTHORIZATION_FAILED", "the contract's own: {body}");
            assert_eq!((&told["jsonrpc"], &told["error"]["code"]), (&json!("2.0"), &json!(-32000)));
        }
    }
}

#[tokio::test]
async fn a_body_must_say_that_it_is_json() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let page = ForeignPage { server: &server, origin: None };
    let question = json!({ "symbol": "BTCUSDT", "interval": "1h", "windows": {} });
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        for (path, body) in [
            ("/api/arkiver/auth", register("mallory")),
            ("/indicators", question.clone()),
            ("/a2a", json!({ "jsonrpc": "2.0", "id": 1, "method": "ListTasks" })),
        ] {
            let (status, told) = page.post(path, kind, &body).await;
            assert_eq!(status, 415, "{path} {kind}: {told}");
            assert!(told["error"].is_object() || told["error"].is_string(), "{path}: {told}");
        }
    }
    let (status, told) = page.post("/api/arkiver/auth", "application/json", &register("ann")).await;
    assert_eq!(status, 200, "{told}");
}
