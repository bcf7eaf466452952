//! Faults of an exchange as a caller sees them: the contract's error, with a correct retryable flag
//! and wait.

use serde_json::{Value, json};

use crate::process::{Folder, Server, http};

/// A server whose exchange is another process with injectable faults.
struct House {
    server: Server,
    exchange: Server,
    _folder: Folder,
}

impl House {
    fn new() -> Self {
        Self::with_patience("30")
    }

    fn with_patience(seconds: &str) -> Self {
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
fn check(told: &(u16, Value), word: &str, status: u16, retryable: bool) {
    let (actual, body) = told;
    let error = &body["error"];
    assert_eq!((error["type"].as_str(), *actual), (Some(word), status), "{body}");
    assert_eq!(error["retryable"], retryable, "{body}");
    assert_eq!(error["http_status"], status);
}

#[tokio::test]
async fn refusals_are_passed_on_truthfully() {
    for (kind, word, status, retryable) in [
        ("status_451", "UPSTREAM_ERROR", 502, false),
        ("status_403", "UPSTREAM_ERROR", 502, false),
        ("status_500", "UPSTREAM_ERROR", 502, true),
        ("html", "UPSTREAM_ERROR", 502, true),
        ("drop", "UPSTREAM_ERROR", 502, true),
    ] {
        let house = House::new();
        house.fault(json!({ "kind": kind, "times": 1000 })).await;
        check(&house.get(LIVE).await, word, status, retryable);
        check(&house.get(HISTORY).await, word, status, retryable);
        // A permanent fault is never called retryable, however often the call is repeated.
        for _ in 0..6 {
            check(&house.get(LIVE).await, word, status, retryable);
        }
    }
}

#[tokio::test]
async fn a_rate_limit_says_when_to_come_back() {
    let house = House::new();
    house.fault(json!({ "kind": "status_429", "retry_after_s": 120, "times": 1000 })).await;
    let told = house.get(LIVE).await;
    check(&told, "RATE_LIMITED", 429, true);
    let wait = told.1["error"]["retry_after_s"].as_f64().unwrap();
    assert!((100.0..=120.0).contains(&wait), "{wait}");
}

#[tokio::test]
async fn passing_trouble_is_not_noticed() {
    for kind in ["status_500", "drop", "truncated", "duplicate_rows", "status_503"] {
        let house = House::new();
        house.fault(json!({ "kind": kind, "times": 1, "path": "/api/v3/klines" })).await;
        let (status, body) = house.get(HISTORY).await;
        assert_eq!((status, body["total"].as_u64()), (200, Some(31)), "{kind}: {body}");
    }
}

#[tokio::test]
async fn an_old_quote_stands_in_and_says_so() {
    let house = House::new();
    assert_eq!(house.get(LIVE).await.0, 200);
    house.fault(json!({ "kind": "status_500", "times": 100_000 })).await;
    // A quote is fresh for a second; this waits until the server must ask again.
    let stale = loop {
        let response = http().get(house.server.url(LIVE)).send().await.unwrap();
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
async fn kept_history_needs_no_exchange() {
    let house = House::new();
    let (status, before) = house.get(HISTORY).await;
    assert_eq!(status, 200);
    house.fault(json!({ "kind": "drop", "times": 100_000 })).await;
    let (status, after) = house.get(HISTORY).await;
    assert_eq!((status, &after), (200, &before));
}

#[tokio::test]
async fn a_dead_exchange_is_down_and_the_rest_is_not() {
    let house = House::new();
    assert_eq!(house.get("/v1/health").await.1["status"], "ok");
    house.fault(json!({ "kind": "drop", "times": 100_000 })).await;
    let sick = loop {
        let (_, body) = house.get("/v1/health").await;
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
async fn a_long_history_is_fetched_on_and_the_caller_told_how_far() {
    let house = House::with_patience("1");
    let slow =
        json!({ "kind": "slow", "delay_ms": 60, "times": 100_000, "path": "/api/v3/klines" });
    house.fault(slow).await;
    let days = "/v1/quotes/historical?tickers=BTCUSDT&from=2024-01-01&to=2024-02-09&interval=1m";
    let told = house.get(days).await;
    check(&told, "UPSTREAM_ERROR", 503, true);
    let error = &told.1["error"];
    assert!(error["message"].as_str().unwrap().contains("% so far"), "{error}");
    assert!(error["retry_after_s"].as_f64().unwrap() > 0.0, "{error}");
    let whole = loop {
        let (status, body) = house.get(days).await;
        if status == 200 {
            break body;
        }
        assert_eq!(body["error"]["retryable"], true, "{body}");
    };
    let gaps = http().get(house.server.url(days)).send().await.unwrap();
    let gaps: u64 = gaps.headers()["x-stoa-gaps"].to_str().unwrap().parse().unwrap();
    assert_eq!(whole["total"].as_u64().unwrap() + gaps, 40 * 1440);
}

#[tokio::test]
async fn a_venue_that_says_nothing_does_not_hold_up_what_is_kept() {
    let house = House::new();
    let (status, before) = house.get(HISTORY).await;
    assert_eq!(status, 200);
    house.fault(json!({ "kind": "stall", "times": 1000 })).await;
    let (status, after) = house.get(HISTORY).await;
    assert_eq!((status, after), (200, before));
    let (_, health) = house.get("/v1/health").await;
    assert_ne!(health["status"], "ok", "{health}");
}

#[tokio::test]
async fn a_halted_pair_has_a_past() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let past = "/v1/quotes/historical?tickers=LUNAUSDT&from=2021-01-01&to=2021-01-05&interval=1d";
    let response = http().get(server.url(past)).send().await.unwrap();
    assert_eq!(response.status(), 200);
}
