//! Faults of an exchange as a caller sees them: the contract's error, with a correct retryable flag
//! and wait.

use serde_json::{Value, json};

use crate::contract_examples::request;
use crate::process::{Folder, Server, http, mcp_call};
use crate::simulated::{calls, tools};

/// A server whose exchange is another process with injectable faults.
struct Fixture {
    server: Server,
    exchange: Server,
    _folder: Folder,
}

impl Fixture {
    fn new() -> Self {
        Self::with_timeout("30")
    }

    fn with_timeout(seconds: &str) -> Self {
        let folder = Folder::new();
        let exchange = Server::start_sim(folder.path());
        let settings = [
            ("PROVIDER", "binance"),
            ("BINANCE_REST_URL", exchange.base.as_str()),
            ("STOA_CALL_TIMEOUT_S", seconds),
        ];
        let server = Server::start(folder.path(), &settings);
        Self { server, exchange, _folder: folder }
    }

    async fn fault(&self, fault: Value) {
        let request = http().post(self.exchange.url("/sim/faults")).json(&fault);
        let response = request.send().await.unwrap();
        assert!(response.status().is_success(), "{}", response.text().await.unwrap());
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let response = http().get(self.server.url(path)).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }
}

const LIVE: &str = "/v1/quotes?tickers=BTCUSDT";
const HISTORY: &str =
    "/v1/quotes/historical?tickers=BTCUSDT&from=2024-01-01&to=2024-01-31&interval=1d";

/// A fault of the exchange on first contact, and the error that the caller gets.
#[track_caller]
fn check(reply: &(u16, Value), word: &str, status: u16, retryable: bool) {
    let (actual, body) = reply;
    let error = &body["error"];
    assert_eq!((error["type"].as_str(), *actual), (Some(word), status), "{body}");
    assert_eq!(error["retryable"], retryable, "{body}");
    assert_eq!(error["http_status"], status);
}

#[tokio::test]
async fn refusals_of_the_exchange_are_passed_on() {
    for (kind, word, status, retryable) in [
        ("status_451", "UPSTREAM_ERROR", 502, false),
        ("status_403", "UPSTREAM_ERROR", 502, false),
        ("status_500", "UPSTREAM_ERROR", 502, true),
        ("html", "UPSTREAM_ERROR", 502, true),
        ("drop", "UPSTREAM_ERROR", 502, true),
    ] {
        let fixture = Fixture::new();
        fixture.fault(json!({ "kind": kind, "times": 1000 })).await;
        check(&fixture.get(LIVE).await, word, status, retryable);
        check(&fixture.get(HISTORY).await, word, status, retryable);
        // A permanent fault is never called retryable, however often the call is repeated.
        for _ in 0..6 {
            check(&fixture.get(LIVE).await, word, status, retryable);
        }
    }
}

#[tokio::test]
async fn a_rate_limit_returns_retry_after() {
    let fixture = Fixture::new();
    fixture.fault(json!({ "kind": "status_429", "retry_after_s": 120, "times": 1000 })).await;
    let reply = fixture.get(LIVE).await;
    check(&reply, "RATE_LIMITED", 429, true);
    let wait = reply.1["error"]["retry_after_s"].as_f64().unwrap();
    assert!((100.0..=120.0).contains(&wait), "{wait}");
}

#[tokio::test]
async fn a_transient_failure_is_retried() {
    for kind in ["status_500", "drop", "truncated", "duplicate_rows", "status_503"] {
        let fixture = Fixture::new();
        fixture.fault(json!({ "kind": kind, "times": 1, "path": "/api/v3/klines" })).await;
        let (status, body) = fixture.get(HISTORY).await;
        assert_eq!((status, body["total"].as_u64()), (200, Some(31)), "{kind}: {body}");
    }
}

