//! Live candles of the Moscow Exchange, which the adapter polls: the same transports as other
//! streams, at any hour and on any day.

use clock::{Clock as _, Millis, SystemClock};
use market::Interval;

use super::*;
use crate::process::{mcp_headers, mcp_post};

/// Moscow is three hours ahead of UTC.
const AHEAD_MS: i64 = 3 * 3_600_000;

impl Fixture {
    /// The opening times of the newest closed candles of a share.
    async fn newest(&self, interval: &str, count: usize) -> Vec<i64> {
        let path = format!("/klines?symbol=MOEX:SBER&interval={interval}&limit={count}");
        let response = http().get(self.server.url(&path)).send().await.unwrap();
        let body: Value = response.json().await.unwrap();
        let candles = body["candles"].as_array().unwrap_or_else(|| panic!("{body}"));
        candles.iter().map(|candle| candle["t"].as_i64().unwrap()).collect()
    }

    /// The opening time of this month's candle, if the month certainly had a trade.
    async fn traded_month(&self) -> Option<i64> {
        let day = *self.newest("1d", 1).await.last().unwrap();
        let month = |at: i64| Interval::Month.open_of(Millis(at)).0;
        let this = month(SystemClock.now().0 + AHEAD_MS);
        (month(day) == this).then_some(this)
    }
}

#[track_caller]
fn check_warm(event: &Value) {
    for name in ["macd", "signal", "hist", "rsi"] {
        assert!(event["deltas"][name].is_f64(), "{name}: {event}");
    }
}

#[tokio::test]
async fn moscow_events_are_warm_resumable_and_include_the_forming_candle() {
    let fixture = Fixture::new(&[]);
    let hours = fixture.newest("1h", 4).await;
    let query = "symbol=MOEX:SBER&interval=1h&indicators=macd,rsi";
    let mut events = fixture.events(query, Some(hours[0])).await;
    let mut times = Vec::new();
    while times.len() < 3 {
        let (id, event) = events.next().await.unwrap();
        if event["type"] == "kline" {
            check_warm(&event);
            times.push(id.unwrap());
        }
    }
    assert_eq!(times, hours[1..], "nothing missed, nothing twice");
    // The candle of the current month arrives at once.
    let month = fixture.traded_month().await;
    let query = "symbol=MOEX:SBER&interval=1M&indicators=macd,rsi&closedOnly=false";
    let mut events = fixture.events(query, None).await;
    let (_, first) = events.next().await.unwrap();
    assert_eq!((&first["type"], &first["status"]), (&json!("status"), &json!("connected")));
    assert_eq!(first["delay"], "delayed_15m", "{first}");
    // On the first of a month, before the first trade, there is no candle.
    let Some(month) = month else { return };
    let (id, event) = events.next().await.unwrap();
    assert_eq!((id, &event["candle"]["t"]), (None, &json!(month)), "{event}");
    assert_eq!(event["candle"]["closed"], false);
    check_warm(&event);
    // Later subscribers get the same.
    let mut socket = fixture.socket().await;
    let ask = json!({"type": "subscribe", "symbol": "MOEX:SBER", "interval": "1M",
        "indicators": {"rsi": {}}, "closedOnly": false});
    socket.say(&ask).await;
    let message = socket.next_of("kline").await;
    assert_eq!(message["candle"]["t"], event["candle"]["t"], "{message}");
    assert!(message["deltas"]["rsi"].is_f64(), "{message}");
}

#[tokio::test]
async fn intervals_and_symbols_the_exchange_lacks_are_refused() {
    let fixture = Fixture::new(&[]);
    let mut socket = fixture.socket().await;
    for (symbol, interval, code, hint) in [
        ("MOEX:SBRE", "1m", "unknown_symbol", "SBER"),
        ("MOEX:SBER", "1s", "invalid_request", "1s"),
    ] {
        let query = format!("symbol={symbol}&interval={interval}");
        let url = fixture.server.url(&format!("/stream/klines?{query}"));
        let refused = http().get(url).send().await.unwrap();
        assert!(refused.status().is_client_error(), "{}", refused.status());
        let body: Value = refused.json().await.unwrap();
        assert_eq!(body["error"]["code"], code, "{body}");
        assert!(body["error"]["message"].as_str().unwrap().contains(hint), "{body}");
        socket.say(json!({"type": "subscribe", "symbol": symbol, "interval": interval})).await;
        assert_eq!(socket.next_of("error").await["error"]["code"], code);
    }
}

#[tokio::test]
async fn the_stream_tool_replays_missed_candles() {
    let fixture = Fixture::new(&[]);
    let hours = fixture.newest("1h", 4).await;
    let arguments = json!({"symbol": "MOEX:SBER", "interval": "1h", "after": hours[0],
        "indicators": {"rsi": {}}, "maxEvents": 3, "maxSeconds": 30});
    let params = json!({"name": "stream_klines", "arguments": arguments});
    let url = fixture.server.url("/mcp/indicators");
    let (status, body) = mcp_post(&url, "tools/call", params).await;
    let content = &body["result"]["structuredContent"];
    assert_eq!((status, &content["ended"]), (200, &json!("maxEvents")), "{body}");
    assert_eq!(content["resumeAfter"], hours[3], "{content}");
    let params = json!({"uri": "klines://MOEX%3ASBER/1h"});
    let (status, body) = mcp_post(&url, "resources/read", params).await;
    assert_eq!(status, 200, "{body}");
    let text = body["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains(&hours[3].to_string()), "{text}");
    let uris = json!({ "resourceSubscriptions": ["klines://MOEX%3ASBER/1h"] });
    let params = json!({ "notifications": uris });
    let request = mcp_headers(http().post(&url), "subscriptions/listen", params);
    let mut events = Events { response: request.send().await.unwrap(), text: String::new() };
    let (_, first) = events.next().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
}
