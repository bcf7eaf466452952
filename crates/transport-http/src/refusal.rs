//! Refusals that no service has a word for: unknown paths, bodies too large, missing tokens.
//! They have one shape, the same the quotes API uses.

use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde_json::json;

pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) word: &'static str,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, word: &'static str, message: impl Into<String>) -> Self {
        Self { status, word, message: message.into(), retry_after: None }
    }

    pub(crate) fn response(&self, request_id: &str) -> Response {
        let retryable = matches!(self.status.as_u16(), 408 | 429 | 503);
        let body = json!({ "error": {
            "type": self.word,
            "message": self.message,
            "retryable": retryable,
            "http_status": self.status.as_u16(),
            "http_code": self.status.canonical_reason(),
            "trace_id": request_id,
            "retry_after_s": self.retry_after.map(|wait| wait.as_millis() as f64 / 1000.0),
        }});
        let mut response = (self.status, Json(body)).into_response();
        mark(&mut response, self.retry_after);
        response
    }
}

/// Sets the headers of every refusal: `Cache-Control`, `Retry-After` and `WWW-Authenticate`.
pub(crate) fn mark(response: &mut Response, retry_after: Option<Duration>) {
    let unauthorized = response.status() == StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(wait) = retry_after {
        // Whole seconds, rounded up: coming back early would only be refused again.
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    }
    if unauthorized {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"stoa\""));
    }
}
