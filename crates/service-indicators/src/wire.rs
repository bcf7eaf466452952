//! Arguments and replies in the contract's shapes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use clock::Millis;
use contract::{ErrorTable, HttpReply, Reply};
use fault::Fault;
use market::Interval;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::windows::Window;

use crate::candles::{CandleSelection, Candles, Range};
use crate::envelope;
use crate::figure::figure;

#[derive(Debug, Deserialize)]
pub(crate) struct NoArgs {}

#[derive(Debug, Deserialize)]
pub(crate) struct SymbolsArgs {
    pub(crate) prefix: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct IntervalsArgs {
    pub(crate) symbol: Option<String>,
}

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

/// The distinct sources, such as `binance, simulated`.
fn distinct<'a>(sources: impl IntoIterator<Item = &'a str>) -> String {
    let distinct: BTreeSet<&str> = sources.into_iter().collect();
    distinct.into_iter().collect::<Vec<_>>().join(", ")
}

pub(crate) fn source_meta(source: &str) -> Map<String, Value> {
    Map::from_iter([("stoa/source".to_owned(), Value::from(source))])
}

/// Source and completeness of the candles, as `quotes.historical` reports them.
fn selection_meta(selection: &CandleSelection) -> Map<String, Value> {
    let mut meta = source_meta(&selection.source);
    let bars = selection.requested().len();
    let completeness = json!({ "bars": bars, "gaps": selection.gaps });
    meta.insert("stoa/completeness".to_owned(), completeness);
    meta
}

/// The distinct sources, and the gaps of all selections where each is known.
fn selection_headers(served: &[CandleSelection]) -> Vec<(&'static str, String)> {
    let sources = distinct(served.iter().map(|it| it.source.as_str()));
    let gaps: Option<u64> = served.iter().map(|it| it.gaps).sum();
    let gaps = gaps.map(|gaps| ("x-stoa-gaps", gaps.to_string()));
    [("x-stoa-source", sources)].into_iter().chain(gaps).collect()
}

fn gaps_text(gaps: Option<u64>) -> String {
    match gaps {
        Some(gaps) if gaps > 0 => format!("; {gaps} candles are missing at the venue"),
        _ => String::new(),
    }
}

/// All candles of a selection with their source.
fn candles_json(selection: &CandleSelection) -> Value {
    json!({
        "candles": selection.candles.iter().map(candle).collect::<Value>(),
        "meta": { "source": selection.source, "gaps": selection.gaps },
    })
}

/// The values of a candle in JSON: its object and its six fields.
const CANDLE_VALUES: usize = 7;

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
    /// The windows as the caller wrote them, for the call that the text names.
    pub(crate) windows: Map<String, Value>,
    pub(crate) generated_at: Millis,
}

/// One indicator with its series, in the order of its outputs.
pub(crate) struct Computation {
    pub(crate) window: Window,
    pub(crate) series: Vec<Vec<f64>>,
    /// Number of leading values that the indicator cannot compute yet.
    pub(crate) warmup: usize,
}

/// The most rows of the text, and the most figures in them.
const ROWS_MAX: usize = 20;
const FIGURES_MAX: usize = 1_000;

impl Computed {
    /// Writes the last candles, one row each with its time, and the call that shows those before.
    fn write_rows(&self, requested: &Candles, text: &mut String) {
        let columns: Vec<(&str, &Vec<f64>)> = self.series().collect();
        let most = (FIGURES_MAX / (columns.len() + 1)).clamp(1, ROWS_MAX);
        let skipped = requested.len().saturating_sub(most);
        let names: Vec<&str> = columns.iter().map(|(key, _)| *key).collect();
        _ = writeln!(text, "time close {}", names.join(" "));
        for (at, candle) in requested.iter().enumerate().skip(skipped) {
            _ = write!(text, "{} {}", Millis(candle.t), figure(candle.c));
            for (_, column) in &columns {
                let value = column.get(at).copied().unwrap_or(f64::NAN);
                _ = write!(text, " {}", figure(value));
            }
            text.push('\n');
        }
        let Some(first) = requested.iter().nth(skipped).filter(|_| skipped > 0) else { return };
        let call = json!({
            "symbol": self.selection.ticker.name, "interval": self.interval.as_str(),
            "end": first.t, "limit": most, "windows": self.windows, "warm": true,
        });
        let count = requested.len();
        _ = writeln!(
            text,
            "the last {most} of {count}, all of which are in the structured content; those before: \
             compute_indicators {call}"
        );
    }

    fn series(&self) -> impl Iterator<Item = (&str, &Vec<f64>)> {
        self.indicators
            .iter()
            .flat_map(|it| it.window.keys().iter().map(|key| &**key).zip(&it.series))
    }
}

impl Reply for Computed {
    fn values(&self) -> usize {
        let candles = if self.include_candles { self.selection.candles.len() } else { 0 };
        let of_series: usize = self.series().map(|(_, column)| column.len()).sum();
        of_series + candles * CANDLE_VALUES
    }

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
            "gaps": self.selection.gaps,
        });
        result
    }

    fn meta(&self) -> Map<String, Value> {
        selection_meta(&self.selection)
    }

    fn http(&self) -> HttpReply {
        let headers = selection_headers(std::slice::from_ref(&self.selection));
        HttpReply { status: 200, body: self.result(), max_age_s: None, headers }
    }

    fn text(&self) -> String {
        let CandleSelection { ticker, source, .. } = &self.selection;
        let requested = self.selection.requested();
        let mut text =
            format!("{} {}: {} closed candles", ticker.name, self.interval, requested.len());
        if let (Some(first), Some(last)) = (requested.iter().next(), requested.iter().next_back()) {
            let (from, to) = (Millis(first.t), Millis(last.t));
            _ = write!(text, " from {from} to {to}; last close {}", figure(last.c));
        }
        _ = writeln!(text, "; source {source}{}", gaps_text(self.selection.gaps));
        self.write_rows(&requested, &mut text);
        text
    }
}

