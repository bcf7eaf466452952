//! Streamable HTTP over a real socket: both protocol versions, views and refusals.

use std::net::SocketAddr;

use contract::View;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use transport_http::MountedRoutes;
use transport_mcp::{HttpOptions, ServerOptions, router};

use crate::client::HttpClient;
use crate::fixture::{HandlerEvent, ServiceProbe, pipeline};

pub(crate) struct TestServer {
    address: SocketAddr,
    pub(crate) probe: ServiceProbe,
    /// Dropped with the test, which stops the server.
    _serving: tokio::task::JoinSet<()>,
}

impl TestServer {
    pub(crate) async fn open(view: View, page_size: usize) -> Self {
        Self::with_options(view, page_size, &HttpOptions::default()).await
    }

    pub(crate) async fn with_options(view: View, page_size: usize, options: &HttpOptions) -> Self {
        let (pipeline, probe) = pipeline();
        let server = ServerOptions { page_size, ..ServerOptions::http("9.9.9") };
        let (address, serving) = serve(router(&pipeline, &view, &server, options)).await;
        Self { address, probe, _serving: serving }
    }

    pub(crate) async fn all() -> Self {
        Self::open(View::default(), 50).await
    }

    pub(crate) fn at(&self, path: &str) -> HttpClient {
        HttpClient::new(self.address, path)
    }
}

/// Serves on its own port until the returned set is dropped.
pub(crate) async fn serve(routes: MountedRoutes) -> (SocketAddr, tokio::task::JoinSet<()>) {
    let router = routes.into_router();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = tokio::task::JoinSet::new();
    serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, serving)
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

const ALL: [&str; 4] = ["quotes_live", "quotes_historical", "system_health", "system_metadata"];
/// Without the operator tools, which are listed on request.
const SAFE: [&str; 2] = ["quotes_live", "quotes_historical"];

#[tokio::test]
async fn both_protocols_list_the_same_tools_in_contract_order() {
    let server = TestServer::all().await;
    let modern = server.at("/mcp").modern("tools/list", json!({})).await.message();
    let (session, hello) = server.at("/mcp").legacy().await;
    let legacy = session.in_session("tools/list", json!({})).await.message();
    assert_eq!(names(&modern), SAFE);
    assert_eq!(modern["result"]["tools"], legacy["result"]["tools"]);
    assert_eq!(modern["result"]["cacheScope"], "public");
    assert!(modern["result"]["ttlMs"].as_u64().unwrap() > 0);
    assert_eq!(hello["serverInfo"]["name"], "stoa");
    assert_eq!(hello["serverInfo"]["version"], "9.9.9");
    assert!(hello["instructions"].as_str().unwrap().contains("quotes_live"));
}

