//! Compares the metrics of a running server with the page that lists them.

use std::collections::BTreeSet;

use serde_json::json;

use crate::process::{Server, http, mcp_post};
use crate::source_files::rust_files;
use crate::streams::Fixture;

async fn scrape(server: &Server) -> String {
    http().get(server.url("/metrics")).send().await.unwrap().text().await.unwrap()
}

/// The metrics that the page lists, with their kinds.
fn listed() -> BTreeSet<(String, String)> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let text = std::fs::read_to_string(page).unwrap();
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `stoa_")?.split('|').map(str::trim);
        Some((format!("stoa_{}", cells.next()?.trim_end_matches('`')), cells.next()?.to_owned()))
    };
    text.lines().filter_map(row).collect()
}

/// The metrics that the code registers: the first argument of every registering call.
fn registered() -> BTreeSet<String> {
    let mut files = Vec::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../telemetry/src");
    rust_files(folder.as_ref(), &mut files);
    let mut names = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        for opening in ["register(", "register_with_unit(", "encode_descriptor(", "name = "] {
            for rest in text.split(opening).skip(1) {
                let quoted = rest.trim_start().strip_prefix('"').and_then(|it| it.split_once('"'));
                names.extend(quoted.map(|(name, _)| name.to_owned()));
            }
        }
    }
    names
}

#[test]
fn every_registered_metric_is_documented() {
    let listed = listed();
    let registered = registered();
    assert!(registered.contains("streams_open") && registered.len() > 15, "{registered:?}");
    for name in &registered {
        // The library appends the unit and the ending of counters to the registered name.
        let endings = ["", "_total", "_seconds", "_seconds_total", "_bytes", "_info"];
        let full = |ending: &&str| format!("stoa_{name}{ending}");
        let found = endings.iter().map(full).any(|it| listed.iter().any(|(n, _)| *n == it));
        assert!(found, "docs/metrics.md does not list {name}");
    }
    assert_eq!(listed.len(), registered.len(), "{listed:?}\n{registered:?}");
}

#[tokio::test]
async fn streams_calls_and_exchange_failures_are_counted() {
    let fixture = Fixture::new(&[]);
    let mut events = fixture.events("symbol=BTCUSDT&interval=1s", None).await;
    let mut socket = fixture.socket().await;
    socket.say(json!({"type": "subscribe", "symbol": "BTCUSDT", "interval": "1s"})).await;
    socket.next_of("subscribed").await;
    events.closed(1).await;
    fixture.fault(json!({"kind": "ws_drop", "times": 1})).await;
    while !events.closed(1).await.1.contains(&"reconnecting".to_owned()) {}
    let arguments = json!({"symbol": "BTCUSDT", "interval": "1s", "maxEvents": 1});
    let params = json!({"name": "stream_klines", "arguments": arguments});
    let (status, _) = mcp_post(&fixture.server.url("/mcp"), "tools/call", params).await;
    assert_eq!(status, 200);
    let text = scrape(&fixture.server).await;
    for line in [
        r#"stoa_streams_open{stream="klines",transport="sse"} 1"#,
        r#"stoa_streams_open{stream="klines",transport="ws"} 1"#,
        r#"stoa_streams_open{stream="klines",transport="mcp"} 0"#,
        r#"stoa_streams_opened_total{stream="klines",transport="mcp"} 1"#,
        r#"stoa_streams_closed_total{stream="klines",transport="mcp"} 1"#,
        r#"stoa_tool_call_seconds_count{service="indicators",tool="stream_klines"} 1"#,
        r#"stoa_tool_call_seconds_bucket{le="+Inf",service="indicators",tool="stream_klines"} 1"#,
        r#"stoa_http_request_seconds_count{route="/stream/klines"} 1"#,
    ] {
        assert!(text.lines().any(|it| it == line), "{line} in\n{text}");
    }
    for start in [
        r#"stoa_upstream_stream_events_total{venue="binance",what="reconnecting"} "#,
        r#"stoa_upstream_request_seconds_bucket{le="+Inf",venue="binance",endpoint=""#,
        r#"stoa_queue_depth{queue="subscriptions"} "#,
        r#"stoa_queue_depth{queue="subscriptions:longest"} "#,
    ] {
        assert!(text.lines().any(|it| it.starts_with(start)), "{start} in\n{text}");
    }
    // Only OpenMetrics has every kind that the page names.
    let request = http().get(fixture.server.url("/metrics"));
    let request = request.header("accept", "application/openmetrics-text");
    let text = request.send().await.unwrap().text().await.unwrap();
    let kind = |line: &str| {
        let (name, kind) = line.strip_prefix("# TYPE ")?.split_once(' ')?;
        let ending = match kind {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        Some((format!("{name}{ending}"), kind.to_owned()))
    };
    let listed = listed();
    let shown: BTreeSet<_> = text.lines().filter_map(kind).collect();
    assert!(shown.len() > 15, "{text}");
    assert!(shown.is_subset(&listed), "{:?}", shown.difference(&listed));
}
