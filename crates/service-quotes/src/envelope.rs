//! Writes a fault as the manifest's error object, with `type`, `message`, `retryable`,
//! `http_status`, `http_code`, `trace_id` and `retry_after_s`: over MCP the object itself, over
//! HTTP below `error`.

use contract::{Envelope, FailureContext};
use fault::Fault;
use serde_json::{Value, json};

/// The error envelope of the quotes contract.
pub(crate) struct QuotesEnvelope;

impl Envelope for QuotesEnvelope {
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        // Whole milliseconds, so that the float prints without rounding digits.
        let retry_after_s = fault.retry_wait().map(|wait| wait.as_millis() as f64 / 1000.0);
        let upstream = fault.upstream();
        let http_status = upstream.map_or(cx.row.http_status, |error| error.status);
        let trace_id = upstream.and_then(|error| error.trace_id.as_deref());
        json!({
            "type": cx.row.r#type,
            "message": fault.message(),
            "retryable": cx.row.retryable,
            "http_status": http_status,
            "http_code": reason_phrase(http_status),
            "trace_id": trace_id.unwrap_or(cx.request_id),
            "retry_after_s": retry_after_s,
        })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "error": self.tool_error(fault, cx) })
    }
}

/// The reason phrase of a status of `contracts/quotes/errors.json` or of another server's response.
fn reason_phrase(status: u16) -> Option<&'static str> {
    Some(match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        499 => "Client Closed Request",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => return reqwest::StatusCode::from_u16(status).ok()?.canonical_reason(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_the_error_table_has_its_phrase() {
        let table: Value =
            serde_json::from_str(contract::file_text("quotes/errors.json").unwrap()).unwrap();
        for part in ["kinds", "codes"] {
            for (name, row) in table[part].as_object().unwrap() {
                let status = row["http_status"].as_u64().unwrap();
                assert!(reason_phrase(status as u16).is_some(), "{name}: {status}");
            }
        }
    }
}
