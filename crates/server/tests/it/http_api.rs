//! The quotes API over plain HTTP: shapes, headers, caching, partial answers.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::process::{Folder, Server, http, mcp_call};

async fn get(server: &Server, path: &str) -> (StatusCode, reqwest::header::HeaderMap, Value) {
    let response = http().get(server.url(path)).send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    (status, headers, response.json().await.unwrap_or(Value::Null))
}

#[tokio::test]
async fn live_quotes_carry_their_age() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let (status, headers, body) = get(&server, "/v1/quotes?tickers=ethusdt,BTCUSDT").await;
    assert_eq!(status, 200);
    let tickers: Vec<&str> = body["quotes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["ticker"].as_str().unwrap())
        .collect();
    assert_eq!(tickers, ["BTCUSDT", "ETHUSDT"]);
    assert_eq!(headers["x-stoa-source"], "simulated:42".split(':').next().unwrap());
    assert_eq!(headers["x-stoa-stale"], "false");
    assert!(headers.contains_key("x-stoa-as-of"));
    assert_eq!(headers["cache-control"], "private, max-age=1");
    let price = body["quotes"][0]["price"].as_str().unwrap();
    assert!(price.parse::<f64>().unwrap() > 0.0, "{price}");
    assert_eq!(body["quotes"][0]["currency"], "USDT");
}

#[tokio::test]
async fn part_of_a_batch_is_206_with_the_missing_named() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let (status, headers, body) =
        get(&server, "/v1/quotes?tickers=BTCUSDT,BTCUSTD,NYSE.IBM,FILE:NONE").await;
    assert_eq!(status, 206);
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(body["quotes"].as_array().unwrap().len(), 1);
    let missing = body["missing"].as_array().unwrap();
    assert_eq!(missing.len(), 3);
    let typo = missing.iter().find(|it| it["ticker"] == "BTCUSTD").unwrap();
    assert!(typo["reason"].as_str().unwrap().contains("did you mean BTCUSDT"), "{typo}");
    assert_eq!(typo["retryable"], false);
}

#[tokio::test]
async fn history_is_complete_ordered_and_paged() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let base =
        "/v1/quotes/historical?tickers=ETHUSDT,BTCUSDT&from=2024-01-01&to=2024-01-31&interval=1d";
    let (status, headers, whole) = get(&server, &format!("{base}&page_size=200")).await;
    assert_eq!(status, 200, "{whole}");
    let items = whole["items"].as_array().unwrap();
    assert_eq!(whole["total"], 62);
    assert_eq!(headers["x-stoa-gaps"], "0");
    assert_eq!(items[0]["ticker"], "BTCUSDT");
    assert_eq!(items[0]["timestamp"], "2024-01-01T00:00:00Z");
    assert_eq!(items[61]["ticker"], "ETHUSDT");
    assert_eq!(items[61]["timestamp"], "2024-01-31T00:00:00Z");
    let mut pages = Vec::new();
    for page in 1..=5 {
        let (_, _, body) = get(&server, &format!("{base}&page={page}&page_size=15")).await;
        assert_eq!(body["total"], 62);
        pages.extend(body["items"].as_array().unwrap().clone());
    }
    assert_eq!(&pages, items);
    let (status, _, beyond) = get(&server, &format!("{base}&page=99999999999999")).await;
    assert_eq!((status.as_u16(), beyond["items"].as_array().unwrap().len()), (200, 0));
}

#[tokio::test]
async fn minute_bars_agree_with_their_day() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let range = "tickers=BTCUSDT&from=2024-03-05&to=2024-03-05";
    let (_, _, day) = get(&server, &format!("/v1/quotes/historical?{range}&interval=1d")).await;
    let (_, _, first) = get(&server, &format!("/v1/quotes/historical?{range}&interval=1m")).await;
    assert_eq!(day["total"], 1);
    assert_eq!(first["total"], 1440);
    assert_eq!(day["items"][0]["open"], first["items"][0]["open"]);
}

#[tokio::test]
async fn a_matching_etag_gives_304() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let path = "/v1/quotes/historical?tickers=BTCUSDT&from=2024-01-01&to=2024-01-05&interval=1d";
    let (_, headers, _) = get(&server, path).await;
    let tag = headers["etag"].clone();
    let client = http();
    let again = client.get(server.url(path)).header("if-none-match", &tag).send().await.unwrap();
    assert_eq!(again.status(), 304);
    assert_eq!(again.headers()["etag"], tag);
    let (_, other, _) = get(&server, &path.replace("2024-01-05", "2024-01-06")).await;
    assert_ne!(other["etag"], tag);
}

#[tokio::test]
async fn request_ids_are_echoed_and_found_in_errors() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let client = http();
    let request = client.get(server.url("/v1/quotes?tickers=NOPE")).header("x-request-id", "abc-1");
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["x-request-id"], "abc-1");
    assert_eq!(response.status(), 404);
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["error"]["trace_id"], "abc-1");
    assert_eq!(body["error"]["type"], "NOT_FOUND");
    assert_eq!(body["error"]["http_code"], "Not Found");
}

