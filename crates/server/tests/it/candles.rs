//! Candles and indicators over HTTP: batches, warm windows, limits, health, and disabled
//! interfaces.

use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{Folder, Server, http, mcp_post};

const START: i64 = 1_704_067_200_000;
const HOUR: i64 = 3_600_000;

async fn get(server: &Server, path: &str) -> (u16, Value) {
    let response = http().get(server.url(path)).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap_or(Value::Null))
}

async fn compute(server: &Server, args: &Value) -> (u16, Value) {
    let response = http().post(server.url("/indicators")).json(args).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn part_of_a_batch_of_candles_is_206() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let range = format!("interval=1h&start={START}&end={}", START + 3 * HOUR);
    let (status, whole) =
        get(&server, &format!("/klines/batch?symbols=btcusdt,ETHUSDT,BTCUSDT&{range}")).await;
    assert_eq!((status, &whole["errors"]), (200, &json!({})));
    assert_eq!(whole["results"].as_object().unwrap().len(), 2);
    for symbol in ["BTCUSDT", "ETHUSDT"] {
        let (_, alone) = get(&server, &format!("/klines?symbol={symbol}&{range}")).await;
        assert_eq!(whole["results"][symbol], alone);
        assert_eq!(alone["candles"].as_array().unwrap().len(), 3);
    }
    let (status, part) =
        get(&server, &format!("/klines/batch?symbols=BTCUSDT,BTCUSTD,MOEX:NOSUCH&{range}")).await;
    assert_eq!(status, 206);
    assert_eq!(part["results"]["BTCUSDT"], whole["results"]["BTCUSDT"]);
    let typo = &part["errors"]["BTCUSTD"];
    assert!(typo["message"].as_str().unwrap().contains("did you mean BTCUSDT"), "{typo}");
    assert_eq!(part["errors"]["MOEX:NOSUCH"]["code"], "unknown_symbol", "{part}");
    let (status, none) = get(&server, &format!("/klines/batch?symbols=A,B&{range}")).await;
    assert_eq!((status, &none["error"]["code"]), (404, &json!("unknown_symbol")));
}

#[tokio::test]
async fn holes_of_the_venue_are_counted() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    // The simulated exchange has no candle of one of these hours.
    let (from, to) = (1_725_015_600_000_i64, 1_725_015_600_000_i64 + 600 * HOUR);
    let range = format!("interval=1h&start={from}&end={to}");
    for (path, gaps) in [
        (format!("/klines?symbol=ETHUSDT&{range}"), Some("1")),
        (format!("/klines/batch?symbols=ETHUSDT&{range}"), Some("1")),
        (format!("/klines?symbol=ETHUSDT&interval=1h&start={from}&end={}", from + HOUR), Some("0")),
        // The last 600 candles before the end reach one hour further back.
        (format!("/klines?symbol=ETHUSDT&interval=1h&end={to}&limit=600"), Some("1")),
        (format!("/klines?symbol=ETHUSDT&interval=1h&start={from}&limit=599"), Some("1")),
        ("/klines?symbol=MOEX:SBER&interval=1h&limit=50".to_owned(), None),
    ] {
        let response = http().get(server.url(&path)).send().await.unwrap();
        let header = response.headers().get("x-stoa-gaps").map(|it| it.to_str().unwrap());
        assert_eq!(header, gaps, "{path}");
    }
    let args = json!({ "symbol": "ETHUSDT", "interval": "1h", "start": from, "end": to,
        "windows": { "rsi": {} } });
    let answer = crate::process::mcp_call(&server, "/mcp", "compute_indicators", &args).await;
    let result = &answer["result"];
    let completeness = json!({ "bars": 599, "gaps": 1 });
    assert_eq!(result["_meta"]["stoa/completeness"], completeness);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("1 candles are missing at the venue"), "{text}");
}

