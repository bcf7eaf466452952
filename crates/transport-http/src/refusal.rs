//! A request that is refused before its route: unknown paths, bodies too large, missing tokens. Each
//! route words it in its own form; the form of routes that belong to no service is that of the
//! quotes API.

use axum::Json;
use axum::response::{IntoResponse, Response};
use fault::Fault;
use http::StatusCode;
use serde_json::json;

/// A refused request: the HTTP status, and the fault that a contract's envelope names.
#[derive(Debug)]
pub struct Refusal {
    /// The HTTP status.
    pub status: StatusCode,
    /// The reason, with the time to wait if that is known.
    pub fault: Fault,
}

impl Refusal {
    /// A refusal with this status.
    pub fn new(status: StatusCode, fault: Fault) -> Self {
        Self { status, fault }
    }

    /// The refusal in the server's own form.
    pub fn response(&self, request_id: &str) -> Response {
        let retryable = matches!(self.status.as_u16(), 408 | 429 | 503);
        let retry_after = self.fault.retry_wait();
        let body = json!({ "error": {
            "type": self.error_type(),
            "message": self.fault.message(),
            "retryable": retryable,
            "http_status": self.status.as_u16(),
            "http_code": self.status.canonical_reason(),
            "trace_id": request_id,
            "retry_after_s": retry_after.map(|wait| wait.as_millis() as f64 / 1000.0),
        }});
        let mut response = (self.status, Json(body)).into_response();
        http_wire::add_refusal_headers(&mut response, retry_after);
        response
    }

    fn error_type(&self) -> &'static str {
        match self.status.as_u16() {
            401 => "UNAUTHENTICATED",
            403 => "FORBIDDEN",
            404 => "NOT_FOUND",
            408 => "REQUEST_TIMEOUT",
            413 => "PAYLOAD_TOO_LARGE",
            415 => "UNSUPPORTED_MEDIA_TYPE",
            429 => "RATE_LIMITED",
            503 => "OVERLOADED",
            _ => "BAD_REQUEST",
        }
    }
}
