//! A fault as this contract's error object: `{"error": {code, message, retryable, …},
//! "requestId"}`, the same over MCP and HTTP.

use contract::{Envelope, ErrorRow, FailureContext};
use fault::Fault;
use serde_json::{Value, json};

pub(crate) struct Traide;

impl Envelope for Traide {
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "error": error(fault, cx.row), "requestId": cx.request_id })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        self.tool_error(fault, cx)
    }
}

/// The `error` object alone; a batch reply contains one for each failed symbol.
pub(crate) fn error(fault: &Fault, row: &ErrorRow) -> Value {
    let wait = fault.retry_wait().and_then(|wait| u64::try_from(wait.as_millis()).ok());
    let details: Value = fault
        .problems()
        .iter()
        .map(|it| json!({ "field": it.field, "expected": it.expected }))
        .collect();
    json!({
        "code": row.r#type,
        "message": fault.message(),
        "retryable": row.retryable,
        "retryAfterMs": wait,
        "details": details,
    })
}
