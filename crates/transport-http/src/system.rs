//! The operators' pages: `/health` and `/metrics`.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde_json::json;

/// What these pages show; the server fills it in.
pub struct SystemPages {
    pub version: &'static str,
    /// Quick, because anybody may ask.
    pub health: ServerHealthProbe,
    /// The metrics in text form, and its content type.
    pub metrics: Box<dyn Fn() -> String + Send + Sync>,
    pub metrics_type: &'static str,
}

/// Looks how the house is.
pub type ServerHealthProbe =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = ServerHealth> + Send>> + Send + Sync>;

/// How the house is.
#[derive(Debug, Clone)]
pub struct ServerHealth {
    /// `ok`, `degraded` or `error`.
    pub status: &'static str,
    /// Where market data comes from.
    pub provider: String,
}

struct Pages {
    pages: SystemPages,
    started: Instant,
}

/// Where they are.
pub(crate) const PATHS: [&str; 2] = ["/health", "/metrics"];

pub(crate) fn routes(pages: SystemPages) -> Router {
    let state = Arc::new(Pages { pages, started: Instant::now() });
    let [to_health, to_metrics] = PATHS;
    Router::new().route(to_health, get(health)).route(to_metrics, get(metrics)).with_state(state)
}

/// The process serves, whatever its health: what is kept can be read while a venue is down, so
/// the status of HTTP is 200 and the body says the rest.
async fn health(State(state): State<Arc<Pages>>) -> Response {
    let ServerHealth { status, provider } = (state.pages.health)().await;
    let body = json!({
        "status": status,
        "uptime": state.started.elapsed().as_secs(),
        "version": state.pages.version,
        "provider": provider,
    });
    ([(CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

async fn metrics(State(state): State<Arc<Pages>>) -> Response {
    let headers = [(CONTENT_TYPE, state.pages.metrics_type), (CACHE_CONTROL, "no-store")];
    (headers, (state.pages.metrics)()).into_response()
}
