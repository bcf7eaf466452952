//! A client that reads prices, candles and indicators over REST and MCP.

use serde_json::json;

use crate::clients::{Client, RequestFailure, rpc};
use crate::http::Request;

const SYMBOLS: [&str; 6] = ["BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "ADAUSDT", "BNBUSDT"];
const HOUR_MS: u64 = 3_600_000;
/// 1 January 2024.
const START_MS: u64 = 1_704_067_200_000;

pub(crate) async fn run(mut client: Client) {
    while one(&mut client).await != Err(RequestFailure::LoadOver) {}
}

async fn one(client: &mut Client) -> Result<(), RequestFailure> {
    let (symbol, other) = (*client.rng.pick(&SYMBOLS), *client.rng.pick(&SYMBOLS));
    let from = START_MS + client.rng.below(200) * HOUR_MS;
    let to = from + 100 * HOUR_MS;
    match client.rng.below(10) {
        0..=2 => {
            let path = format!("/v1/quotes?tickers={symbol},{other}");
            client.request("REST quotes", &Request::get(path)).await.map(drop)
        }
        3 => {
            let path = format!(
                "/v1/quotes/historical?tickers={symbol}&from=2024-01-01&to=2024-01-31&interval=1d"
            );
            client.request("REST history", &Request::get(path)).await.map(drop)
        }
        4 => {
            let path = format!("/klines?symbol={symbol}&interval=1h&start={from}&end={to}");
            client.request("REST klines", &Request::get(path)).await.map(drop)
        }
        5 => {
            let ask = json!({ "symbol": symbol, "interval": "1h", "start": from, "end": to,
                "windows": { "rsi": {}, "macd": {} } });
            client.request("REST indicators", &Request::post("/indicators", &ask)).await.map(drop)
        }
        6 => client.request("MCP tools/list", &rpc("tools/list", json!({}))).await.map(drop),
        7 => {
            let ask = json!({ "symbol": symbol, "interval": "1h", "start": from, "end": to,
                "windows": { "rsi": {} } });
            client.tool("MCP indicators", "compute_indicators", ask).await.map(drop)
        }
        _ => {
            let ask = json!({ "tickers": [symbol] });
            client.tool("MCP quotes", "quotes_live", ask).await.map(drop)
        }
    }
}
