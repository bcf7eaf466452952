//! The error response for refusals that belong to no service: unknown paths, bodies too large,
//! missing tokens. Its body is that of the quotes API.

use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

/// A refused request.
#[derive(Debug)]
pub struct Refusal {
    /// The HTTP status.
    pub status: StatusCode,
    /// The `type` of the error object, such as `RATE_LIMITED`.
    pub error_type: &'static str,
    /// The message for a person.
    pub message: String,
    /// When the client may try again, if that is known.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// A refusal without `Retry-After`.
    pub fn new(status: StatusCode, error_type: &'static str, message: impl Into<String>) -> Self {
        Self { status, error_type, message: message.into(), retry_after: None }
    }

    /// The refusal as a response.
    pub fn response(&self, request_id: &str) -> Response {
        let retryable = matches!(self.status.as_u16(), 408 | 429 | 503);
        let body = json!({ "error": {
            "type": self.error_type,
            "message": self.message,
            "retryable": retryable,
            "http_status": self.status.as_u16(),
            "http_code": self.status.canonical_reason(),
            "trace_id": request_id,
            "retry_after_s": self.retry_after.map(|wait| wait.as_millis() as f64 / 1000.0),
        }});
        let mut response = (self.status, Json(body)).into_response();
        http_wire::add_refusal_headers(&mut response, self.retry_after);
        response
    }
}
