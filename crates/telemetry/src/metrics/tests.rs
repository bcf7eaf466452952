//! The metrics as a scrape shows them, and the bounds on their labels.

use std::time::Duration;

use super::*;

fn metrics() -> Metrics {
    let build = BuildInfo { version: "1.2.3".to_owned(), commit: "abc".to_owned() };
    Metrics::new(build, 1_700_000_000)
}

#[track_caller]
fn check(metrics: &Metrics, lines: &[&str]) {
    let text = metrics.render();
    for line in lines {
        assert!(text.lines().any(|it| it == *line), "{line} in\n{text}");
    }
}

#[test]
fn each_family_is_recorded_and_rendered() {
    let metrics = metrics();
    let milli = Duration::from_millis(1);
    let tool = metrics.tool("quotes", "quotes.live", "mcp");
    tool.record("ok", milli);
    tool.clone().record("ok", Duration::from_millis(30));
    tool.record("not_found", milli);
    tool.record("no such outcome", milli);
    metrics.route("/v1/quotes", "GET").record(200, milli);
    metrics.route("/v1/quotes", "GET").record(200, milli);
    metrics.route("/v1/quotes", "GET").record(418, milli);
    metrics.route("other", "BREW").record(404, milli);
    metrics.error("quotes", "invalid_ticker");
    metrics.rate_limited();
    metrics.connection_refused("connections_max");
    metrics.upstream("binance", "klines").record("ok", milli);
    metrics.upstream_weight_used("binance").set(42);
    metrics.queue_depth("jobs").set(7);
    metrics.upstream_stream("binance", "reconnecting");
    metrics.set_on_scrape(metrics.queue_depth("readers"), || 5);
    let held = metrics.stream("klines", "sse");
    let _more = (metrics.stream("klines", "sse"), metrics.connections().increment());
    drop(held);
    check(
        &metrics,
        &[
            r#"stoa_tool_calls_total{service="quotes",tool="quotes.live",transport="mcp",outcome="ok"} 2"#,
            r#"stoa_tool_calls_total{service="quotes",tool="quotes.live",transport="mcp",outcome="not_found"} 1"#,
            r#"stoa_tool_calls_total{service="quotes",tool="quotes.live",transport="mcp",outcome="other"} 1"#,
            r#"stoa_tool_call_seconds_bucket{le="0.001",service="quotes",tool="quotes.live"} 3"#,
            r#"stoa_tool_call_seconds_count{service="quotes",tool="quotes.live"} 4"#,
            r#"stoa_http_requests_total{route="/v1/quotes",method="GET",status="200"} 2"#,
            r#"stoa_http_requests_total{route="/v1/quotes",method="GET",status="418"} 1"#,
            r#"stoa_http_requests_total{route="other",method="other",status="404"} 1"#,
            r#"stoa_http_request_seconds_count{route="/v1/quotes"} 3"#,
            r#"stoa_errors_total{service="quotes",code="invalid_ticker"} 1"#,
            "stoa_rate_limited_total 1",
            r#"stoa_connections_turned_away_total{limit="connections_max"} 1"#,
            r#"stoa_upstream_requests_total{venue="binance",endpoint="klines",outcome="ok"} 1"#,
            r#"stoa_upstream_request_seconds_count{venue="binance",endpoint="klines"} 1"#,
            r#"stoa_upstream_weight_used{venue="binance"} 42"#,
            r#"stoa_queue_depth{queue="jobs"} 7"#,
            r#"stoa_queue_depth{queue="readers"} 5"#,
            r#"stoa_upstream_stream_events_total{venue="binance",what="reconnecting"} 1"#,
            r#"stoa_streams_open{stream="klines",transport="sse"} 1"#,
            r#"stoa_streams_opened_total{stream="klines",transport="sse"} 2"#,
            r#"stoa_streams_closed_total{stream="klines",transport="sse"} 1"#,
            "stoa_connections 1",
            r#"stoa_build_info{version="1.2.3",commit="abc"} 1"#,
            "stoa_start_time_seconds 1700000000",
            "# EOF",
        ],
    );
    assert!(metrics.render().ends_with("# EOF\n"));
    assert!(!metrics.render().contains("timeout"));
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_is_measured_at_each_scrape() {
    let text = metrics().render();
    for name in [
        "stoa_process_resident_memory_bytes",
        "stoa_process_cpu_seconds_total",
        "stoa_process_open_fds",
        "stoa_process_threads",
    ] {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        assert!(value.is_some_and(|it| it.parse::<f64>().unwrap() >= 0.0), "{name} in\n{text}");
    }
}

#[test]
fn labels_past_the_bound_become_other() {
    let metrics = metrics();
    for number in 0..5_000 {
        let name = format!("n{number}");
        metrics.route(&name, "GET").record(200, Duration::ZERO);
        metrics.error("quotes", &name);
        metrics.tool("quotes", &name, "mcp").record("ok", Duration::ZERO);
        metrics.queue_depth(&name).set(1);
    }
    let text = metrics.render();
    assert!(text.lines().count() < 20_000);
    check(
        &metrics,
        &[
            r#"stoa_errors_total{service="other",code="other"} 3976"#,
            r#"stoa_queue_depth{queue="other"} 1"#,
            r#"stoa_http_requests_total{route="n0",method="GET",status="200"} 1"#,
            r#"stoa_http_requests_total{route="other",method="GET",status="200"} 4872"#,
            r#"stoa_http_request_seconds_count{route="other"} 4872"#,
        ],
    );
}

#[test]
fn label_values_are_escaped() {
    let metrics = metrics();
    metrics.error("quotes", "a\"b\\c\nd");
    check(&metrics, &[r#"stoa_errors_total{service="quotes",code="a\"b\\c\nd"} 1"#]);
}
