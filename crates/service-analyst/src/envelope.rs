//! Formats a fault as this contract requires: `error` with its type, its message and its details.

use contract::{Envelope, FailureContext};
use fault::Fault;
use serde_json::{Value, json};

pub(crate) struct AnalystEnvelope;

impl Envelope for AnalystEnvelope {
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        let problem = |it: &fault::Problem| json!({ "field": it.field, "expected": it.expected });
        json!({
            "error": {
                "error_type": cx.row.r#type,
                "message": fault.message(),
                "details": {
                    "problems": fault.problems().iter().map(problem).collect::<Vec<_>>(),
                    "retryable": cx.row.retryable,
                    "retry_after_s": fault.retry_wait().map(|wait| wait.as_secs_f64().ceil()),
                    "request_id": cx.request_id,
                },
            },
        })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        self.tool_error(fault, cx)
    }
}
