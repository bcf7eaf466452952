//! Arguments and replies in the contract's shapes.

use std::fmt::Write as _;

use contract::{HttpReply, Reply};
use market::{Bar, Interval, Millis};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use ta::Spec;

use crate::candles::{Found, Range};

#[derive(Debug, Deserialize)]
pub(crate) struct NoArgs {}

#[derive(Debug, Deserialize)]
pub(crate) struct KlinesArgs {
    pub(crate) symbol: String,
    pub(crate) interval: String,
    start: Option<i64>,
    end: Option<i64>,
    limit: Option<usize>,
}

impl KlinesArgs {
    pub(crate) fn range(&self) -> Range {
        Range { start: self.start.map(Millis), end: self.end.map(Millis), limit: self.limit }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ComputeArgs {
    #[serde(flatten)]
    pub(crate) klines: KlinesArgs,
    #[serde(default)]
    pub(crate) windows: Map<String, Value>,
    pub(crate) include_candles: bool,
}

fn candle(bar: &Bar) -> Value {
    json!({
        "t": bar.open_time.0,
        "o": bar.open.to_f64(),
        "h": bar.high.to_f64(),
        "l": bar.low.to_f64(),
        "c": bar.close.to_f64(),
        "v": bar.volume.map_or(0.0, market::Decimal::to_f64),
    })
}

/// A number, or `null` where there is none: JSON knows no `NaN`.
fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

pub(crate) struct Computed {
    pub(crate) found: Found,
    pub(crate) interval: Interval,
    pub(crate) include_candles: bool,
    /// Each indicator with its series, in the order of its outputs.
    pub(crate) indicators: Vec<(Spec, Vec<Vec<f64>>)>,
    pub(crate) generated_at: Millis,
}

impl Computed {
    fn series(&self) -> impl Iterator<Item = (&'static str, &Vec<f64>)> {
        self.indicators
            .iter()
            .flat_map(|(spec, columns)| spec.outputs().iter().copied().zip(columns))
    }
}

impl Reply for Computed {
    fn result(&self) -> Value {
        let series: Map<String, Value> = self
            .series()
            .map(|(key, column)| (key.to_owned(), column.iter().copied().map(number).collect()))
            .collect();
        let warmup = self.indicators.iter().map(|(spec, _)| spec.warmup()).max().unwrap_or(0);
        let mut result = json!({
            "schemaVersion": "1.0",
            "symbol": self.found.ticker.name,
            "interval": self.interval.as_str(),
        });
        if self.include_candles {
            result["candles"] = self.found.bars.iter().map(candle).collect();
        }
        result["series"] = Value::Object(series);
        result["meta"] = json!({
            "warmup": warmup,
            "source": self.found.source,
            "generatedAt": self.generated_at.0,
        });
        result
    }

    fn text(&self) -> String {
        let Found { ticker, source, bars } = &self.found;
        let mut text = format!("{} {}: {} closed candles", ticker.name, self.interval, bars.len());
        if let (Some(first), Some(last)) = (bars.first(), bars.last()) {
            let (from, to) = (first.open_time, last.open_time);
            _ = write!(text, " from {from} to {to}; last close {}", last.close);
        }
        _ = writeln!(text, "; source {source}");
        for (key, column) in self.series() {
            // The last few show where it is going; all of them are in the structured content.
            let shown: Vec<String> = column
                .iter()
                .skip(column.len().saturating_sub(5))
                .map(|value| if value.is_finite() { format!("{value:.6}") } else { "-".to_owned() })
                .collect();
            _ = writeln!(text, "{key}: … {}", shown.join(" "));
        }
        text
    }
}

pub(crate) struct Klines(pub(crate) Found);

impl Reply for Klines {
    fn result(&self) -> Value {
        json!({ "candles": self.0.bars.iter().map(candle).collect::<Value>() })
    }

    fn text(&self) -> String {
        format!("{} closed candles of {}\n", self.0.bars.len(), self.0.ticker.name)
    }

    fn http(&self) -> HttpReply {
        let headers = vec![("x-stoa-source", self.0.source.clone())];
        HttpReply { status: 200, body: self.result(), max_age_s: Some(1), headers }
    }
}

pub(crate) struct Symbols {
    pub(crate) symbols: Vec<String>,
    pub(crate) updated_at: Millis,
}

impl Reply for Symbols {
    fn result(&self) -> Value {
        json!({ "symbols": self.symbols, "updatedAt": self.updated_at.0 })
    }

    fn text(&self) -> String {
        // Exchanges list thousands; a model needs to know that, not all of them.
        let shown: Vec<&str> = self.symbols.iter().take(200).map(String::as_str).collect();
        format!("{} symbols: {}\n", self.symbols.len(), shown.join(" "))
    }

    fn http(&self) -> HttpReply {
        HttpReply { status: 200, body: self.result(), max_age_s: Some(60), headers: Vec::new() }
    }
}

pub(crate) struct Health {
    pub(crate) status: &'static str,
    pub(crate) uptime_s: i64,
    pub(crate) version: &'static str,
    pub(crate) provider: String,
}

impl Reply for Health {
    fn result(&self) -> Value {
        json!({
            "status": self.status,
            "uptime": self.uptime_s,
            "version": self.version,
            "provider": self.provider,
        })
    }

    fn text(&self) -> String {
        format!("indicators are {}; candles come from {}\n", self.status, self.provider)
    }
}
