//! Arguments and replies as the manifest defines them, for MCP and HTTP.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use contract::{Cx, HttpReply, Reply};
use fault::Fault;
use market::{Freshness, Interval};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::ports::ApiContext;
use crate::reply::{
    BarRow, HealthReply, HistoryQuery, HistoryReply, LiveReply, MetadataReply, MissingTicker,
    VenueSources,
};
use crate::{Quotes, RANGE_DAYS_MAX};

#[derive(Debug, Deserialize)]
pub(crate) struct LiveArgs {
    pub(crate) tickers: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct NoArgs {}

#[derive(Debug, Deserialize)]
pub(crate) struct HistoricalArgs {
    tickers: Vec<String>,
    from: String,
    to: String,
    interval: String,
    page: u64,
    page_size: usize,
}

impl TryFrom<HistoricalArgs> for HistoryQuery {
    type Error = Fault;

    fn try_from(args: HistoricalArgs) -> Result<Self, Fault> {
        let (from, to) = Self::parse_dates(&args.from, &args.to)?;
        let interval = Interval::parse(&args.interval)
            .ok_or_else(|| Fault::internal("the schema let an unknown interval through"))?;
        let HistoricalArgs { tickers, page, page_size, .. } = args;
        Ok(Self { tickers, from, to, interval, page, page_size })
    }
}

pub(crate) fn api_context(cx: &Cx<Quotes>) -> ApiContext {
    ApiContext {
        request_id: cx.request_id.clone(),
        deadline: cx.deadline,
        progress: cx.progress.clone(),
    }
}

/// A JSON object of these values. The `json!` macro would serialize each value again.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let mut object = Map::with_capacity(N);
    object.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(object)
}

fn missing_json(missing: &[MissingTicker]) -> Value {
    let row = |it: &MissingTicker| json!({ "ticker": it.ticker, "reason": it.reason, "retryable": it.retryable });
    missing.iter().map(row).collect()
}

fn missing_text(missing: &[MissingTicker], text: &mut String) {
    for it in missing {
        _ = writeln!(text, "missing {}: {}", it.ticker, it.reason);
    }
}

fn freshness_json(freshness: &Freshness) -> Value {
    object([
        ("source", freshness.source.as_str().into()),
        ("as_of", freshness.as_of.to_rfc3339().into()),
        ("received_at", freshness.received_at.to_rfc3339().into()),
        ("delay", freshness.delay.as_str().into()),
        ("stale", freshness.stale.into()),
        ("fallback", freshness.fallback.as_deref().into()),
    ])
}

fn freshness_headers(freshness: Option<&Freshness>) -> Vec<(&'static str, String)> {
    let Some(freshness) = freshness else { return Vec::new() };
    let mut headers = vec![
        ("x-stoa-source", freshness.source.clone()),
        ("x-stoa-as-of", freshness.as_of.to_rfc3339()),
        ("x-stoa-received-at", freshness.received_at.to_rfc3339()),
        ("x-stoa-delay", freshness.delay.as_str().to_owned()),
        ("x-stoa-stale", freshness.stale.to_string()),
    ];
    if let Some(reason) = &freshness.fallback {
        headers.push(("x-stoa-fallback", reason.clone()));
    }
    headers
}

fn freshness_text(freshness: Option<&Freshness>, text: &mut String) {
    let Some(freshness) = freshness else { return };
    _ = write!(text, "source: {}, {}", freshness.source, freshness.delay.as_str());
    if freshness.stale {
        text.push_str(", STALE");
    }
    if let Some(reason) = &freshness.fallback {
        _ = write!(text, " ({reason})");
    }
    text.push('\n');
}

fn meta(freshness: Option<&Freshness>, missing: &[MissingTicker]) -> Map<String, Value> {
    let mut meta = Map::new();
    if let Some(freshness) = freshness {
        meta.insert("stoa/freshness".to_owned(), freshness_json(freshness));
    }
    if !missing.is_empty() {
        meta.insert("stoa/missing".to_owned(), missing_json(missing));
    }
    meta
}

/// The `_meta` of health and metadata replies: the source of each venue.
fn sources_meta(sources: &VenueSources) -> Map<String, Value> {
    let mut meta = Map::new();
    if !sources.is_empty() {
        meta.insert("stoa/sources".to_owned(), json!(sources));
    }
    meta
}

/// The distinct sources of all venues, such as `simulated, file`.
fn sources_headers(sources: &VenueSources) -> Vec<(&'static str, String)> {
    let distinct: BTreeSet<&str> = sources.values().map(String::as_str).collect();
    let all: Vec<&str> = distinct.into_iter().collect();
    if all.is_empty() { Vec::new() } else { vec![("x-stoa-source", all.join(", "))] }
}

