//! The arguments of a subscription, as JSON and as a query string, and their checks.

use std::net::IpAddr;
use std::time::Duration;

use clock::Millis;
use fault::Fault;
use market::{Interval, Ticker};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::candles::CandleReader;
use crate::tools::compute_indicators::interval;
use crate::windows::{self, Window};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StreamArgs {
    symbol: String,
    after: Option<i64>,
    #[serde(flatten)]
    options: StreamOptions,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BatchArgs {
    symbols: Vec<String>,
    after: Option<String>,
    #[serde(flatten)]
    options: StreamOptions,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StreamOptions {
    interval: String,
    indicators: Option<IndicatorArgs>,
    closed_only: bool,
    heartbeat_ms: u64,
}

/// Indicators as an object with parameters, or as a text of names.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum IndicatorArgs {
    Object(Map<String, Value>),
    Text(String),
}

/// A checked request to subscribe to one symbol.
#[derive(Debug, Clone)]
pub(crate) struct SubscriptionRequest {
    pub(crate) ticker: Ticker,
    pub(crate) interval: Interval,
    pub(crate) windows: Vec<Window>,
    pub(crate) closed_only: bool,
    /// Heartbeat period.
    pub(crate) heartbeat: Duration,
    /// The resume point: opening time of the last closed candle that the subscriber has.
    pub(crate) after: Option<Millis>,
    /// Whose share of the stream memory the subscription takes; `None` for a local caller.
    pub(crate) client: Option<IpAddr>,
    /// Requests with equal keys share one channel.
    pub(crate) key: String,
}

impl SubscriptionRequest {
    /// Number of candles that its indicators hold in memory.
    pub(crate) fn remembered_candles(&self) -> usize {
        self.windows.iter().map(|it| it.warmup() + 1).sum()
    }
}

impl StreamArgs {
    /// The indicators as the caller wrote them; `null` for none.
    pub(crate) fn indicators(&self) -> Value {
        match &self.options.indicators {
            None => Value::Null,
            Some(IndicatorArgs::Object(windows)) => Value::Object(windows.clone()),
            Some(IndicatorArgs::Text(text)) => Value::from(text.as_str()),
        }
    }

    pub(crate) fn request(&self, candles: &CandleReader) -> Result<SubscriptionRequest, Fault> {
        self.options.request(candles, &self.symbol, self.after.map(Millis))
    }
}

impl BatchArgs {
    /// One request for each symbol.
    pub(crate) fn requests(
        &self,
        candles: &CandleReader,
    ) -> Result<Vec<SubscriptionRequest>, Fault> {
        let after = self.after.as_deref().map(resume_points).transpose()?.unwrap_or_default();
        let mut requests = Vec::new();
        for symbol in &self.symbols {
            let mut request = self.options.request(candles, symbol, None)?;
            let point = after.iter().find(|(name, _)| *name == request.ticker.name);
            request.after = point.map(|(_, at)| *at);
            // Symbols are case-insensitive; a repeated symbol gives one subscription.
            if requests.iter().all(|other: &SubscriptionRequest| other.key != request.key) {
                requests.push(request);
            }
        }
        Ok(requests)
    }
}

/// The inverse of [`super::batch::resume_text`].
fn resume_points(text: &str) -> Result<Vec<(String, Millis)>, Fault> {
    let point = |pair: &str| {
        let (name, at) = pair.rsplit_once('@')?;
        Some((name.to_owned(), Millis(at.parse().ok().filter(|it| *it >= 0)?)))
    };
    text.split(',').map(point).collect::<Option<_>>().ok_or_else(|| {
        let message = "after: expected the id of an event, as BTCUSDT@1725015600000";
        Fault::invalid("invalid_resume", message).problem("after", "the id of an event")
    })
}

impl StreamOptions {
    fn request(
        &self,
        candles: &CandleReader,
        symbol: &str,
        after: Option<Millis>,
    ) -> Result<SubscriptionRequest, Fault> {
        let ticker = candles.ticker(symbol)?;
        let interval = interval(&self.interval)?;
        let windows = match &self.indicators {
            None => Vec::new(),
            Some(IndicatorArgs::Object(windows)) => windows::parse("indicators", windows)?,
            Some(IndicatorArgs::Text(text)) => windows::parse("indicators", &parse_names(text)?)?,
        };
        let key = key(&ticker, interval, &windows);
        Ok(SubscriptionRequest {
            ticker,
            interval,
            windows,
            closed_only: self.closed_only,
            heartbeat: Duration::from_millis(self.heartbeat_ms),
            after,
            client: None,
            key,
        })
    }
}

/// The key does not depend on the order of the indicators.
fn key(ticker: &Ticker, interval: Interval, windows: &[Window]) -> String {
    let mut names: Vec<String> = windows.iter().map(Window::identity).collect();
    names.sort_unstable();
    format!("{}@{}:{}", ticker.name, interval.as_str(), names.join("+"))
}

/// Parses `macd,rsi` or a JSON object.
fn parse_names(text: &str) -> Result<Map<String, Value>, Fault> {
    let refuse = || {
        let expected = "names as macd,rsi, or a JSON object of names and parameters";
        let message = format!("indicators: expected {expected}");
        Fault::invalid("invalid_indicators", message).problem("indicators", expected)
    };
    if !text.trim_start().starts_with('{') {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        return Ok(names.map(|name| (name.to_owned(), Value::Object(Map::new()))).collect());
    }
    let windows: Map<String, Value> = serde_json::from_str(text).map_err(|_| refuse())?;
    let plain = |value: &Value| value.is_number() || value.is_string();
    let settings = |value: &Value| value.as_object().is_some_and(|it| it.values().all(plain));
    match windows.values().all(settings) {
        true => Ok(windows),
        false => Err(refuse()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(text: &str, expected: Option<Value>) {
        assert_eq!(parse_names(text).ok().map(Value::Object), expected, "{text}");
    }

    #[test]
    fn indicators_are_names_or_an_object() {
        check("macd,rsi", Some(json!({"macd": {}, "rsi": {}})));
        check(" macd , ", Some(json!({"macd": {}})));
        check(r#"{"rsi":{"period":7}}"#, Some(json!({"rsi": {"period": 7}})));
        for bad in ["{", r#"{"rsi":7}"#, r#"{"rsi":{"period":null}}"#, r#"{"rsi":{"period":[1]}}"#]
        {
            check(bad, None);
        }
    }

    #[test]
    fn resume_points_are_read_or_refused() {
        let points = resume_points("BTCUSDT@1000,BINANCE:ETHUSDT@0").unwrap();
        assert_eq!(points[1], ("BINANCE:ETHUSDT".to_owned(), Millis(0)));
        for bad in ["", "BTCUSDT", "BTCUSDT@", "BTCUSDT@x", "BTCUSDT@-1", "A@1,,B@2"] {
            assert!(resume_points(bad).is_err(), "{bad}");
        }
    }
}
