//! The requests and replies of the quotes API, independent of the transport.

use std::collections::BTreeMap;
use std::sync::Arc;

use clock::parse_date;
use contract::{Contract, ContractError};
use fault::Fault;
use jiff::civil::Date;
use market::{Freshness, Interval};
use serde_json::Value;

use crate::RANGE_DAYS_MAX;

/// A requested ticker that could not be served, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTicker {
    pub ticker: String,
    pub reason: String,
    pub retryable: bool,
}

impl MissingTicker {
    /// 206 if some of the requested tickers are missing, else 200.
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
    /// The decimal as the venue wrote it.
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
    /// The freshness of the oldest quote, with the sources of all quotes.
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
    /// How many bars the trading hours imply and the venue does not have; `None` if its trading hours
    /// are unknown.
    pub gaps: Option<u64>,
    pub request_id: Arc<str>,
    /// The status of the API's response.
    pub source_status: u16,
}

/// A validated request for history.
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
    /// Parses the two dates; refuses a reversed range and one of more than 3,660 days.
    pub(crate) fn parse_dates(from: &str, to: &str) -> Result<(Date, Date), Fault> {
        let parse = |field: &str, text: &str| {
            parse_date(text).ok_or_else(|| {
                Fault::invalid("invalid_date", format!("{field}: expected a date as YYYY-MM-DD"))
                    .problem(field, "a date as YYYY-MM-DD")
            })
        };
        let (first, last) = (parse("from", from)?, parse("to", to)?);
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

    /// How many bars are on the pages before this one.
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

/// The source of each venue's data by the venue's prefix in lower case: `binance` → `simulated`.
pub type VenueSources = BTreeMap<String, String>;

/// The health of one venue, of the archive, or of another server's API.
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
    /// Down if every check is down, degraded if some check is not ok, else ok.
    pub fn of(checks: Vec<HealthCheck>, sources: VenueSources, request_id: Arc<str>) -> Self {
        let worst = checks.iter().map(|check| check.status).max().unwrap_or(HealthStatus::Ok);
        let all_down =
            !checks.is_empty() && checks.iter().all(|it| it.status == HealthStatus::Down);
        let status =
            if worst == HealthStatus::Down && !all_down { HealthStatus::Degraded } else { worst };
        let source_status = if status == HealthStatus::Down { 503 } else { 200 };
        Self { status, checks, sources, request_id, source_status }
    }

    /// The reply with the status of another server's response.
    #[must_use]
    pub(crate) fn with_source_status(self, source_status: u16) -> Self {
        Self { source_status, ..self }
    }
}

/// Limits and versions, all read from the contract files.
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
        let code = HistoryQuery::parse_dates(from, to).err().map(|fault| fault.code());
        assert_eq!(code, refused, "{from} to {to}");
    }

    #[test]
    fn dates_are_ordered_and_at_most_ten_years_apart() {
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
    fn check_health(checks: &[HealthStatus], expected: HealthStatus) {
        let check = |status: &HealthStatus| HealthCheck {
            name: String::new(),
            status: *status,
            detail: None,
        };
        let health =
            HealthReply::of(checks.iter().map(check).collect(), VenueSources::new(), "r".into());
        assert_eq!(health.status, expected, "{checks:?}");
    }

    #[test]
    fn health_is_down_only_if_every_check_is_down() {
        use HealthStatus::{Degraded, Down, Ok};
        check_health(&[], Ok);
        check_health(&[Ok, Ok], Ok);
        check_health(&[Ok, Degraded], Degraded);
        check_health(&[Ok, Down], Degraded);
        check_health(&[Down, Degraded], Degraded);
        check_health(&[Down, Down], Down);
    }
}
