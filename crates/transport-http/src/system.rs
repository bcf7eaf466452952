//! The operators' pages: `/health` and `/metrics`.

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
    /// The metrics in text form, and its content type.
    pub metrics: Box<dyn Fn() -> String + Send + Sync>,
    pub metrics_type: &'static str,
}

struct Pages {
    pages: SystemPages,
    started: Instant,
}

pub(crate) fn routes(pages: SystemPages) -> Router {
    let state = Arc::new(Pages { pages, started: Instant::now() });
    Router::new().route("/health", get(health)).route("/metrics", get(metrics)).with_state(state)
}

/// Whether the process serves; whether its venues do is each service's own health tool.
async fn health(State(state): State<Arc<Pages>>) -> Response {
    let body = json!({
        "status": "ok",
        "uptime": state.started.elapsed().as_secs(),
        "version": state.pages.version,
    });
    ([(CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

async fn metrics(State(state): State<Arc<Pages>>) -> Response {
    let headers = [(CONTENT_TYPE, state.pages.metrics_type), (CACHE_CONTROL, "no-store")];
    (headers, (state.pages.metrics)()).into_response()
}
