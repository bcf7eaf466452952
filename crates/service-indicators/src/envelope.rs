//! A fault in this contract's words: `{"error": {code, message, retryable, …}, "requestId"}`, the
//! same over MCP and HTTP.

use contract::{Envelope, FailureContext};
use fault::Fault;
use serde_json::{Value, json};

pub(crate) struct Traide;

impl Envelope for Traide {
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        let wait = fault.retry_wait().and_then(|wait| u64::try_from(wait.as_millis()).ok());
        let details: Value = fault
            .problems()
            .iter()
            .map(|it| json!({ "field": it.field, "expected": it.expected }))
            .collect();
        json!({
            "error": {
                "code": cx.row.r#type,
                "message": fault.message(),
                "retryable": cx.row.retryable,
                "retryAfterMs": wait,
                "details": details,
            },
            "requestId": cx.request_id,
        })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        self.tool_error(fault, cx)
    }
}