fn sources_text(sources: &VenueSources) -> String {
    let all: Vec<String> = sources.iter().map(|(venue, from)| format!("{venue} {from}")).collect();
    if all.is_empty() { String::new() } else { format!("sources: {}\n", all.join(", ")) }
}

impl LiveReply {
    fn quotes_json(&self) -> Value {
        let row = |it: &crate::reply::QuoteRow| {
            object([
                ("ticker", it.ticker.as_str().into()),
                ("price", it.price.as_str().into()),
                ("currency", it.currency.as_str().into()),
                ("as_of", it.as_of.as_str().into()),
                ("volume", it.volume.into()),
            ])
        };
        self.quotes.iter().map(row).collect()
    }
}

impl Reply for LiveReply {
    fn result(&self) -> Value {
        object([
            ("quotes", self.quotes_json()),
            ("request_id", (&*self.request_id).into()),
            ("source_status", self.source_status.into()),
        ])
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for it in &self.quotes {
            let price = without_trailing_zeros(&it.price);
            _ = write!(text, "{} {price} {} as of {}", it.ticker, it.currency, it.as_of);
            if let Some(volume) = it.volume {
                _ = write!(text, ", 24 h volume {volume}");
            }
            text.push('\n');
        }
        missing_text(&self.missing, &mut text);
        freshness_text(self.freshness.as_ref(), &mut text);
        text
    }

    fn meta(&self) -> Map<String, Value> {
        meta(self.freshness.as_ref(), &self.missing)
    }

    fn http(&self) -> HttpReply {
        let mut body = object([("quotes", self.quotes_json())]);
        if !self.missing.is_empty() {
            body["missing"] = missing_json(&self.missing);
        }
        HttpReply {
            status: self.source_status,
            body,
            max_age_s: Some(1),
            headers: freshness_headers(self.freshness.as_ref()),
        }
    }
}

/// A page of history with its query, so that the text can name the call for the next page.
#[derive(Debug)]
pub(crate) struct HistoryPage {
    pub(crate) history: HistoryReply,
    pub(crate) query: HistoryQuery,
}

/// Beyond this length the text ends and names a call with smaller pages; 200 bars of long decimals
/// would exceed the context of a model.
const TEXT_BYTES_MAX: usize = 20_000;

impl HistoryPage {
    fn items_json(&self) -> Value {
        let interval = self.query.interval.as_str();
        let row = |bar: &BarRow| {
            object([
                ("ticker", (&*bar.ticker).into()),
                ("timestamp", bar.timestamp.as_str().into()),
                ("open", bar.open.as_str().into()),
                ("high", bar.high.as_str().into()),
                ("low", bar.low.as_str().into()),
                ("close", bar.close.as_str().into()),
                ("volume", bar.volume.as_deref().into()),
                ("interval", interval.into()),
            ])
        };
        self.history.bars.iter().map(row).collect()
    }

    fn body(&self) -> Value {
        object([
            ("items", self.items_json()),
            ("page", self.query.page.into()),
            ("page_size", self.query.page_size.into()),
            ("total", self.history.total.into()),
        ])
    }

    /// The call that requests a page of the same history.
    fn call_text(&self, page: u64, page_size: usize) -> String {
        let args = json!({
            "tickers": self.query.tickers, "from": self.query.from.to_string(),
            "to": self.query.to.to_string(), "interval": self.query.interval.as_str(),
            "page": page, "page_size": page_size,
        });
        format!("quotes_historical {args}")
    }

    /// How many seconds the reply may be cached: 1 if the range had not ended when the bars were
    /// received, else 60.
    fn max_age_s(&self) -> u32 {
        let is_open_range = self.history.freshness.as_ref().is_none_or(|it| {
            clock::TimeRange::of_days(self.query.from, self.query.to).to > it.received_at
        });
        if is_open_range { 1 } else { 60 }
    }
}

/// `1.50000000` as `1.5`: the text is for reading; the exact spelling is in the structured content.
fn without_trailing_zeros(decimal: &str) -> &str {
    match decimal.contains('.') {
        true => decimal.trim_end_matches('0').trim_end_matches('.'),
        false => decimal,
    }
}

impl Reply for HistoryPage {
    fn result(&self) -> Value {
        let mut body = self.body();
        body["request_id"] = Value::from(&*self.history.request_id);
        body["source_status"] = Value::from(self.history.source_status);
        body
    }

