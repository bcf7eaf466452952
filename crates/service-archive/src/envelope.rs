//! A fault as the archive's contract writes it:
//! `{"success": false, "error": {"code", "message", "details"?}}`.

use contract::{Envelope, FailureContext};
use fault::{Fault, Kind};
use serde_json::{Map, Value, json};

pub(crate) struct ArkiverEnvelope;

impl Envelope for ArkiverEnvelope {
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        let mut error = Map::new();
        error.insert("code".to_owned(), Value::from(cx.row.r#type.as_str()));
        error.insert("message".to_owned(), Value::from(fault.message()));
        let details = details(fault, cx);
        if !details.is_empty() {
            error.insert("details".to_owned(), Value::Object(details));
        }
        json!({ "success": false, "error": error })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        self.tool_error(fault, cx)
    }
}

/// The invalid fields, the retry delay, and the request id for faults of the server.
fn details(fault: &Fault, cx: &FailureContext<'_>) -> Map<String, Value> {
    let mut details = Map::new();
    if !fault.problems().is_empty() {
        let problem = |it: &fault::Problem| json!({ "field": it.field, "expected": it.expected });
        details.insert("problems".to_owned(), fault.problems().iter().map(problem).collect());
    }
    if let Some(wait) = fault.retry_wait() {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        details.insert("retryAfterSeconds".to_owned(), Value::from(seconds));
    }
    if cx.row.retryable {
        details.insert("retryable".to_owned(), Value::from(true));
    }
    if matches!(fault.kind(), Kind::Internal | Kind::Unavailable | Kind::Timeout) {
        details.insert("requestId".to_owned(), Value::from(cx.request_id));
    }
    details
}
