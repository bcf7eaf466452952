//! Arguments and replies in the contract's shapes.

use std::fmt::Write as _;
use std::sync::Arc;

use clock::Millis;
use contract::{ErrorTable, HttpReply, Reply};
use fault::Fault;
use market::Interval;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::windows::Window;

use crate::candles::{CandleSelection, Range};
use crate::envelope;

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
pub(crate) struct BatchArgs {
    pub(crate) symbols: Vec<String>,
    pub(crate) interval: String,
    start: Option<i64>,
    end: Option<i64>,
    limit: Option<usize>,
}

impl BatchArgs {
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
    #[serde(default)]
    pub(crate) warm: bool,
}

fn candle(it: ta::Candle) -> Value {
    json!({ "t": it.t, "o": it.o, "h": it.h, "l": it.l, "c": it.c, "v": it.v })
}

/// A number, or `null` for `NaN` and infinities, which JSON cannot represent.
fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

pub(crate) struct Computed {
    pub(crate) selection: CandleSelection,
    pub(crate) interval: Interval,
    pub(crate) include_candles: bool,
    pub(crate) indicators: Vec<Computation>,
    pub(crate) generated_at: Millis,
}

/// One indicator with its series, in the order of its outputs.
pub(crate) struct Computation {
    pub(crate) window: Window,
    pub(crate) series: Vec<Vec<f64>>,
    /// Number of leading values that the indicator cannot compute yet.
    pub(crate) warmup: usize,
}

impl Computed {
    fn series(&self) -> impl Iterator<Item = (&str, &Vec<f64>)> {
        self.indicators
            .iter()
            .flat_map(|it| it.window.keys().iter().map(|key| &**key).zip(&it.series))
    }
}

impl Reply for Computed {
    fn result(&self) -> Value {
        let series: Map<String, Value> = self
            .series()
            .map(|(key, column)| (key.to_owned(), column.iter().copied().map(number).collect()))
            .collect();
        let warmup = self.indicators.iter().map(|it| it.warmup).max().unwrap_or(0);
        let mut result = json!({
            "schemaVersion": "1.0",
            "symbol": self.selection.ticker.name,
            "interval": self.interval.as_str(),
        });
        if self.include_candles {
            result["candles"] = self.selection.requested().iter().map(candle).collect();
        }
        result["series"] = Value::Object(series);
        result["meta"] = json!({
            "warmup": warmup,
            "source": self.selection.source,
            "generatedAt": self.generated_at.0,
        });
        result
    }

    fn text(&self) -> String {
        let CandleSelection { ticker, source, .. } = &self.selection;
        let requested = self.selection.requested();
        let mut text =
            format!("{} {}: {} closed candles", ticker.name, self.interval, requested.len());
        if let (Some(first), Some(last)) = (requested.iter().next(), requested.iter().next_back()) {
            let (from, to) = (Millis(first.t), Millis(last.t));
            _ = write!(text, " from {from} to {to}; last close {}", last.c);
        }
        _ = writeln!(text, "; source {source}");
        for (key, column) in self.series() {
            // The text shows the last five values; the structured content has all of them.
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

pub(crate) struct Klines(pub(crate) CandleSelection);

impl Reply for Klines {
    fn result(&self) -> Value {
        json!({ "candles": self.0.candles.iter().map(candle).collect::<Value>() })
    }

    fn text(&self) -> String {
        format!("{} closed candles of {}\n", self.0.candles.len(), self.0.ticker.name)
    }

    fn http(&self) -> HttpReply {
        let headers = vec![("x-stoa-source", self.0.source.clone())];
        HttpReply { status: 200, body: self.result(), max_age_s: Some(1), headers }
    }
}

/// Candles of several symbols, and the fault of each symbol without candles.
pub(crate) struct KlinesBatch {
    pub(crate) served: Vec<CandleSelection>,
    pub(crate) missing: Vec<(String, Fault)>,
    pub(crate) errors: Arc<ErrorTable>,
}

impl Reply for KlinesBatch {
    fn result(&self) -> Value {
        let results: Map<String, Value> = self
            .served
            .iter()
            .map(|selection| {
                let candles: Value = selection.candles.iter().map(candle).collect();
                (selection.ticker.name.clone(), json!({ "candles": candles }))
            })
            .collect();
        let errors: Map<String, Value> = self
            .missing
            .iter()
            .map(|(name, fault)| (name.clone(), envelope::error(fault, self.errors.row(fault))))
            .collect();
        json!({ "results": results, "errors": errors })
    }

    fn text(&self) -> String {
        let names: Vec<&str> = self.served.iter().map(|it| it.ticker.name.as_str()).collect();
        format!("closed candles of {}; {} are missing\n", names.join(", "), self.missing.len())
    }

    fn http(&self) -> HttpReply {
        let (status, max_age_s) =
            if self.missing.is_empty() { (200, Some(1)) } else { (206, None) };
        HttpReply { status, body: self.result(), max_age_s, headers: Vec::new() }
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
        // An exchange lists thousands of symbols; the text shows the count and the first 200.
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
