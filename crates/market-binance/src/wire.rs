//! Binance's REST payloads, reduced to the fields that are read. Unknown fields and statuses are
//! ignored: the exchange adds both without notice.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, SeqAccess, Visitor};

/// Whether a time lies between 1970 and the year 9999. Any other time is an error of the exchange and
/// could overflow calculations.
pub(crate) fn is_plausible(time_ms: i64) -> bool {
    (0..TIME_MAX_MS).contains(&time_ms)
}

/// The end of the year 9999.
pub(crate) const TIME_MAX_MS: i64 = 253_402_300_800_000;

/// `{"serverTime":1786700000123}`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerTime {
    pub(crate) server_time: i64,
}

/// `{"code":-1121,"msg":"Invalid symbol."}`
#[derive(Debug, Deserialize)]
pub(crate) struct ErrorBody {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) msg: String,
}

/// ```json
/// {"timezone":"UTC","serverTime":1786700000123,
///  "rateLimits":[{"rateLimitType":"REQUEST_WEIGHT","interval":"MINUTE","intervalNum":1,"limit":6000}],
///  "exchangeFilters":[],
///  "symbols":[{"symbol":"ABCUSDT","status":"TRADING","baseAsset":"ABC","quoteAsset":"USDT",
///              "filters":[{"filterType":"PRICE_FILTER","tickSize":"0.01000000"}]}]}
/// ```
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExchangeInfo {
    #[serde(default)]
    pub(crate) rate_limits: Vec<RateLimit>,
    pub(crate) symbols: Vec<SymbolInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RateLimit {
    pub(crate) rate_limit_type: String,
    pub(crate) interval: String,
    pub(crate) interval_num: u32,
    pub(crate) limit: u32,
}

impl RateLimit {
    /// The request weight per minute, if this is the row of that limit.
    pub(crate) fn weight_per_minute(&self) -> Option<u32> {
        let weight = self.rate_limit_type == "REQUEST_WEIGHT" && self.interval == "MINUTE";
        (weight && self.interval_num > 0).then(|| self.limit / self.interval_num)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SymbolInfo {
    pub(crate) symbol: String,
    pub(crate) status: String,
    pub(crate) quote_asset: String,
}

/// ```json
/// {"symbol":"ABCUSDT","openPrice":"11.86000000","highPrice":"12.40000000",
///  "lowPrice":"11.55000000","lastPrice":"11.98000000",
///  "volume":"52010.40000000","quoteVolume":"622003.11000000",
///  "openTime":1786613600123,"closeTime":1786700000123,"firstId":1,"lastId":900,"count":900}
/// ```
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ticker<'a> {
    pub(crate) symbol: String,
    pub(crate) last_price: &'a str,
    pub(crate) volume: &'a str,
    pub(crate) close_time: i64,
}

/// `[1786700000000,"11.86","12.40","11.55","11.98","520.4",1786703599999,"6220.1",90,"260.1","3110.2","0"]`:
/// opening time, open, high, low, close, volume, closing time, and five fields that are not read.
#[derive(Debug)]
pub(crate) struct KlineRow<'a> {
    pub(crate) open_time: i64,
    pub(crate) open: &'a str,
    pub(crate) high: &'a str,
    pub(crate) low: &'a str,
    pub(crate) close: &'a str,
    pub(crate) volume: &'a str,
    pub(crate) close_time: i64,
}

impl<'de: 'a, 'a> Deserialize<'de> for KlineRow<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowVisitor;

        fn next<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(
            row: &mut A,
            what: &'static str,
        ) -> Result<T, A::Error> {
            row.next_element()?
                .ok_or_else(|| de::Error::custom(format!("a row ends before {what}")))
        }

        impl<'de> Visitor<'de> for RowVisitor {
            type Value = KlineRow<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row of at least seven elements")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> Result<Self::Value, A::Error> {
                let kline = KlineRow {
                    open_time: next(&mut row, "openTime")?,
                    open: next(&mut row, "open")?,
                    high: next(&mut row, "high")?,
                    low: next(&mut row, "low")?,
                    close: next(&mut row, "close")?,
                    volume: next(&mut row, "volume")?,
                    close_time: next(&mut row, "closeTime")?,
                };
                while row.next_element::<IgnoredAny>()?.is_some() {}
                Ok(kline)
            }
        }

        deserializer.deserialize_seq(RowVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_may_have_more_elements_but_not_fewer() {
        let row = |tail: &str| format!(r#"[[1,"1","2","0.5","1.5","9",59999{tail}]]"#);
        for tail in ["", r#","1",2,"3","4","0""#, r#","1",2,"3","4","0",{"new":[1]}"#] {
            let text = row(tail);
            let rows: Vec<KlineRow<'_>> = serde_json::from_str(&text).unwrap();
            assert_eq!((rows[0].open_time, rows[0].low, rows[0].close_time), (1, "0.5", 59_999));
        }
        for text in [r#"[[1,"1"]]"#, r#"[["1","1","2","0.5","1.5","9",59999]]"#, "[{}]", "[[1,2]]"]
        {
            assert!(serde_json::from_str::<Vec<KlineRow<'_>>>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn unknown_statuses_and_limits_are_read() {
        let text = r#"{"rateLimits":[{"rateLimitType":"COFFEE","interval":"WEEK","intervalNum":0,"limit":1}],
            "symbols":[{"symbol":"A","status":"CANCEL_ONLY","quoteAsset":"B","new":{}}]}"#;
        let info: ExchangeInfo = serde_json::from_str(text).unwrap();
        assert_eq!(info.symbols[0].status, "CANCEL_ONLY");
        assert_eq!(info.rate_limits[0].weight_per_minute(), None);
    }
}