    fn text(&self) -> String {
        let mut text = String::from("time open high low close volume\n");
        let mut current = "";
        let mut shown = 0;
        for bar in &self.history.bars {
            if text.len() > TEXT_BYTES_MAX {
                break;
            }
            if *bar.ticker != *current {
                _ = writeln!(text, "# {} {}", bar.ticker, self.query.interval);
                current = &bar.ticker;
            }
            let time = bar.timestamp.trim_end_matches("T00:00:00Z").trim_end_matches(":00Z");
            let prices =
                [&bar.open, &bar.high, &bar.low, &bar.close].map(|it| without_trailing_zeros(it));
            let volume = bar.volume.as_deref().map_or("-", without_trailing_zeros);
            _ = writeln!(text, "{time} {} {volume}", prices.join(" "));
            shown += 1;
        }
        let HistoryReply { bars, total, .. } = &self.history;
        let (page, size) = (self.query.page, self.query.page_size);
        _ = writeln!(text, "page {page}: {} of {total} bars", bars.len());
        if shown < bars.len() {
            let smaller = (shown / 2).max(1);
            let first = self.query.offset() / smaller as u64 + 1;
            _ = writeln!(text, "cut here; all of it: {}", self.call_text(first, smaller));
        }
        if self.query.offset().saturating_add(bars.len() as u64) < *total && !bars.is_empty() {
            _ = writeln!(text, "next: {}", self.call_text(page + 1, size));
        }
        missing_text(&self.history.missing, &mut text);
        freshness_text(self.history.freshness.as_ref(), &mut text);
        text
    }

    fn meta(&self) -> Map<String, Value> {
        let mut meta = meta(self.history.freshness.as_ref(), &self.history.missing);
        let completeness = json!({ "bars": self.history.total, "gaps": self.history.gaps });
        meta.insert("stoa/completeness".to_owned(), completeness);
        meta
    }

    fn http(&self) -> HttpReply {
        let mut body = self.body();
        if !self.history.missing.is_empty() {
            body["missing"] = missing_json(&self.history.missing);
        }
        let mut headers = freshness_headers(self.history.freshness.as_ref());
        if let Some(gaps) = self.history.gaps {
            headers.push(("x-stoa-gaps", gaps.to_string()));
        }
        let status = self.history.source_status;
        HttpReply { status, body, max_age_s: Some(self.max_age_s()), headers }
    }
}

impl Reply for HealthReply {
    fn result(&self) -> Value {
        json!({
            "status": self.status.as_str(),
            "request_id": &*self.request_id,
            "source_status": self.source_status,
        })
    }

    fn text(&self) -> String {
        let mut text = format!("quotes are {}\n", self.status.as_str());
        for check in &self.checks {
            _ = write!(text, "{}: {}", check.name, check.status.as_str());
            if let Some(detail) = &check.detail {
                _ = write!(text, " ({detail})");
            }
            text.push('\n');
        }
        text.push_str(&sources_text(&self.sources));
        text
    }

    fn meta(&self) -> Map<String, Value> {
        sources_meta(&self.sources)
    }

    fn http(&self) -> HttpReply {
        let check = |it: &crate::reply::HealthCheck| json!({ "name": it.name, "status": it.status.as_str(), "detail": it.detail });
        let checks: Value = self.checks.iter().map(check).collect();
        HttpReply {
            status: self.source_status,
            body: json!({ "status": self.status.as_str(), "checks": checks }),
            max_age_s: None,
            headers: sources_headers(&self.sources),
        }
    }
}

impl Reply for MetadataReply {
    fn result(&self) -> Value {
        json!({
            "mcp_version": self.mcp_version,
            "api_version": "v1",
            "quotes_contract_version": self.quotes_contract_version,
            "supported_intervals": self.supported_intervals,
            "max_page_size": self.page_size_max,
            "max_range_days": RANGE_DAYS_MAX,
            "max_tickers_per_request": self.tickers_max,
        })
    }

    fn text(&self) -> String {
        format!(
            "manifest {}, API v1, contract {}; intervals {}; at most {} tickers a request, {} bars \
             a page, {RANGE_DAYS_MAX} days a range\n{}",
            self.mcp_version,
            self.quotes_contract_version,
            self.supported_intervals.join(", "),
            self.tickers_max,
            self.page_size_max,
            sources_text(&self.sources),
        )
    }

    fn meta(&self) -> Map<String, Value> {
        sources_meta(&self.sources)
    }

    fn http(&self) -> HttpReply {
        let headers = sources_headers(&self.sources);
        HttpReply { status: 200, body: self.result(), max_age_s: Some(3600), headers }
    }
}