#[tokio::test]
async fn operator_and_developer_pages_are_served() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let (_, _, health) = get(&server, "/health").await;
    assert_eq!(health["status"], "ok");
    assert!(health["uptime"].is_u64() && health["version"].is_string());
    let (_, _, openapi) = get(&server, "/openapi.json").await;
    assert_eq!(openapi["openapi"], "3.1.0");
    assert!(openapi["paths"]["/v1/quotes/historical"]["get"]["parameters"].is_array());
    drop(get(&server, "/v1/metadata").await);
    let metrics = http().get(server.url("/metrics")).send().await.unwrap().text().await.unwrap();
    for name in
        ["stoa_tool_calls_total", "stoa_http_requests_total", "stoa_queue_depth", "stoa_build_info"]
    {
        assert!(metrics.contains(name), "{name} is not in the metrics");
    }
    let docs = http().get(server.url("/docs")).send().await.unwrap().text().await.unwrap();
    for name in ["quotes.live", "quotes.historical", "system.health", "system.metadata"] {
        assert!(docs.contains(name), "{name} is not documented");
    }
    for address in ["over MCP at <code>/mcp</code>", "Alone at <code>/mcp/quotes</code>"] {
        assert!(docs.contains(address), "{address} is not in the page");
    }
    let (status, _, body) = get(&server, "/nowhere").await;
    assert_eq!((status.as_u16(), body["error"]["type"].as_str()), (404, Some("NOT_FOUND")));
}

#[tokio::test]
async fn the_manifest_has_the_version_of_the_metadata() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let (_, _, manifest) = get(&server, "/mcp/manifest/mcp.json").await;
    let (_, _, metadata) = get(&server, "/v1/metadata").await;
    assert_eq!(manifest["version"], metadata["mcp_version"]);
    assert_eq!(metadata["max_range_days"], 3660);
    assert_eq!(metadata["supported_intervals"], serde_json::json!(["1d", "1m"]));
}

#[tokio::test]
async fn another_server_can_be_the_upstream_of_the_tools() {
    let (front_folder, back_folder) = (Folder::new(), Folder::new());
    let back = Server::start(back_folder.path(), &[("STOA_SIM_SEED", "7")]);
    let front = Server::start(front_folder.path(), &[("ARCHE_API_URL", &back.base)]);
    let path =
        "/v1/quotes/historical?tickers=BTCUSDT,NOPE&from=2024-01-01&to=2024-01-09&interval=1d";
    let (direct, _, theirs) = get(&back, path).await;
    let (through, headers, ours) = get(&front, path).await;
    assert_eq!((direct, through), (StatusCode::PARTIAL_CONTENT, StatusCode::PARTIAL_CONTENT));
    assert_eq!(theirs, ours);
    assert_eq!(headers["x-stoa-source"], "simulated");
    let (status, _, refused) = get(&front, "/v1/quotes?tickers=NOPE").await;
    assert_eq!((status.as_u16(), refused["error"]["type"].as_str()), (404, Some("NOT_FOUND")));
    back.kill();
    let (status, _, down) = get(&front, "/v1/quotes?tickers=BTCUSDT").await;
    assert_eq!((status.as_u16(), down["error"]["type"].as_str()), (502, Some("UPSTREAM_ERROR")));
    assert_eq!(down["error"]["retryable"], true);
    let (status, _, health) = get(&front, "/v1/health").await;
    assert_eq!((status.as_u16(), health["status"].as_str()), (503, Some("down")));
}

/// An API that answers every request with one status, its own request id and an error of its own
/// shape.
async fn failing_api(status: u16, body: &'static str) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            drop(socket.read(&mut [0; 4096]).await);
            let head = format!(
                "HTTP/1.1 {status} X\r\nx-request-id: api-7\r\nconnection: close\r\n\
                 date: Wed, 21 Oct 2015 07:27:00 GMT\r\n\
                 retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            drop(socket.write_all(head.as_bytes()).await);
        }
    });
    base
}

#[tokio::test]
async fn the_error_of_another_api_is_passed_on_as_it_is() {
    let shaped = r#"{"code":"E_LIMIT","message":"the desk is closed"}"#;
    for (status, kind) in [
        (400, "VALIDATION_ERROR"),
        (401, "UNAUTHENTICATED"),
        (404, "NOT_FOUND"),
        (422, "VALIDATION_ERROR"),
        (429, "RATE_LIMITED"),
        (500, "UPSTREAM_ERROR"),
        (503, "UPSTREAM_ERROR"),
    ] {
        let folder = Folder::new();
        let api = failing_api(status, shaped).await;
        let server = Server::start(folder.path(), &[("ARCHE_API_URL", &api)]);
        let (code, headers, body) = get(&server, "/v1/quotes?tickers=aapl").await;
        let error = &body["error"];
        assert_eq!((code.as_u16(), error["http_status"].as_u64()), (status, Some(status.into())));
        assert_eq!((&error["type"], &error["trace_id"]), (&json!(kind), &json!("api-7")), "{body}");
        assert_eq!(error["message"], "the desk is closed");
        assert_eq!(
            (&headers["retry-after"], error["retry_after_s"].as_f64()),
            (&"60".parse().unwrap(), Some(60.0))
        );
        let answer = mcp_call(&server, "/mcp", "system_health", &json!({})).await;
        let health = &answer["result"]["structuredContent"];
        let expected = json!({ "status": "down", "source_status": status, "request_id": "api-7" });
        assert_eq!(*health, expected);
    }
}

