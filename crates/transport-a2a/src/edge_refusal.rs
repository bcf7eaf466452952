//! The responses to requests that the HTTP edge refuses (over their rate, too large, of another
//! site), in the form of each binding. The id of the JSON-RPC error is null, because the request was
//! not read.

use axum::response::{IntoResponse as _, Response};
use fault::Fault;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::Value;

use crate::error::{A2aError, ErrorReason};
use crate::rpc;

/// The response of the JSON-RPC binding.
pub fn rpc_refused(status: StatusCode, fault: &Fault) -> Response {
    let mut response = rpc::refused(&Value::Null, &error(status, fault));
    *response.status_mut() = status;
    response
}

/// The response of the HTTP+JSON binding.
pub fn rest_refused(status: StatusCode, fault: &Fault) -> Response {
    let error = error(status, fault);
    let mut body = error.http();
    body["error"]["code"] = Value::from(status.as_u16());
    let mut response =
        (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response();
    http_wire::add_refusal_headers(&mut response, error.retry_after);
    response
}

fn error(status: StatusCode, fault: &Fault) -> A2aError {
    let reason = match status.as_u16() {
        400 => ErrorReason::ParseError,
        401 => ErrorReason::Unauthenticated,
        403 => ErrorReason::Forbidden,
        408 | 503 => ErrorReason::Unavailable,
        415 => ErrorReason::BodyTypeNotSupported,
        429 => ErrorReason::RateLimited,
        _ => ErrorReason::InvalidRequest,
    };
    let mut error = A2aError::new(reason, fault.message());
    error.retry_after = fault.retry_wait();
    error
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::to_bytes;
    use fault::Kind;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn both_bindings_say_why_and_when_to_come_back() {
        for (status, rpc_code) in [
            (400, -32700),
            (401, -32000),
            (408, -32000),
            (413, -32600),
            (429, -32000),
            (503, -32000),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let fault = Fault::new(Kind::Unavailable, "overloaded", "the reason")
                .retry_after(Duration::from_secs(3));
            let rest_code = json!(status.as_u16());
            for (response, code) in [
                (rpc_refused(status, &fault), json!(rpc_code)),
                (rest_refused(status, &fault), rest_code),
            ] {
                assert_eq!(response.status(), status);
                assert_eq!(response.headers()["retry-after"], "3");
                let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
                let body: Value = serde_json::from_slice(&body).unwrap();
                assert_eq!(body["error"]["code"], code, "{body}");
                assert_eq!(body["error"]["message"], "the reason");
            }
        }
    }
}
