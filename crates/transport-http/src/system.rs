//! The operators' pages: `/health` and `/metrics`.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::json;

/// What `/health` and `/metrics` show; the server fills it in.
pub struct SystemPages {
    pub version: &'static str,
    /// Must be quick, because `/health` needs no credential.
    pub health: ServerHealthProbe,
    /// Renders the metrics as text.
    pub metrics: Box<dyn Fn() -> String + Send + Sync>,
    pub metrics_type: &'static str,
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

struct Pages {
    pages: SystemPages,
    started: Instant,
}

/// The paths of the operators' pages.
pub(crate) const PATHS: [&str; 2] = ["/health", "/metrics"];

pub(crate) fn routes(pages: SystemPages) -> Router {
    let state = Arc::new(Pages { pages, started: Instant::now() });
    let [to_health, to_metrics] = PATHS;
    Router::new().route(to_health, get(health)).route(to_metrics, get(metrics)).with_state(state)
}

/// Answers 200 even when degraded, because stored data can be read while a venue is down; the body
/// has the status.
async fn health(State(state): State<Arc<Pages>>) -> Response {
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

async fn metrics(State(state): State<Arc<Pages>>) -> Response {
    let headers = [(CONTENT_TYPE, state.pages.metrics_type), (CACHE_CONTROL, "no-store")];
    (headers, (state.pages.metrics)()).into_response()
}