pub(crate) struct Klines(pub(crate) CandleSelection);

impl Reply for Klines {
    fn values(&self) -> usize {
        self.0.candles.len() * CANDLE_VALUES
    }

    fn result(&self) -> Value {
        candles_json(&self.0)
    }

    fn text(&self) -> String {
        let CandleSelection { ticker, source, candles, gaps, .. } = &self.0;
        let (count, gaps) = (candles.len(), gaps_text(*gaps));
        format!("{count} closed candles of {}; source {source}{gaps}\n", ticker.name)
    }

    fn meta(&self) -> Map<String, Value> {
        selection_meta(&self.0)
    }

    fn http(&self) -> HttpReply {
        let headers = selection_headers(std::slice::from_ref(&self.0));
        HttpReply { status: 200, body: self.result(), max_age_s: Some(1), headers }
    }
}

/// Candles of several symbols, and the fault of each symbol without candles.
pub(crate) struct KlinesBatch {
    pub(crate) served: Vec<CandleSelection>,
    pub(crate) missing: Vec<(String, Fault)>,
    pub(crate) errors: Arc<ErrorTable>,
}

impl KlinesBatch {
    fn sources(&self) -> impl Iterator<Item = &str> {
        self.served.iter().map(|it| it.source.as_str())
    }
}

impl Reply for KlinesBatch {
    fn values(&self) -> usize {
        self.served.iter().map(|it| it.candles.len() * CANDLE_VALUES).sum()
    }

    fn result(&self) -> Value {
        let results: Map<String, Value> = self
            .served
            .iter()
            .map(|selection| (selection.ticker.name.clone(), candles_json(selection)))
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
        let sources = distinct(self.sources());
        let (names, missing) = (names.join(", "), self.missing.len());
        format!("closed candles of {names}; {missing} are missing; source {sources}\n")
    }

    fn meta(&self) -> Map<String, Value> {
        source_meta(&distinct(self.sources()))
    }

    fn http(&self) -> HttpReply {
        let (status, max_age_s) =
            if self.missing.is_empty() { (200, Some(1)) } else { (206, None) };
        let headers = selection_headers(&self.served);
        HttpReply { status, body: self.result(), max_age_s, headers }
    }
}

pub(crate) struct Symbols {
    pub(crate) symbols: Vec<String>,
    pub(crate) updated_at: Millis,
    pub(crate) source: String,
}

impl Reply for Symbols {
    fn result(&self) -> Value {
        json!({ "symbols": self.symbols, "updatedAt": self.updated_at.0, "source": self.source })
    }

    fn text(&self) -> String {
        // An exchange lists thousands of symbols; the text shows the count and the first 200.
        let shown: Vec<&str> = self.symbols.iter().take(200).map(String::as_str).collect();
        let (count, source) = (self.symbols.len(), &self.source);
        let rest = match count > shown.len() {
            true => "\nthe first 200; others by their beginning: list_symbols {\"prefix\":\"E\"}",
            false => "",
        };
        format!("{count} symbols: {}; source {source}{rest}\n", shown.join(" "))
    }

    fn meta(&self) -> Map<String, Value> {
        source_meta(&self.source)
    }

    fn http(&self) -> HttpReply {
        let headers = vec![("x-stoa-source", self.source.clone())];
        HttpReply { status: 200, body: self.result(), max_age_s: Some(60), headers }
    }
}

pub(crate) struct Intervals {
    pub(crate) intervals: Vec<&'static str>,
    pub(crate) source: String,
}

impl Reply for Intervals {
    fn result(&self) -> Value {
        json!({ "intervals": self.intervals, "source": self.source })
    }

    fn text(&self) -> String {
        format!("{}; source {}\n", self.intervals.join(" "), self.source)
    }

    fn meta(&self) -> Map<String, Value> {
        source_meta(&self.source)
    }

    fn http(&self) -> HttpReply {
        let headers = vec![("x-stoa-source", self.source.clone())];
        HttpReply { status: 200, body: self.result(), max_age_s: Some(60), headers }
    }
}

pub(crate) struct Health {
    pub(crate) status: &'static str,
    pub(crate) uptime_s: i64,
    pub(crate) version: &'static str,
    pub(crate) provider: String,
    /// By venue, where its data come from.
    pub(crate) sources: BTreeMap<String, String>,
}

impl Reply for Health {
    fn result(&self) -> Value {
        json!({
            "status": self.status,
            "uptime": self.uptime_s,
            "version": self.version,
            "provider": self.provider,
            "sources": self.sources,
        })
    }

    fn meta(&self) -> Map<String, Value> {
        Map::from_iter([("stoa/sources".to_owned(), json!(self.sources))])
    }

    fn text(&self) -> String {
        format!("indicators are {}; candles come from {}\n", self.status, self.provider)
    }
}
