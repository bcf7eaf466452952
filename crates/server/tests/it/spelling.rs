//! One spelling works everywhere: dates and milliseconds, symbols with and without their venue.

use serde_json::{Value, json};

use crate::contract_examples::every_scope;
use crate::process::{Folder, Server, http, mcp_call, mcp_post, run, stoa};

const DAY: i64 = 1_704_067_200_000;

/// A server with one imported ticker.
fn start(folder: &Folder) -> Server {
    let csv = "Date,Open,High,Low,Close,Volume\n2024-01-01,1.10,1.30,1.00,1.25,1000\n";
    std::fs::write(folder.path().join("bars.csv"), csv).unwrap();
    let import = ["import", "bars", "bars.csv", "--ticker", "mine", "--interval", "1d"];
    let (code, _, err) = run(stoa(folder.path()).args(import));
    assert_eq!(code, 0, "{err}");
    Server::start(folder.path(), &[])
}

#[tokio::test]
async fn an_unknown_symbol_is_answered_with_the_venues_that_list_it() {
    let folder = Folder::new();
    let server = start(&folder);
    for (ticker, told) in [
        ("SBER", "did you mean MOEX:SBER"),
        ("MINE", "did you mean FILE:MINE"),
        ("BTC", "did you mean BTCUSDT,"),
        ("AAPL", "the venues are BINANCE, MOEX, FILE"),
    ] {
        let quote = mcp_call(&server, "/mcp", "quotes_live", &json!({ "tickers": [ticker] })).await;
        let args = json!({ "symbol": ticker, "interval": "1d" });
        let candles = mcp_call(&server, "/mcp", "compute_indicators", &args).await;
        for answer in [quote, candles] {
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(told), "{ticker}: {text}");
        }
    }
}

#[tokio::test]
async fn symbols_may_be_written_with_a_separator_or_a_venue() {
    let folder = Folder::new();
    let server = start(&folder);
    for ticker in ["BTC/USDT", "btc-usdt", "BTCUSDT"] {
        let args = json!({ "tickers": [ticker] });
        let answer = mcp_call(&server, "/mcp", "quotes_live", &args).await;
        let quotes = &answer["result"]["structuredContent"]["quotes"];
        assert_eq!(quotes[0]["ticker"], "BTCUSDT", "{ticker}: {answer}");
    }
    for ticker in ["SBER", "MOEX:SBER", "moex:sber"] {
        let args = json!({ "ticker": ticker });
        let answer = mcp_call(&server, "/mcp/moex", "get_security_snapshot", &args).await;
        let metadata = &answer["result"]["structuredContent"]["metadata"];
        assert_eq!(metadata["ticker"], "SBER", "{ticker}: {answer}");
    }
}

/// Calls a tool with a time in each form and returns the results.
async fn in_every_form(server: &Server, tool: &str, args: &Value, fields: [&str; 2]) -> Vec<Value> {
    let (from, to) = (DAY, DAY + 3 * 86_400_000);
    let forms = [
        [json!("2024-01-01"), json!("2024-01-04")],
        [json!("2024-01-01T00:00:00Z"), json!("2024-01-04T03:00:00+03:00")],
        [json!(from), json!(to)],
    ];
    let mut results = Vec::new();
    for form in forms {
        let mut args = args.clone();
        for (field, time) in fields.iter().zip(form) {
            args[*field] = time;
        }
        let answer = mcp_call(server, "/mcp", tool, &args).await;
        assert_ne!(answer["result"]["isError"], true, "{tool} {args}: {answer}");
        results.push(answer["result"]["structuredContent"].clone());
    }
    results
}