#[tokio::test]
async fn too_many_requests_get_retry_after() {
    let folder = Folder::new();
    let server =
        Server::start(folder.path(), &[("STOA_RATE_BURST", "3"), ("STOA_RATE_PER_SECOND", "0.5")]);
    let mut last = get(&server, "/v1/metadata").await;
    assert!(last.1.contains_key("ratelimit"), "{:?}", last.1);
    for _ in 0..3 {
        last = get(&server, "/v1/metadata").await;
    }
    let (status, headers, body) = last;
    assert_eq!(status, 429);
    assert!(headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
    assert_eq!(body["error"]["type"], "RATE_LIMITED");
    assert_eq!(body["error"]["retryable"], true);
    assert!(body["error"]["retry_after_s"].as_f64().unwrap() > 0.0);
    let refused = http().post(server.url("/mcp")).body("{}").send().await.unwrap();
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    let refused: Value = refused.json().await.unwrap();
    assert_eq!((&refused["jsonrpc"], &refused["error"]["code"]), (&json!("2.0"), &json!(429)));
    assert_eq!(get(&server, "/health").await.0, 200);
}

#[tokio::test]
async fn with_a_token_configured_anonymous_requests_are_refused() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("MCP_HTTP_TOKEN", "sesame-open-7")]);
    let (status, headers, body) = get(&server, "/v1/quotes?tickers=BTCUSDT").await;
    assert_eq!((status.as_u16(), body["error"]["type"].as_str()), (401, Some("UNAUTHENTICATED")));
    assert!(headers.contains_key("www-authenticate"));
    let client = http();
    let ask = |token: &str| {
        client.get(server.url("/v1/quotes?tickers=BTCUSDT")).bearer_auth(token).send()
    };
    assert_eq!(ask("sesame-open-7").await.unwrap().status(), 200);
    let refused = ask("sesame-open-8").await.unwrap();
    assert_eq!(refused.status(), 401);
    assert!(!refused.text().await.unwrap().contains("sesame"));
    let mcp = client.post(server.url("/mcp")).json(&serde_json::json!({})).send().await.unwrap();
    assert_eq!(mcp.status(), 401);
    let (code, token, _) = crate::process::run(
        crate::process::stoa(folder.path()).args(["token", "mint", "--scope", "read"]),
    );
    assert_eq!(code, 0);
    assert_eq!(ask(token.trim()).await.unwrap().status(), 200);
    let (_, write_only, _) = crate::process::run(
        crate::process::stoa(folder.path()).args(["token", "mint", "--scope", "write"]),
    );
    let refused = ask(write_only.trim()).await.unwrap();
    assert_eq!(refused.status(), 403);
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["type"], "FORBIDDEN");
    let limited = ["token", "mint", "--scope", "read", "--market", "MOEX"];
    let (_, limited, _) = crate::process::run(crate::process::stoa(folder.path()).args(limited));
    assert_eq!(ask(limited.trim()).await.unwrap().status(), 403);
}

#[tokio::test]
async fn browser_origins_need_the_allow_list_and_unknown_hosts_are_refused() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("MCP_CORS_ORIGINS", "https://app.example")]);
    let client = http();
    let ask = |origin: &'static str| {
        client.get(server.url("/v1/metadata")).header("origin", origin).send()
    };
    let allowed = ask("https://app.example").await.unwrap();
    assert_eq!(allowed.headers()["access-control-allow-origin"], "https://app.example");
    let other = ask("https://evil.example").await.unwrap();
    assert!(!other.headers().contains_key("access-control-allow-origin"));
    let any_origin = Server::start(folder.path(), &[("MCP_CORS_ORIGINS", "*")]);
    let url = any_origin.url("/v1/metadata");
    let welcome = client.get(&url).header("origin", "https://any.example").send().await.unwrap();
    assert_eq!(welcome.headers()["access-control-allow-origin"], "*");
    let preflight = client
        .request(reqwest::Method::OPTIONS, &url)
        .header("origin", "https://any.example")
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", "authorization,mcp-session-id,a2a-version")
        .send()
        .await
        .unwrap();
    assert!(preflight.status().is_success());
    assert_eq!(preflight.headers()["access-control-allow-origin"], "*");
    let headers = preflight.headers()["access-control-allow-headers"].to_str().unwrap();
    for name in ["authorization", "last-event-id", "mcp-session-id", "a2a-version"] {
        assert!(headers.contains(name), "{name}: {headers}");
    }
    let rebound = client.get(server.url("/v1/metadata")).header("host", "evil.example").send();
    assert_eq!(rebound.await.unwrap().status(), 403);
}
