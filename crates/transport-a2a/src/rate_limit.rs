//! The responses to a client over its rate, in the form of each binding. The HTTP edge sends them
//! before a request is read, so the id of the JSON-RPC error is null.

use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use serde_json::Value;

use crate::error::{A2aError, ErrorReason};
use crate::rpc;

/// The response of the JSON-RPC binding.
pub fn rpc_rate_limited(wait: Duration) -> Response {
    rpc::refused(&Value::Null, &rate_limited(wait))
}

/// The response of the HTTP+JSON binding.
pub fn rest_rate_limited(wait: Duration) -> Response {
    let error = rate_limited(wait);
    let body =
        (error.http_status(), [(CONTENT_TYPE, "application/json")], error.http().to_string());
    let mut response = body.into_response();
    http_wire::add_refusal_headers(&mut response, error.retry_after);
    response
}

fn rate_limited(wait: Duration) -> A2aError {
    let message = "too many requests; wait before the next one";
    let mut error = A2aError::new(ErrorReason::RateLimited, message);
    error.retry_after = Some(wait);
    error
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn both_bindings_return_retry_after() {
        let wait = Duration::from_secs(3);
        for (response, code) in [(rpc_rate_limited(wait), -32000), (rest_rate_limited(wait), 429)] {
            assert_eq!(response.status(), 429);
            assert_eq!(response.headers()["retry-after"], "3");
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["error"]["code"], json!(code), "{body}");
        }
    }
}