#[tokio::test]
async fn a_listed_tool_carries_the_contracts_schemas_as_written() {
    let server = TestServer::all().await;
    let listed = server.at("/mcp").modern("tools/list", json!({})).await.message();
    let tool = &listed["result"]["tools"][1];
    let order: Vec<&String> =
        tool["inputSchema"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(order, ["tickers", "from", "to", "interval", "page", "page_size"]);
    assert_eq!(tool["outputSchema"]["required"][0], "items");
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    assert_eq!(tool["title"], "Historical bars");
}

#[tokio::test]
async fn the_endpoint_of_a_service_lists_the_contract_s_names() {
    let server = TestServer::all().await;
    let listed = server.at("/mcp/quotes").modern("tools/list", json!({})).await.message();
    assert_eq!(names(&listed)[0], "quotes.live");
    let unknown = server.at("/mcp/qoutes").modern("tools/list", json!({})).await;
    assert_eq!((unknown.status, unknown.message()["services"][0].as_str()), (404, Some("quotes")));
}

#[track_caller]
fn check_quotes(answer: &Value, tickers: &[&str]) {
    let result = &answer["result"];
    assert_ne!(result["isError"], true, "{answer}");
    let quotes = result["structuredContent"]["quotes"].as_array().unwrap();
    let seen: Vec<&str> = quotes.iter().map(|quote| quote["ticker"].as_str().unwrap()).collect();
    assert_eq!(seen, tickers);
    assert_eq!(result["content"][0]["text"], format!("{} quotes", tickers.len()));
    assert_eq!(result["_meta"]["stoa/source"], "double");
}

#[tokio::test]
async fn both_spellings_are_callable_in_both_protocols() {
    let server = TestServer::all().await;
    for path in ["/mcp", "/mcp/", "/mcp/quotes"] {
        let (session, _) = server.at(path).legacy().await;
        for name in ["quotes_live", "quotes.live"] {
            let call = json!({ "name": name, "arguments": { "tickers": ["A", "B"] } });
            let modern = server.at(path).modern("tools/call", call.clone()).await;
            assert_eq!(modern.header("content-type"), Some("application/json"));
            check_quotes(&modern.message(), &["A", "B"]);
            check_quotes(&session.in_session("tools/call", call).await.message(), &["A", "B"]);
        }
    }
}

#[tokio::test]
async fn a_call_without_arguments_has_an_empty_object() {
    let server = TestServer::all().await;
    let answer = server.at("/mcp").modern("tools/call", json!({ "name": "system_health" })).await;
    assert_eq!(answer.message()["result"]["structuredContent"]["status"], "ok");
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_that_names_near_ones() {
    let server = TestServer::all().await;
    let call = json!({ "name": "quotes_latest", "arguments": {} });
    let answer = server.at("/mcp").modern("tools/call", call).await;
    let error = &answer.message()["error"];
    assert_eq!(error["code"], -32602);
    assert!(error["message"].as_str().unwrap().contains("quotes_live"), "{error}");
}

/// Calls a tool and returns the error envelope.
async fn failure(client: &HttpClient, name: &str, arguments: Value) -> Value {
    let call = json!({ "name": name, "arguments": arguments });
    let answer = client.modern("tools/call", call).await.message();
    let result = &answer["result"];
    assert_eq!(result["isError"], true, "{answer}");
    assert!(result.get("structuredContent").is_none());
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn failures_are_results_in_the_contract_s_envelope() {
    let server = TestServer::all().await;
    let client = server.at("/mcp");
    let bad = failure(&client, "quotes_live", json!({ "tickers": "A" })).await;
    assert_eq!(bad["type"], "VALIDATION_ERROR");
    let token = client.with("authorization", "Bearer bad");
    let unknown = failure(&token, "quotes_live", json!({ "tickers": ["A"] })).await;
    assert_eq!(unknown["type"], "UNAUTHENTICATED");
    let range =
        json!({ "tickers": ["A"], "from": "2026-01-01", "to": "2026-01-02", "interval": "1d" });
    assert_eq!(failure(&client, "quotes_historical", range).await["type"], "FORBIDDEN");
}

#[tokio::test]
async fn the_bearer_header_is_the_credential() {
    let server = TestServer::all().await;
    let call = json!({ "name": "quotes_live", "arguments": { "tickers": ["A"] } });
    let client = server.at("/mcp").with("authorization", "Bearer ada");
    let (session, _) = client.legacy().await;
    for answer in [
        client.modern("tools/call", call.clone()).await,
        session.in_session("tools/call", call).await,
    ] {
        let quotes = &answer.message()["result"]["structuredContent"]["quotes"];
        assert_eq!(quotes[0]["currency"], "ada");
    }
}

#[tokio::test]
async fn a_token_in_the_call_overrides_the_header() {
    let server = TestServer::all().await;
    let call = |token: Value| {
        json!({ "name": "quotes_live", "arguments": { "tickers": ["A"] },
            "_meta": { "auth": { "token": token } } })
    };
    let plain = server.at("/mcp");
    let headed = plain.with("authorization", "Bearer ada");
    for client in [&plain, &headed] {
        let (session, _) = client.legacy().await;
        for answer in [
            client.modern("tools/call", call(json!("bob"))).await,
            session.in_session("tools/call", call(json!("bob"))).await,
        ] {
            let quotes = &answer.message()["result"]["structuredContent"]["quotes"];
            assert_eq!(quotes[0]["currency"], "bob");
        }
        let answer = client.modern("tools/call", call(json!("bad"))).await.message();
        assert_eq!(answer["result"]["isError"], true, "a bad one is not replaced by the header");
    }
}

#[tokio::test]
async fn pages_follow_each_other_and_foreign_cursors_are_refused() {
    let server = TestServer::open(View::default(), 1).await;
    let client = server.at("/mcp");
    let first = client.modern("tools/list", json!({})).await.message();
    let cursor = first["result"]["nextCursor"].as_str().unwrap();
    let second = client.modern("tools/list", json!({ "cursor": cursor })).await.message();
    assert_eq!([names(&first), names(&second)].concat(), SAFE);
    assert!(second["result"].get("nextCursor").is_none());
    let bad = client.modern("tools/list", json!({ "cursor": "bm9uc2Vuc2U" })).await.message();
    assert_eq!(bad["error"]["code"], -32602);
    let other = client.modern("resources/list", json!({ "cursor": cursor })).await.message();
    assert_eq!(other["error"]["code"], -32602);
}

/// Checks which tools a header lists, and whether it leaves `system_health` callable.
async fn check_narrowed(
    server: &TestServer,
    path: &str,
    header: (&str, &str),
    left: &[&str],
    is_callable: bool,
) {
    let client = server.at(path).with(header.0, header.1);
    let listed = client.modern("tools/list", json!({})).await.message();
    assert_eq!(names(&listed), left, "{header:?} at {path}");
    assert_eq!(listed["result"]["cacheScope"], "private");
    let call = json!({ "name": "system_health", "arguments": {} });
    let called = client.modern("tools/call", call).await.message();
    assert_eq!(called["error"]["code"] == json!(-32602), !is_callable, "{header:?}: {called}");
    let read = client.modern("resources/list", json!({})).await.message();
    assert_eq!(read["result"]["resources"].as_array().unwrap().is_empty(), left.is_empty());
}

#[tokio::test]
async fn headers_narrow_what_is_listed_and_callable() {
    let server = TestServer::all().await;
    let live = &["quotes_live"];
    check_narrowed(&server, "/mcp", ("x-stoa-tools", "quotes_live"), live, false).await;
    check_narrowed(&server, "/mcp", ("x-stoa-tools", "quotes.live"), live, false).await;
    let header = ("x-stoa-tools", "quotes_live");
    check_narrowed(&server, "/mcp/quotes", header, &["quotes.live"], false).await;
    check_narrowed(&server, "/mcp", ("x-stoa-services", "moex"), &[], false).await;
    check_narrowed(&server, "/mcp", ("x-stoa-read-only", "true"), &SAFE, true).await;
}

#[tokio::test]
async fn operator_tools_are_listed_where_they_are_asked_for() {
    let server = TestServer::all().await;
    check_narrowed(&server, "/mcp", ("x-stoa-services", "quotes, moex"), &ALL, true).await;
    let health = &["system_health"];
    check_narrowed(&server, "/mcp", ("x-stoa-tools", "system.health"), health, true).await;
    let listed = server.at("/mcp/quotes").modern("tools/list", json!({})).await.message();
    assert_eq!(names(&listed).len(), ALL.len());
    let view = View { services: Some(vec!["quotes".to_owned()]), ..View::default() };
    let asked = TestServer::open(view, 50).await;
    let listed = asked.at("/mcp").modern("tools/list", json!({})).await.message();
    assert_eq!(names(&listed), ALL);
}

#[tokio::test]
async fn hosts_get_the_host_form_and_one_service_alone_the_exact_one() {
    let server = TestServer::all().await;
    let listed = server.at("/mcp").modern("tools/list", json!({})).await.message();
    let host = &listed["result"]["tools"][0];
    assert!(host["inputSchema"].get("additionalProperties").is_none(), "{host}");
    let listed = server.at("/mcp/quotes").modern("tools/list", json!({})).await.message();
    let exact = &listed["result"]["tools"][0];
    assert_eq!(exact["inputSchema"]["additionalProperties"], false);
    assert_ne!(host["description"], exact["description"]);
    // The exact schema validates at both.
    let call = json!({ "name": "quotes_live", "arguments": { "tickers": ["A"], "limit": 5 } });
    let answer = server.at("/mcp").modern("tools/call", call).await.message();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}

#[tokio::test]
async fn a_header_cannot_widen_the_servers_own_view() {
    let view = View { tools: Some(vec!["quotes.live".to_owned()]), ..View::default() };
    let server = TestServer::open(view, 50).await;
    let client = server.at("/mcp").with("x-stoa-tools", "quotes_live,system_health");
    let listed = client.modern("tools/list", json!({})).await.message();
    assert_eq!(names(&listed), ["quotes_live"]);
    let call = json!({ "name": "system_health", "arguments": {} });
    let called = server.at("/mcp").modern("tools/call", call).await.message();
    assert_eq!(called["error"]["code"], -32602);
}

#[tokio::test]
async fn contracts_and_documents_are_resources() {
    let server = TestServer::all().await;
    let client = server.at("/mcp");
    let listed = client.modern("resources/list", json!({})).await.message();
    let listed = listed["result"]["resources"].as_array().unwrap();
    let uris: Vec<&str> = listed.iter().map(|it| it["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["stoa://quotes/contract", "stoa://quotes/manifest"]);
    for uri in uris {
        let read = client.modern("resources/read", json!({ "uri": uri })).await.message();
        let contents = &read["result"]["contents"][0];
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&json!(uri), &json!("application/json"))
        );
        serde_json::from_str::<Value>(contents["text"].as_str().unwrap()).unwrap();
    }
}

#[tokio::test]
async fn a_missing_resource_has_the_error_of_each_protocol() {
    let server = TestServer::all().await;
    let ask = json!({ "uri": "stoa://quotes/nothing" });
    let modern = server.at("/mcp").modern("resources/read", ask.clone()).await.message();
    assert_eq!((&modern["error"]["code"], &modern["error"]["data"]), (&json!(-32602), &ask));
    let (session, _) = server.at("/mcp").legacy().await;
    let legacy = session.in_session("resources/read", ask).await.message();
    assert_eq!(legacy["error"]["code"], -32002);
}

#[tokio::test]
async fn methods_of_undeclared_capabilities_do_not_exist() {
    let server = TestServer::all().await;
    let (session, _) = server.at("/mcp").legacy().await;
    for method in ["roots/list", "no/such"] {
        let answer = server.at("/mcp").modern(method, json!({ "level": "info" })).await;
        assert_eq!(
            (answer.status, &answer.message()["error"]["code"]),
            (404, &json!(-32601)),
            "{method}"
        );
        let legacy = session.in_session(method, json!({ "level": "info" })).await;
        assert_eq!(legacy.message()["error"]["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn progress_comes_before_the_answer() {
    let server = TestServer::all().await;
    let call = json!({ "name": "quotes_live", "arguments": { "tickers": ["STEPS"] }, "_meta": { "progressToken": "p-1" } });
    let (session, _) = server.at("/mcp").legacy().await;
    let modern = server.at("/mcp").modern("tools/call", call.clone()).await;
    for answer in [modern, session.in_session("tools/call", call).await] {
        let messages = answer.messages();
        let (last, reports) = messages.split_last().unwrap();
        let seen: Vec<f64> =
            reports.iter().map(|it| it["params"]["progress"].as_f64().unwrap()).collect();
        assert_eq!(seen, [1.0, 2.0, 3.0]);
        assert!(reports.iter().all(|it| it["params"]["progressToken"] == "p-1"));
        check_quotes(last, &["STEPS"]);
    }
}

#[tokio::test]
async fn an_event_without_data_goes_only_to_clients_that_know_it() {
    let server = TestServer::all().await;
    let (session, _) = server.at("/mcp").legacy().await;
    for (version, expected) in [("2025-11-25", true), ("2025-06-18", false), ("2025-03-26", false)]
    {
        let mut session = session.clone();
        for (name, value) in &mut session.headers {
            if name == "mcp-protocol-version" {
                version.clone_into(value);
            }
        }
        let answer = session.in_session("tools/list", json!({})).await;
        let is_empty = |line: &str| line.trim() == "data:";
        assert_eq!(answer.body.lines().any(is_empty), expected, "{version}: {}", answer.body);
        assert_eq!(names(&answer.message()), SAFE, "{version}");
    }
}

#[tokio::test]
async fn a_version_with_batches_is_not_offered() {
    let server = TestServer::all().await;
    for (asked, expected) in [("2025-03-26", "2024-11-05"), ("2025-06-18", "2025-06-18")] {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": asked, "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" } } });
        let answer = server.at("/mcp").send("POST", hello.to_string().as_bytes()).await;
        assert_eq!(answer.message()["result"]["protocolVersion"], expected);
    }
}

#[tokio::test]
async fn a_disconnect_cancels_the_handler() {
    let mut server = TestServer::all().await;
    let call = json!({ "name": "quotes_live", "arguments": { "tickers": ["WAIT"] } });
    let client = server.at("/mcp").modern_client("tools/call", &call);
    let socket =
        client.open("POST", crate::client::modern_body("tools/call", call).as_bytes()).await;
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Waiting));
    drop(socket);
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Cancelled));
}

#[tokio::test]
async fn a_cancel_notification_reaches_the_handler_of_a_session() {
    let mut server = TestServer::all().await;
    let (session, _) = server.at("/mcp").legacy().await;
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "quotes_live", "arguments": { "tickers": ["WAIT"] } } });
    let _socket = session.open("POST", call.to_string().as_bytes()).await;
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Waiting));
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    assert_eq!(session.send("POST", cancel.to_string().as_bytes()).await.status, 202);
    assert_eq!(server.probe.events.recv().await, Some(HandlerEvent::Cancelled));
}