#[tokio::test]
async fn a_warmed_window_equals_the_end_of_a_long_one() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let windows = json!({ "macd": {}, "rsi": {}, "stochRsi": {}, "bollinger": {}, "vwap": {},
        "sma": { "period": 120 }, "atr": {}, "ppo": {}, "pvo": {}, "stoch": {} });
    let args = |from: i64, to: i64, warm: bool| {
        json!({ "symbol": "ETHUSDT", "interval": "1h",
        "start": START + from * HOUR, "end": START + to * HOUR, "windows": windows, "warm": warm })
    };
    let (_, long) = compute(&server, &args(0, 2_000, false)).await;
    let (status, warm) = compute(&server, &args(1_950, 2_000, true)).await;
    assert_eq!(status, 200, "{warm}");
    assert_eq!((&warm["meta"]["warmup"], &long["meta"]["warmup"]), (&json!(0), &json!(119)));
    assert_eq!(warm["candles"].as_array().unwrap().len(), 50);
    for (key, column) in warm["series"].as_object().unwrap() {
        for (at, value) in column.as_array().unwrap().iter().enumerate() {
            let long = long["series"][key][1_950 + at].as_f64().unwrap();
            let value = value.as_f64().unwrap_or_else(|| panic!("{key}[{at}] is null"));
            assert!((value - long).abs() <= 1e-9 * long.abs().max(1e-3), "{key}[{at}]");
        }
    }
}

#[tokio::test]
async fn a_caller_can_set_a_shorter_timeout() {
    let (folder, exchange_folder) = (Folder::new(), Folder::new());
    let exchange = Server::start_sim(exchange_folder.path());
    let provider = [("PROVIDER", "binance"), ("BINANCE_REST_URL", exchange.base.as_str())];
    let server = Server::start(folder.path(), &provider);
    let stall = json!({ "kind": "stall", "times": 99 });
    let response = http().post(exchange.url("/sim/faults")).json(&stall).send().await.unwrap();
    assert!(response.status().is_success(), "{}", response.text().await.unwrap());
    let (status, body) = get(&server, "/klines?symbol=BTCUSDT&interval=1h&timeoutMs=200").await;
    assert_eq!((status, &body["error"]["code"]), (504, &json!("timeout")), "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("0.2 s"), "{body}");
}

/// A million indicators exceed the body limit; a smaller list is refused by its length.
#[tokio::test]
async fn too_many_indicators_are_refused() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let before = server.memory_mb();
    for (count, expected) in [(65, 400), (200_000, 400), (1_000_000, 413)] {
        let windows: Vec<String> = (0..count).map(|at| format!("\"w{at}\":{{}}")).collect();
        let body = format!(
            "{{\"symbol\":\"BTCUSDT\",\"interval\":\"1h\",\"windows\":{{{}}}}}",
            windows.join(",")
        );
        let request =
            http().post(server.url("/indicators")).header("content-type", "application/json");
        // The server may answer and close the connection before it has read everything.
        let Ok(response) = request.body(body).send().await else {
            assert_eq!(expected, 413);
            continue;
        };
        assert_eq!(response.status().as_u16(), expected, "{count}");
    }
    let (status, body) = get(&server, "/health").await;
    assert_eq!((status, &body["status"]), (200, &json!("ok")));
    assert!(server.memory_mb() < before + 200, "{} MB", server.memory_mb());
}

#[tokio::test]
async fn health_reports_the_state_of_the_exchange() {
    let (folder, exchange_folder) = (Folder::new(), Folder::new());
    let exchange = Server::start_sim(exchange_folder.path());
    let provider = [("PROVIDER", "binance"), ("BINANCE_REST_URL", exchange.base.as_str())];
    let secret = [("MCP_HTTP_TOKEN", "a-token-that-is-long"), ("BINANCE_API_KEY", "hunter2")];
    let server = Server::start(folder.path(), &[provider, secret].concat());
    let (status, body) = get(&server, "/health").await;
    assert_eq!(
        (status, &body["status"], &body["provider"]),
        (200, &json!("ok"), &json!("binance"))
    );
    assert!(body["uptime"].is_u64() && body["version"].is_string(), "{body}");
    exchange.kill();
    let mut status = Value::Null;
    // The exchange's health is cached for some seconds.
    for _ in 0..40 {
        status = get(&server, "/health").await.1["status"].clone();
        if status != "ok" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert_ne!(status, "ok");
}

#[tokio::test]
async fn interfaces_can_be_disabled() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("MCP_ENABLE_HTTP", "false")]);
    let off = [
        "/klines?symbol=BTCUSDT&interval=1h",
        "/v1/metadata",
        "/ws",
        "/stream/klines?symbol=BTCUSDT&interval=1m",
    ];
    for path in off {
        let (status, body) = get(&server, path).await;
        let message = body["error"]["message"].as_str().unwrap();
        assert!(status == 404 && message.contains("switched off"), "{path}: {body}");
    }
    let (status, body) = compute(&server, &json!({})).await;
    assert_eq!((status, &body["error"]["code"]), (404, &json!("not_found")), "{body}");
    let (_, documents) = get(&server, "/openapi.json").await;
    let mut listed = documents["paths"].as_object().unwrap().keys();
    assert!(listed.all(|path| path == "/health" || path == "/metrics"), "{documents}");
    assert_eq!(get(&server, "/health").await.0, 200);
    let (status, body) = mcp_post(&server.url("/mcp"), "tools/list", json!({})).await;
    assert_eq!(status, 200);
    assert!(!body["result"]["tools"].as_array().unwrap().is_empty());
    let streams = [("MCP_ENABLE_SSE", "false"), ("MCP_ENABLE_WS", "false")];
    let folder = Folder::new();
    let server = Server::start(folder.path(), &streams);
    for path in &off[2..] {
        assert_eq!(get(&server, path).await.0, 404, "{path}");
    }
    assert_eq!(get(&server, off[0]).await.0, 200);
}