#[tokio::test]
async fn a_stale_quote_is_returned_and_marked() {
    let fixture = Fixture::new();
    assert_eq!(fixture.get(LIVE).await.0, 200);
    fixture.fault(json!({ "kind": "status_500", "times": 100_000 })).await;
    // A quote is fresh for a second; this waits until the server must ask again.
    let stale = loop {
        let response = http().get(fixture.server.url(LIVE)).send().await.unwrap();
        assert_eq!(response.status(), 200);
        if response.headers()["x-stoa-stale"] == "true" {
            break response;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    let body: Value = stale.json().await.unwrap();
    assert_eq!(body["quotes"][0]["ticker"], "BTCUSDT");
}

#[tokio::test]
async fn archived_history_needs_no_exchange() {
    let fixture = Fixture::new();
    let (status, before) = fixture.get(HISTORY).await;
    assert_eq!(status, 200);
    fixture.fault(json!({ "kind": "drop", "times": 100_000 })).await;
    let (status, after) = fixture.get(HISTORY).await;
    assert_eq!((status, &after), (200, &before));
}

#[tokio::test]
async fn health_reports_an_unreachable_exchange_as_down() {
    let fixture = Fixture::new();
    assert_eq!(fixture.get("/v1/health").await.1["status"], "ok");
    fixture.fault(json!({ "kind": "drop", "times": 100_000 })).await;
    let sick = loop {
        let (_, body) = fixture.get("/v1/health").await;
        if body["status"] != "ok" {
            break body;
        }
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    };
    // The imported files and the archive still serve.
    assert_eq!(sick["status"], "degraded", "{sick}");
    let venue = sick["checks"].as_array().unwrap().iter().find(|it| it["name"] == "binance");
    assert_eq!(venue.unwrap()["status"], "down", "{sick}");
}

#[tokio::test]
async fn a_long_history_is_fetched_in_parts_and_the_fault_reports_progress() {
    let fixture = Fixture::with_timeout("1");
    let slow =
        json!({ "kind": "slow", "delay_ms": 60, "times": 100_000, "path": "/api/v3/klines" });
    fixture.fault(slow).await;
    let days = "/v1/quotes/historical?tickers=BTCUSDT&from=2024-01-01&to=2024-02-09&interval=1m";
    let reply = fixture.get(days).await;
    check(&reply, "UPSTREAM_ERROR", 503, true);
    let error = &reply.1["error"];
    assert!(error["message"].as_str().unwrap().contains("% so far"), "{error}");
    assert!(error["retry_after_s"].as_f64().unwrap() > 0.0, "{error}");
    let whole = loop {
        let (status, body) = fixture.get(days).await;
        if status == 200 {
            break body;
        }
        assert_eq!(body["error"]["retryable"], true, "{body}");
    };
    let gaps = http().get(fixture.server.url(days)).send().await.unwrap();
    let gaps: u64 = gaps.headers()["x-stoa-gaps"].to_str().unwrap().parse().unwrap();
    assert_eq!(whole["total"].as_u64().unwrap() + gaps, 40 * 1440);
}

#[tokio::test]
async fn a_silent_venue_does_not_delay_archived_history() {
    let fixture = Fixture::new();
    let (status, before) = fixture.get(HISTORY).await;
    assert_eq!(status, 200);
    fixture.fault(json!({ "kind": "stall", "times": 1000 })).await;
    let (status, after) = fixture.get(HISTORY).await;
    assert_eq!((status, after), (200, before));
    let (_, health) = fixture.get("/v1/health").await;
    assert_ne!(health["status"], "ok", "{health}");
}

#[tokio::test]
async fn a_halted_pair_has_history() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let past = "/v1/quotes/historical?tickers=LUNAUSDT&from=2021-01-01&to=2021-01-05&interval=1d";
    let response = http().get(server.url(past)).send().await.unwrap();
    assert_eq!(response.status(), 200);
}

/// A server whose exchanges cannot be reached: nothing listens at their address.
fn unreachable_exchanges(folder: &Folder) -> Server {
    let settings = [
        ("PROVIDER", "binance"),
        ("BINANCE_REST_URL", "http://127.0.0.1:1"),
        ("MOEX_PROVIDER", "iss"),
        ("MOEX_ISS_URL", "http://127.0.0.1:1/iss"),
    ];
    Server::start(folder.path(), &settings)
}

#[tokio::test]
async fn an_unreachable_exchange_is_named_with_its_cause_and_the_way_out() {
    let folder = Folder::new();
    let server = unreachable_exchanges(&folder);
    // These tools ask no exchange, or answer how it is.
    let offline = ["system.health", "system.metadata", "health", "list_intervals"];
    let exchanges = [("Binance", "PROVIDER=sim"), ("the Moscow Exchange", "MOEX_PROVIDER=sim")];
    for service in ["quotes", "indicators", "moex"] {
        for tool in tools(service) {
            let tool_name = tool["name"].as_str().unwrap();
            if offline.contains(&tool_name) {
                continue;
            }
            let (args, _) = calls(service, tool_name);
            let message = match tool["http_only"] == true {
                true => {
                    let response = request(&server, &tool["http"], args).send().await.unwrap();
                    response.text().await.unwrap()
                }
                false => {
                    let answer = mcp_call(&server, "/mcp", tool_name, &args).await;
                    assert_eq!(answer["result"]["isError"], true, "{tool_name}: {answer}");
                    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
                }
            };
            let named = |(name, way_out): (&str, &str)| {
                let cause = format!("{name} could not be reached: the connection was refused");
                message.contains(&cause) && message.contains(way_out)
            };
            assert!(exchanges.into_iter().any(named), "{tool_name}: {message}");
            assert!(message.contains("`stoa doctor`"), "{tool_name}: {message}");
        }
    }
}

#[tokio::test]
async fn an_unreachable_exchange_is_logged_at_start() {
    let folder = Folder::new();
    let server = unreachable_exchanges(&folder);
    for name in ["Binance could not be reached", "the Moscow Exchange could not be reached"] {
        while !server.log().contains(name) {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn the_analyst_does_not_take_an_unreachable_exchange_for_an_unknown_security() {
    let folder = Folder::new();
    let server = unreachable_exchanges(&folder);
    let body = json!({ "input": { "messages": [
        { "role": "user", "content": "сравни Лукойл и Роснефть за год" } ] } });
    let response = http().post(server.url("/a2a/analyst")).json(&body).send().await.unwrap();
    let answer: Value = response.json().await.unwrap();
    let text = answer["output"]["text"].as_str().unwrap();
    assert!(text.contains("Московская биржа не ответила"), "{text}");
    assert!(!text.contains("не найден"), "{text}");
}
