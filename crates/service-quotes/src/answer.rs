//! What the quotes API answers, before any transport has a say in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use clock::parse_date;
use contract::{Contract, ContractError};
use fault::Fault;
use jiff::civil::Date;
use market::{Freshness, Interval};
use serde_json::Value;

use crate::RANGE_DAYS_MAX;

/// A ticker of the batch that could not be served, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTicker {
    pub ticker: String,
    pub reason: String,
    pub retryable: bool,
}

impl MissingTicker {
    /// 206 says that some of the batch is missing.
    pub(crate) fn status_of(missing: &[Self]) -> u16 {
        if missing.is_empty() { 200 } else { 206 }
    }

    pub(crate) fn of(ticker: &str, fault: &Fault) -> Self {
        Self {
            ticker: ticker.to_owned(),
            reason: fault.message().to_owned(),
            retryable: fault.kind().is_retryable(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct QuoteRow {
    pub ticker: String,
    /// Exactly as the venue wrote it.
    pub price: String,
    pub currency: String,
    pub as_of: String,
    pub volume: Option<i64>,
}

#[derive(Debug)]
pub struct LiveReply {
    /// Ordered by ticker.
    pub quotes: Vec<QuoteRow>,
    pub missing: Vec<MissingTicker>,
    /// Of the oldest quote: an answer is as fresh as its stalest part.
    pub freshness: Option<Freshness>,
    pub request_id: Arc<str>,
    /// The status of the API's response.
    pub source_status: u16,
}

#[derive(Debug, Clone)]
pub struct BarRow {
    pub ticker: Arc<str>,
    pub timestamp: String,
    pub open: String,
    pub high: String,
    pub low: String,
    pub close: String,
    pub volume: Option<String>,
}

#[derive(Debug)]
pub struct HistoryReply {
    /// Ordered by ticker, then time.
    pub bars: Vec<BarRow>,
    pub total: u64,
    pub missing: Vec<MissingTicker>,
    pub freshness: Option<Freshness>,
    /// Bars the calendar would expect and the venue does not have; `None` where the calendar is unknown.
    pub gaps: Option<u64>,
    pub request_id: Arc<str>,
    /// The status of the API's response.
    pub source_status: u16,
}

/// A request for history that has been found to make sense.
#[derive(Debug, Clone)]
pub struct HistoryQuery {
    pub tickers: Vec<String>,
    pub from: Date,
    pub to: Date,
    pub interval: Interval,
    pub page: u64,
    pub page_size: usize,
}

impl HistoryQuery {
    /// The dates, when they are dates, in order, and no further apart than the contract allows.
    pub(crate) fn dates(from: &str, to: &str) -> Result<(Date, Date), Fault> {
        let read = |field: &str, text: &str| {
            parse_date(text).ok_or_else(|| {
                Fault::invalid("invalid_date", format!("{field}: expected a date as YYYY-MM-DD"))
                    .problem(field, "a date as YYYY-MM-DD")
            })
        };
        let (first, last) = (read("from", from)?, read("to", to)?);
        if first > last {
            let message = format!("from: expected a date not after `to` ({from} is after {to})");
            return Err(Fault::invalid("reversed_dates", message)
                .problem("from", format!("a date not after {to}")));
        }
        let days = last.since(first).map_or(i32::MAX, |span| span.get_days()).saturating_add(1);
        if days > RANGE_DAYS_MAX {
            let message = format!(
                "from: expected at most {RANGE_DAYS_MAX} days between `from` and `to`, both \
                 included; {from} to {to} is {days}"
            );
            return Err(Fault::invalid("range_too_long", message)
                .problem("from", format!("at most {RANGE_DAYS_MAX} days before `to`")));
        }
        Ok((first, last))
    }

    /// How many bars lie on the pages before this one.
    pub(crate) fn offset(&self) -> u64 {
        self.page.saturating_sub(1).saturating_mul(self.page_size as u64)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HealthStatus {
    Ok,
    Degraded,
    Down,
}

impl HealthStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Degraded => "degraded",
            Self::Down => "down",
        }
    }
}

/// By the venue's prefix in lower case, where its data come from: `binance` from `simulated`.
pub type VenueSources = BTreeMap<String, String>;

/// One thing that was looked at.
#[derive(Debug, Clone)]
pub struct HealthCheck {
    pub name: String,
    pub status: HealthStatus,
    pub detail: Option<String>,
}

#[derive(Debug)]
pub struct HealthReply {
    pub status: HealthStatus,
    pub checks: Vec<HealthCheck>,
    pub sources: VenueSources,
    pub request_id: Arc<str>,
    /// The status of the API's response to the health probe.
    pub source_status: u16,
}

impl HealthReply {
    /// Down when every venue is, degraded when anything is not well.
    pub fn of(checks: Vec<HealthCheck>, sources: VenueSources, request_id: Arc<str>) -> Self {
        let worst = checks.iter().map(|check| check.status).max().unwrap_or(HealthStatus::Ok);
        let all_down =
            !checks.is_empty() && checks.iter().all(|it| it.status == HealthStatus::Down);
        let status =
            if worst == HealthStatus::Down && !all_down { HealthStatus::Degraded } else { worst };
        let source_status = if status == HealthStatus::Down { 503 } else { 200 };
        Self { status, checks, sources, request_id, source_status }
    }

    /// The reply with the status that another server answered its probe with.
    #[must_use]
    pub(crate) fn with_source_status(self, source_status: u16) -> Self {
        Self { source_status, ..self }
    }
}

/// Limits and versions, all read from the contract files so that they cannot disagree with them.
#[derive(Debug, Clone)]
pub struct MetadataReply {
    pub mcp_version: String,
    pub quotes_contract_version: String,
    pub supported_intervals: Vec<String>,
    pub page_size_max: i64,
    pub tickers_max: i64,
    pub sources: VenueSources,
}

impl MetadataReply {
    pub(crate) fn of(contract: &Contract, sources: VenueSources) -> Result<Self, ContractError> {
        let manifest = contract.json("mcp.json")?;
        let historical = contract.tool("quotes.historical")?.input.json();
        let rule = |pointer: &str| historical.pointer(pointer).cloned().unwrap_or(Value::Null);
        let intervals = rule("/properties/interval/enum");
        Ok(Self {
            mcp_version: manifest["version"].as_str().unwrap_or_default().to_owned(),
            quotes_contract_version: contract.version.clone(),
            supported_intervals: serde_json::from_value(intervals).unwrap_or_default(),
            page_size_max: rule("/properties/page_size/maximum").as_i64().unwrap_or_default(),
            tickers_max: rule("/properties/tickers/maxItems").as_i64().unwrap_or_default(),
            sources,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_dates(from: &str, to: &str, refused: Option<&str>) {
        let code = HistoryQuery::dates(from, to).err().map(|fault| fault.code());
        assert_eq!(code, refused, "{from} to {to}");
    }

    #[test]
    fn dates_are_dates_in_order_and_not_too_far_apart() {
        check_dates("2024-02-29", "2024-02-29", None);
        check_dates("2014-01-01", "2024-01-08", None);
        check_dates("2014-01-01", "2024-01-09", Some("range_too_long"));
        check_dates("2024-03-01", "2024-02-29", Some("reversed_dates"));
        check_dates("2023-02-29", "2024-02-29", Some("invalid_date"));
        check_dates("2024-02-29", "now", Some("invalid_date"));
        check_dates("-009999-01-01", "9999-12-31", Some("invalid_date"));
        check_dates("0001-01-01", "9999-12-31", Some("range_too_long"));
    }

    #[track_caller]
    fn check_health(parts: &[HealthStatus], whole: HealthStatus) {
        let check = |status: &HealthStatus| HealthCheck {
            name: String::new(),
            status: *status,
            detail: None,
        };
        let health =
            HealthReply::of(parts.iter().map(check).collect(), VenueSources::new(), "r".into());
        assert_eq!(health.status, whole, "{parts:?}");
    }

    #[test]
    fn the_whole_is_down_only_when_everything_is() {
        use HealthStatus::{Degraded, Down, Ok};
        check_health(&[], Ok);
        check_health(&[Ok, Ok], Ok);
        check_health(&[Ok, Degraded], Degraded);
        check_health(&[Ok, Down], Degraded);
        check_health(&[Down, Degraded], Degraded);
        check_health(&[Down, Down], Down);
    }
}