#[tokio::test]
async fn a_session_has_a_stream_until_it_is_deleted() {
    let server = TestServer::all().await;
    let (session, _) = server.at("/mcp").legacy().await;
    let mut stream = session.open("GET", b"").await;
    let mut start = [0_u8; 12];
    stream.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    assert_eq!(session.send("DELETE", b"").await.status, 204);
    assert_eq!(session.in_session("tools/list", json!({})).await.status, 404);
    assert_eq!(
        server.at("/mcp").with("mcp-protocol-version", "2026-07-28").send("GET", b"").await.status,
        405
    );
}

#[tokio::test]
async fn pages_of_other_origins_are_refused() {
    let server = TestServer::all().await;
    let ask =
        |client: HttpClient| async move { client.modern("tools/list", json!({})).await.status };
    assert_eq!(ask(server.at("/mcp").with("origin", "https://evil.example")).await, 403);
    assert_eq!(ask(server.at("/mcp").with("origin", "http://localhost:5173")).await, 200);
}

#[tokio::test]
async fn only_named_origins_are_allowed() {
    let options = HttpOptions {
        allowed_origins: vec!["https://app.example".to_owned()],
        ..HttpOptions::default()
    };
    let server = TestServer::with_options(View::default(), 50, &options).await;
    let ask =
        |client: HttpClient| async move { client.modern("tools/list", json!({})).await.status };
    assert_eq!(ask(server.at("/mcp").with("origin", "https://app.example")).await, 200);
    assert_eq!(ask(server.at("/mcp").with("origin", "https://app.example:8443")).await, 403);
}

#[tokio::test]
async fn invalid_bodies_are_refused_and_the_server_continues() {
    let server = TestServer::all().await;
    let client = server.at("/mcp").with("mcp-protocol-version", "2026-07-28");
    for body in [b"{\"jsonrpc\":\"2.0\",\"id\":1,".as_slice(), b"\xff\xfe{}", b"[]", b"{}", b""] {
        let status = client.send("POST", body).await.status;
        assert!((400..500).contains(&status), "{status} for {body:?}");
    }
    let huge = vec![b' '; 5 * 1024 * 1024];
    assert_eq!(client.send("POST", &huge).await.status, 413);
    assert_eq!(names(&server.at("/mcp").modern("tools/list", json!({})).await.message()), SAFE);
}