#[tokio::test]
async fn another_version_of_the_schema_is_refused_at_every_address() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    for path in [
        "/symbols?",
        "/klines?symbol=BTCUSDT&interval=1h&limit=1&",
        "/klines/batch?symbols=BTCUSDT&interval=1h&limit=1&",
        "/stream/klines?symbol=BTCUSDT&interval=1h&",
        "/stream/klines/batch?symbols=BTCUSDT&interval=1h&",
    ] {
        let known = http().get(server.url(&format!("{path}schemaVersion=1.0"))).send().await;
        assert_eq!(known.unwrap().status(), 200, "{path}");
        let (status, body) = get(&server, &format!("{path}schemaVersion=2.0")).await;
        let error = (&body["error"]["code"], &body["error"]["details"][0]["field"]);
        assert_eq!(status, 400, "{path}");
        assert_eq!(error, (&json!("invalid_request"), &json!("schemaVersion")), "{path}");
    }
}

#[tokio::test]
async fn a_wrong_method_gets_the_contracts_error() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    for (path, status, code) in
        [("/indicators", 405, "method_not_allowed"), ("/ws", 426, "upgrade_required")]
    {
        let (actual, body) = get(&server, path).await;
        assert_eq!((actual, &body["error"]["code"]), (status, &json!(code)), "{body}");
        assert!(body["requestId"].is_string(), "{body}");
    }
    let response = http().post(server.url("/v1/quotes")).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["allow"]),
        (405, &"GET, HEAD".parse().unwrap())
    );
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["error"]["http_status"], 405, "{body}");
}

#[tokio::test]
async fn a_full_concurrency_limiter_returns_retry_after() {
    let (folder, exchange_folder) = (Folder::new(), Folder::new());
    let exchange = Server::start_sim(exchange_folder.path());
    let settings = [
        ("PROVIDER", "binance"),
        ("BINANCE_REST_URL", exchange.base.as_str()),
        ("STOA_TOOL_CONCURRENCY", "1"),
        ("STOA_TOOL_QUEUE", "1"),
    ];
    let server = Server::start(folder.path(), &settings);
    let stall = json!({ "kind": "stall", "times": 99 });
    http().post(exchange.url("/sim/faults")).json(&stall).send().await.unwrap();
    let ask = || get(&server, "/klines?symbol=BTCUSDT&interval=1h&timeoutMs=3000");
    let (one, two, three) = tokio::join!(ask(), ask(), ask());
    let mut statuses = [one.0, two.0, three.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [503, 504, 504]);
    let busy = [one, two, three].into_iter().find(|(status, _)| *status == 503).unwrap().1;
    assert_eq!(busy["error"]["code"], "overloaded");
    assert!(busy["error"]["retryAfterMs"].as_u64().is_some_and(|wait| wait > 0));
    let metrics = http().get(server.url("/metrics")).send().await.unwrap().text().await.unwrap();
    for line in [
        r#"stoa_queue_depth{queue="tool:get_klines"} 0"#,
        r#"stoa_errors_total{service="indicators",code="busy"} 1"#,
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line} in\n{metrics}");
    }
}
