//! The operators' pages: `/health` and `/metrics`.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::HeaderMap;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, VARY};
use serde_json::json;

/// What `/health` and `/metrics` show; the server fills it in.
pub struct SystemPages {
    pub version: &'static str,
    /// Must be quick, because `/health` needs no credential.
    pub health: ServerHealthProbe,
    /// Renders the metrics as text.
    pub metrics: Box<dyn Fn(MetricsFormat) -> String + Send + Sync>,
}

/// The text format of `/metrics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsFormat {
    /// The Prometheus text format 0.0.4, which every scraper reads.
    Prometheus,
    /// `OpenMetrics` 1.0.0, for clients that prefer it.
    OpenMetrics,
}

impl MetricsFormat {
    /// `OpenMetrics` where `Accept` names it and does not prefer plain text.
    fn asked_by(headers: &HeaderMap) -> Self {
        let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let (mut open, mut plain) = (0.0, 0.0);
        for range in accepted.flat_map(|list| list.split(',')) {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            let quality = parts.find_map(|part| part.strip_prefix("q="));
            let quality = quality.map_or(1.0, |text| text.parse::<f32>().unwrap_or(0.0));
            match kind.as_str() {
                "application/openmetrics-text" => open = quality.max(open),
                "text/plain" | "text/*" => plain = quality.max(plain),
                _ => {}
            }
        }
        if open > 0.0 && open >= plain { Self::OpenMetrics } else { Self::Prometheus }
    }

    const fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Reports the health of the server.
pub type ServerHealthProbe =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = ServerHealth> + Send>> + Send + Sync>;

/// The health of the server.
#[derive(Debug, Clone)]
pub struct ServerHealth {
    /// `ok`, `degraded` or `error`.
    pub status: &'static str,
    /// The provider of market data.
    pub provider: String,
    /// By venue, where its data come from.
    pub sources: BTreeMap<String, String>,
}

struct PageState {
    pages: SystemPages,
    started: Instant,
}

/// The paths of the operators' pages.
pub(crate) const PATHS: [&str; 2] = ["/health", "/metrics"];

pub(crate) fn routes(pages: SystemPages) -> Router {
    let state = Arc::new(PageState { pages, started: Instant::now() });
    let [to_health, to_metrics] = PATHS;
    Router::new().route(to_health, get(health)).route(to_metrics, get(metrics)).with_state(state)
}

/// Answers 200 even when degraded, because stored data can be read while a venue is down; the body
/// has the status.
async fn health(State(state): State<Arc<PageState>>) -> Response {
    let ServerHealth { status, provider, sources } = (state.pages.health)().await;
    let body = json!({
        "status": status,
        "uptime": state.started.elapsed().as_secs(),
        "version": state.pages.version,
        "provider": provider,
        "sources": sources,
    });
    let source = HeaderValue::from_str(&provider).unwrap_or(HeaderValue::from_static("unknown"));
    let headers = [
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (HeaderName::from_static("x-stoa-source"), source),
    ];
    (headers, Json(body)).into_response()
}

async fn metrics(State(state): State<Arc<PageState>>, headers: HeaderMap) -> Response {
    let format = MetricsFormat::asked_by(&headers);
    let headers =
        [(CONTENT_TYPE, format.content_type()), (CACHE_CONTROL, "no-store"), (VARY, "accept")];
    (headers, (state.pages.metrics)(format)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(accept: &str, expected: MetricsFormat) {
        let mut headers = HeaderMap::new();
        if !accept.is_empty() {
            headers.insert(ACCEPT, accept.parse().unwrap());
        }
        assert_eq!(MetricsFormat::asked_by(&headers), expected, "{accept}");
    }

    #[test]
    fn openmetrics_is_sent_only_where_it_is_asked_for() {
        use MetricsFormat::{OpenMetrics, Prometheus};
        check("", Prometheus);
        check("*/*", Prometheus);
        check("text/plain", Prometheus);
        check("text/html, */*;q=0.8", Prometheus);
        check("application/openmetrics-text", OpenMetrics);
        check("application/openmetrics-text;q=0", Prometheus);
        check("application/openmetrics-text;q=0.2, text/plain;q=0.9", Prometheus);
        check(
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;\
             version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            OpenMetrics,
        );
    }
}