#[tokio::test]
async fn times_are_read_in_every_form_on_the_whole_server() {
    let folder = Folder::new();
    let server = start(&folder);
    let candles = json!({ "symbol": "BTCUSDT", "interval": "1d" });
    let bars = json!({ "tickers": ["BTCUSDT"], "interval": "1d" });
    let shares = json!({ "ticker": "SBER" });
    for (tool, args, fields, data) in [
        ("compute_indicators", candles, ["start", "end"], "candles"),
        ("quotes_historical", bars, ["from", "to"], "items"),
        ("get_ohlcv_timeseries", shares, ["from_date", "to_date"], "data"),
    ] {
        let results = in_every_form(&server, tool, &args, fields).await;
        assert!(!results[0][data].as_array().unwrap().is_empty(), "{tool}");
        assert!(results.iter().all(|it| it[data] == results[0][data]), "{tool}: {results:?}");
    }
    let path = "/klines?symbol=BTCUSDT&interval=1d&start=2024-01-01&end=2024-01-04";
    let response = http().get(server.url(path)).send().await.unwrap();
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["candles"].as_array().map(Vec::len), Some(3), "{body}");
}

#[tokio::test]
async fn times_inside_filters_and_in_addresses_are_read_in_every_form() {
    let folder = Folder::new();
    let server = start(&folder);
    let token = every_scope(folder.path());
    let forms = ["2024-01-31", "2024-01-31T12:00:00Z", "1706702400000"];
    let call = async |tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments,
            "_meta": { "auth": { "token": token } } });
        let (_, body) = mcp_post(&server.url("/mcp"), "tools/call", params).await;
        assert_eq!(body["result"]["isError"], false, "{tool}: {body}");
    };
    for form in forms.map(|it| it.parse::<i64>().map_or_else(|_| json!(it), Value::from)) {
        let range = json!({ "start": form, "end": form });
        call("arkiver_query_insights", json!({ "filters": { "dateRange": range } })).await;
        call("arkiver_search_documents", json!({ "query": "word", "dateRange": range })).await;
        call("ingest_tick", json!({ "d": { "sku": "A", "our_price": 1, "ts": form } })).await;
    }
    for form in forms {
        for path in [
            format!("/api/arkiver/search?query=word&from={form}&to={form}"),
            format!("/api/pricing/prices.csv?since={form}"),
        ] {
            let response = http().get(server.url(&path)).bearer_auth(&token).send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}: {}", response.text().await.unwrap());
        }
    }
    let wrong = server.url("/api/pricing/prices.csv?since=soon");
    let response = http().get(wrong).bearer_auth(&token).send().await.unwrap();
    assert_eq!(response.status(), 400);
}

#[tokio::test]
async fn a_service_alone_takes_the_forms_of_its_contract_only() {
    let folder = Folder::new();
    let server = start(&folder);
    let args = json!({ "symbol": "BTCUSDT", "interval": "1d", "start": "2024-01-01" });
    let exact = mcp_call(&server, "/mcp/indicators", "compute_indicators", &args).await;
    assert_eq!(exact["result"]["isError"], true, "{exact}");
    let params = json!({ "name": "compute_indicators", "arguments": { "symbol": "BTCUSDT",
        "interval": "1d", "start": "soon" } });
    let (_, wrong) = mcp_post(&server.url("/mcp"), "tools/call", params).await;
    let text = wrong["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("start: expected a date (2024-01-31)"), "{text}");
}

async fn completed(server: &Server, name: &str, value: &str, known: Value) -> Vec<Value> {
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "klines://{symbol}/{interval}" },
        "argument": { "name": name, "value": value },
        "context": { "arguments": known },
    });
    let (_, body) = mcp_post(&server.url("/mcp"), "completion/complete", params).await;
    let values = body["result"]["completion"]["values"].as_array();
    values.unwrap_or_else(|| panic!("{body}")).clone()
}

#[tokio::test]
async fn symbols_of_every_venue_and_their_intervals_are_completed() {
    let folder = Folder::new();
    let server = start(&folder);
    assert!(completed(&server, "symbol", "MOEX:SB", json!({})).await.contains(&json!("MOEX:SBER")));
    assert!(completed(&server, "symbol", "btcu", json!({})).await.contains(&json!("BTCUSDT")));
    let intervals = completed(&server, "interval", "1", json!({ "symbol": "MOEX:SBER" })).await;
    assert!(intervals.contains(&json!("1m")) && !intervals.contains(&json!("1s")), "{intervals:?}");
    let intervals = completed(&server, "interval", "1", json!({ "symbol": "BTCUSDT" })).await;
    assert!(intervals.contains(&json!("1s")), "{intervals:?}");
}
