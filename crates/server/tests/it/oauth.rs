//! OAuth at the edge of a running server: off unless it is set, and the challenges of the endpoints.
//! `crates/transport-oauth` tests the flow itself, `tests/e2e/oauth_client.py` a real client.

use serde_json::{Value, json};

use crate::process::{Folder, Server, http, mcp_headers, run, stoa};

const CLOSED: (&str, &str) = ("MCP_HTTP_TOKEN", "a-token-of-ours-0123");
const OAUTH: (&str, &str) = ("STOA_OAUTH", "true");

/// The status and the challenge of one MCP request.
async fn ask(
    server: &Server,
    path: &str,
    token: Option<&str>,
    call: Option<&str>,
) -> (u16, String) {
    let mut request = http().post(server.url(path));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let request = match call {
        Some(tool) => mcp_headers(request, "tools/call", json!({ "name": tool, "arguments": {} })),
        None => mcp_headers(request, "resources/list", json!({})),
    };
    let response = request.send().await.unwrap();
    let challenge = response.headers().get("www-authenticate");
    let challenge = challenge.map(|value| value.to_str().unwrap().to_owned());
    (response.status().as_u16(), challenge.unwrap_or_default())
}

#[tokio::test]
async fn it_is_off_unless_it_is_set() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[CLOSED]);
    for path in ["/.well-known/oauth-protected-resource", "/oauth/authorize", "/oauth/register"] {
        let response = http().get(server.url(path)).send().await.unwrap();
        assert_eq!(response.status(), 404, "{path}");
    }
    let (status, challenge) = ask(&server, "/mcp", None, None).await;
    assert_eq!((status, challenge.as_str()), (401, "Bearer realm=\"stoa\""));
}

#[test]
fn passwords_are_typed_only_where_the_address_can_be_trusted() {
    let folder = Folder::new();
    let refused = |settings: &[(&str, &str)], word: &str| {
        let mut command = stoa(folder.path());
        command.args(["serve", "--listen", "0.0.0.0:0"]).envs([CLOSED, OAUTH]);
        let (code, _, err) = run(command.envs(settings.iter().copied()));
        assert!(code == 2 && err.contains(word), "{code} {err}");
    };
    refused(&[], "oauth needs public_url");
    refused(&[("STOA_PUBLIC_URL", "http://stoa.example")], "begins with https://");
    refused(&[("STOA_OAUTH_SCOPES", "read,foo")], "STOA_OAUTH_SCOPES must be a list of scopes");
}

#[tokio::test]
async fn a_challenge_leads_to_the_metadata() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[CLOSED, OAUTH]);
    let metadata = |path: &str| {
        format!("resource_metadata=\"{}/.well-known/oauth-protected-resource{path}\"", server.base)
    };
    let operator = Some(CLOSED.1);
    for (path, token, call, status, expected) in [
        ("/mcp", None, None, 401, ", scope=\"read\""),
        ("/mcp", Some("stoa1_made-up"), None, 401, ", error=\"invalid_token\", scope=\"read\""),
        ("/mcp/quotes", None, None, 401, ", scope=\"read\""),
        ("/mcp/archive", None, Some("arkiver_store_insight"), 401, ", scope=\"write\""),
        (
            "/mcp",
            operator,
            Some("set_kill_switch"),
            403,
            ", error=\"insufficient_scope\", scope=\"admin\"",
        ),
    ] {
        let (got, challenge) = ask(&server, path, token, call).await;
        assert_eq!(got, status, "{path} {token:?} {call:?}");
        assert_eq!(challenge, format!("Bearer realm=\"stoa\", {}{expected}", metadata(path)));
        let address = challenge.split('"').nth(3).unwrap();
        let found: Value = http().get(address).send().await.unwrap().json().await.unwrap();
        assert_eq!(found["resource"], server.url(path));
        assert_eq!(found["scopes_supported"], json!(["read"]));
    }
    assert_eq!(ask(&server, "/mcp/archive", None, Some("auth")).await.0, 200, "it needs no token");
    assert_eq!(ask(&server, "/mcp", operator, Some("system_metadata")).await.0, 200);
}

#[tokio::test]
async fn an_open_server_challenges_only_what_is_closed() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[OAUTH]);
    for token in [None, Some("stoa1_made-up")] {
        assert_eq!(ask(&server, "/mcp", token, None).await.0, 200);
        assert_eq!(ask(&server, "/mcp", token, Some("system_metadata")).await.0, 200);
        assert_eq!(ask(&server, "/mcp", token, Some("arkiver_query_insights")).await.0, 401);
    }
}

/// A page of this server must not make it fetch what is inside its own network.
#[tokio::test]
async fn a_client_document_inside_the_network_is_not_fetched() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[CLOSED, OAUTH]);
    let metadata = http().get(server.url("/.well-known/oauth-authorization-server"));
    let metadata: Value = metadata.send().await.unwrap().json().await.unwrap();
    assert_eq!(metadata["client_id_metadata_document_supported"], true, "{metadata}");
    for id in ["https://localhost/client.json", "https://192.168.1.1/client.json"] {
        let query = [("client_id", id), ("redirect_uri", "http://127.0.0.1/cb")];
        let page = http().get(server.url("/oauth/authorize")).query(&query);
        let page = page.send().await.unwrap();
        assert_eq!(page.status(), 400, "{id}");
        let text = page.text().await.unwrap();
        assert!(text.contains("must be the public https address"), "{id}: {text}");
    }
}
