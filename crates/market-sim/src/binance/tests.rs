//! The wire protocol, request by request.

use axum::http::Request;
use clock::parse_date;
use http_body_util::BodyExt;
use market::Interval;
use proptest::prelude::*;
use serde_json::Value;
use testkit::FakeClock;
use tower::ServiceExt;

use super::*;
use crate::{Sim, SimConfig};

fn at(date: &str) -> i64 {
    Millis::start_of(parse_date(date).unwrap()).0
}

/// Twenty past noon and a bit, so that bars of every interval are forming.
fn now() -> i64 {
    at("2026-11-14") + 12 * 3_600_000 + 20 * 60_000 + 31_250
}

fn sim() -> Sim {
    Sim::new(SimConfig::new(7, Arc::new(FakeClock::new(Millis(now())))))
}

async fn ask(sim: &Sim, path: &str) -> (u16, axum::http::HeaderMap, String) {
    let encoded = path.replace('[', "%5B").replace(']', "%5D").replace('"', "%22");
    let request = Request::get(encoded).body(Body::empty()).unwrap();
    let response = sim.router().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (parts.status.as_u16(), parts.headers, String::from_utf8(body.to_vec()).unwrap())
}

async fn json(sim: &Sim, path: &str) -> Value {
    let (status, _, body) = ask(sim, path).await;
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

async fn rows(sim: &Sim, query: &str) -> Vec<Value> {
    let answer = json(sim, &format!("/api/v3/klines?{query}")).await;
    answer.as_array().unwrap().clone()
}

fn opens(rows: &[Value]) -> Vec<i64> {
    rows.iter().map(|row| row[0].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn errors_have_the_binance_format() {
    let sim = sim();
    let illegal =
        r"Illegal characters found in parameter 'symbol'; legal range is '^[A-Z0-9-_.]{1,20}$'.";
    let mandatory = "Mandatory parameter 'symbol' was not sent, was empty/null, or malformed.";
    for (path, code, message) in [
        ("klines?symbol=NOPE&interval=1d", -1121, "Invalid symbol."),
        ("klines?symbol=BTCUSDT&interval=1D", -1120, "Invalid interval."),
        ("klines?symbol=btcusdt&interval=1d", -1100, illegal),
        ("klines?interval=1d", -1102, mandatory),
        ("klines?symbol=&interval=1d", -1105, "Parameter 'symbol' was empty."),
        (
            "klines?symbol=BTCUSDT&interval=1d&limit=-5",
            -1100,
            "Illegal characters found in parameter 'limit'; legal range is '^[0-9]{1,20}$'.",
        ),
        (
            "klines?symbol=BTCUSDT&interval=1d&limits=5",
            -1104,
            "Not all sent parameters were read; read '2' parameter(s) but was sent '3'.",
        ),
        (r#"ticker/24hr?symbols=["BTCUSDT","NOPE"]"#, -1121, "Invalid symbol."),
        (
            r#"ticker/24hr?symbol=BTCUSDT&symbols=["ETHUSDT"]"#,
            -1128,
            "Combination of optional parameters invalid.",
        ),
        ("exchangeInfo?symbol=NOPE", -1121, "Invalid symbol."),
        (
            "exchangeInfo?symbol=AGORAUSDT&symbolStatus=TRADING",
            -1128,
            "Combination of optional parameters invalid.",
        ),
    ] {
        let (status, _, body) = ask(&sim, &format!("/api/v3/{path}")).await;
        let expected =
            ApiError { status: StatusCode::BAD_REQUEST, code, message: message.to_owned() };
        assert_eq!((status, body), (400, expected.body()), "{path}");
    }
}

#[tokio::test]
async fn every_answer_carries_weight_and_id() {
    let sim = sim();
    let mut total = 0;
    for (path, weight) in [
        ("ping", 1),
        ("time", 1),
        ("exchangeInfo", 20),
        ("klines?symbol=BTCUSDT&interval=1h", 2),
        ("ticker/24hr?symbol=BTCUSDT", 2),
        (r#"ticker/24hr?symbols=["BTCUSDT","ETHUSDT"]"#, 2),
        ("ticker/24hr", 80),
        ("ticker/price?symbol=BTCUSDT", 2),
        ("ticker/price", 4),
        ("klines?symbol=NOPE&interval=1h", 2),
    ] {
        let (_, headers, _) = ask(&sim, &format!("/api/v3/{path}")).await;
        total += weight;
        assert_eq!(headers["x-mbx-used-weight-1m"], total.to_string().as_str(), "{path}");
        assert_eq!(headers["x-mbx-used-weight"], headers["x-mbx-used-weight-1m"]);
        assert_eq!(headers["x-mbx-uuid"].len(), 36);
        assert_eq!(headers[CONTENT_TYPE], "application/json;charset=UTF-8");
    }
}

#[tokio::test]
async fn a_kline_row_has_twelve_elements_in_binance_format() {
    for row in rows(&sim(), "symbol=PEPEUSDT&interval=1m&limit=50").await {
        let row = row.as_array().unwrap();
        assert_eq!(row.len(), 12);
        for (at, value) in row.iter().enumerate() {
            assert_eq!(matches!(at, 0 | 6 | 8), value.is_i64(), "element {at}: {value}");
            if matches!(at, 1..=5 | 7 | 9 | 10) {
                let (_, places) = value.as_str().unwrap().split_once('.').unwrap();
                assert_eq!(places.len(), 8, "{value}");
            }
        }
        assert_eq!(row[11], "0");
        assert_eq!(row[6].as_i64().unwrap() - row[0].as_i64().unwrap(), 59_999);
    }
}

#[tokio::test]
async fn rows_are_selected_by_inclusive_opening_time() {
    let sim = sim();
    let (day, next) = (at("2026-11-10"), at("2026-11-11"));
    let base = "symbol=BTCUSDT&interval=1d";
    // Asking up to midnight includes the day that opens there.
    let both = rows(&sim, &format!("{base}&startTime={day}&endTime={next}")).await;
    assert_eq!(opens(&both), [day, next]);
    let one = rows(&sim, &format!("{base}&startTime={day}&endTime={day}")).await;
    assert_eq!(opens(&one), [day]);
    let before = rows(&sim, &format!("{base}&startTime={}&endTime={}", day + 1, next - 1)).await;
    assert!(before.is_empty());
    let oldest = rows(&sim, &format!("{base}&startTime=0&limit=2")).await;
    assert_eq!(opens(&oldest), [at("2017-08-17"), at("2017-08-18")]);
    let newest = rows(&sim, &format!("{base}&endTime={}&limit=2", next + 5)).await;
    assert_eq!(opens(&newest), [day, next]);
    // The last one is still forming, and nothing says so.
    let latest = rows(&sim, base).await;
    assert_eq!((latest.len(), *opens(&latest).last().unwrap()), (500, at("2026-11-14")));
    assert_eq!(rows(&sim, &format!("{base}&limit=5000")).await.len(), 1_000);
    for strange in ["startTime=99999999999999999999", "endTime=0", "startTime=2&endTime=1"] {
        assert!(rows(&sim, &format!("{base}&{strange}")).await.is_empty(), "{strange}");
    }
}

#[tokio::test]
async fn every_interval_answers_up_to_now() {
    let sim = sim();
    for interval in Interval::ALL {
        let rows = rows(&sim, &format!("symbol=ETHUSDT&interval={interval}&limit=3")).await;
        let last = *opens(&rows).last().unwrap();
        assert_eq!(last, interval.open_of(Millis(now())).0, "{interval}");
        let close = rows.last().unwrap()[6].as_i64().unwrap();
        assert_eq!(close + 1, interval.next_open(Millis(last)).0, "{interval}");
    }
}

#[tokio::test]
async fn the_ticker_agrees_with_the_bars_of_the_day() {
    let sim = sim();
    let full = json(&sim, "/api/v3/ticker/24hr?symbol=BTCUSDT").await;
    let price = json(&sim, "/api/v3/ticker/price?symbol=BTCUSDT").await;
    let minute = rows(&sim, "symbol=BTCUSDT&interval=1m&limit=1").await;
    assert_eq!(full["lastPrice"], price["price"]);
    assert_eq!(full["lastPrice"], minute[0][4]);
    assert_eq!(full["closeTime"], now());
    assert_eq!(full.as_object().unwrap().len(), 21);
    let mini = json(&sim, r#"/api/v3/ticker/24hr?symbols=["BTCUSDT"]&type=MINI"#).await;
    assert_eq!(mini[0].as_object().unwrap().len(), 12);
    assert_eq!(mini[0]["volume"], full["volume"]);
    let all = json(&sim, "/api/v3/ticker/24hr").await;
    let listed = json(&sim, "/api/v3/exchangeInfo").await;
    assert_eq!(all.as_array().unwrap().len(), listed["symbols"].as_array().unwrap().len());
    // A pair that has stopped shows the last day it had.
    let stopped = json(&sim, "/api/v3/ticker/24hr?symbol=LUNAUSDT").await;
    assert_eq!(stopped["closeTime"], at("2022-05-13") + 2 * 3_600_000);
}

#[tokio::test]
async fn the_listing_names_status_limits_and_filters() {
    let sim = sim();
    sim.set_weight_limit(1_200);
    let info = json(&sim, r#"/api/v3/exchangeInfo?symbols=["BTCUSDT","LUNAUSDT"]"#).await;
    assert_eq!(info["serverTime"], now());
    assert_eq!(info["rateLimits"][0]["limit"], 1_200);
    assert_eq!(info["symbols"][0]["status"], "TRADING");
    assert_eq!(info["symbols"][0]["quoteAsset"], "USDT");
    assert_eq!(info["symbols"][0]["filters"][0]["tickSize"], "0.01000000");
    assert_eq!(info["symbols"][1]["status"], "BREAK");
    let broken =
        json(&sim, "/api/v3/exchangeInfo?symbolStatus=BREAK&showPermissionSets=false").await;
    assert_eq!(broken["symbols"].as_array().unwrap().len(), 1);
    assert_eq!(broken["symbols"][0]["permissionSets"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn too_much_weight_gives_429_and_repeating_gives_418() {
    let sim = sim();
    sim.set_weight_limit(5);
    let mut statuses = Vec::new();
    for _ in 0..10 {
        let (status, headers, body) = ask(&sim, "/api/v3/klines?symbol=BTCUSDT&interval=1d").await;
        assert_eq!(headers.contains_key(RETRY_AFTER), status != 200);
        if status == 418 {
            assert!(body.contains(&format!("IP banned until {}", now() + 120_000)), "{body}");
        }
        statuses.push(status);
    }
    assert_eq!(statuses, [200, 200, 429, 429, 429, 429, 429, 418, 418, 418]);
}

#[tokio::test]
async fn faults_are_set_listed_and_cleared_over_http() {
    let sim = sim();
    let send = async |method: &str, body: &str| {
        let request = Request::builder().method(method).uri("/sim/faults");
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = sim.router().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    };
    assert_eq!(
        send("POST", r#"{"kind":"status_451","times":2,"path":"/api/v3/time"}"#).await.0,
        201
    );
    let (status, reason) = send("POST", r#"{"kind":"status_451","colour":"red"}"#).await;
    assert!(status == 400 && reason.contains("colour"), "{reason}");
    assert_eq!(ask(&sim, "/api/v3/ping").await.0, 200);
    let (status, _, body) = ask(&sim, "/api/v3/time").await;
    assert!(status == 451 && body.contains("restricted location"), "{body}");
    assert!(send("GET", "").await.1.contains(r#""times":1"#));
    assert_eq!(send("DELETE", "").await.0, 204);
    assert_eq!(ask(&sim, "/api/v3/time").await.0, 200);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn pages_add_up_to_the_whole_table(
        seed in 0_u64..500,
        start in 0_i64..20_000,
        length in 1_i64..900,
        limit in 7_usize..200,
        interval in prop::sample::select(vec![Interval::M1, Interval::M15, Interval::H4, Interval::W1]),
    ) {
        let clock = Arc::new(FakeClock::new(Millis(now())));
        let sim = Sim::new(SimConfig::new(seed, clock));
        let step = interval.fixed_ms().unwrap();
        let from = now() - (start + length) * step.min(86_400_000 / 4);
        let to = from + length * step;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let base = format!("symbol=XRPUSDT&interval={interval}&endTime={to}");
            let whole = rows(&sim, &format!("{base}&startTime={from}&limit=1000")).await;
            let mut pages = Vec::new();
            let mut start = from;
            loop {
                let page = rows(&sim, &format!("{base}&startTime={start}&limit={limit}")).await;
                let Some(last) = page.last() else { break };
                start = last[0].as_i64().unwrap() + 1;
                pages.extend(page);
            }
            assert_eq!(pages, whole);
            assert!(whole.len() as i64 <= length + 1);
        });
    }

    #[test]
    fn any_request_is_answered_or_refused(
        path in prop::sample::select(Endpoint::ALL.map(Endpoint::path).to_vec()),
        params in prop::collection::vec(
            (
                prop::sample::select(vec![
                    "symbol", "symbols", "interval", "startTime", "endTime", "limit", "type",
                    "timeZone", "symbolStatus", "showPermissionSets", "other",
                ]),
                prop_oneof![
                    "[A-Z0-9a-z%.-]{0,24}",
                    "[0-9]{1,22}",
                    prop::sample::select(vec!["BTCUSDT", "LUNAUSDT", "1s", "1M", "1w", "[]", "true"])
                        .prop_map(ToOwned::to_owned),
                ],
            ),
            0..6,
        ),
    ) {
        let clock = Arc::new(FakeClock::new(Millis(now())));
        let sim = Sim::new(SimConfig::new(7, clock));
        let query: Vec<String> =
            params.iter().map(|(name, value)| format!("{name}={}", value.replace('%', "%25"))).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (status, _, body) = runtime.block_on(ask(&sim, &format!("{path}?{}", query.join("&"))));
        prop_assert!(status == 200 || status == 400, "{status}");
        let body: Value = serde_json::from_str(&body).unwrap();
        prop_assert_eq!(status == 400, body["code"].as_i64().is_some_and(|code| code < -1000));
    }
}
