//! A fault in the words of the pricing contracts: `{"ok": false, "error", "error_code", …}`.
//!
//! `error` and `error_code` are the same word, except where a price could not be computed: there the
//! contract has a sentence in `error`.

use contract::{Envelope, FailureContext};
use fault::Fault;
use serde_json::{Value, json};

/// The connectors, in the order of the contract.
pub(crate) const CONNECTORS: [&str; 3] = ["mock", "file", "http"];

pub(crate) struct PricingEnvelope;

impl Envelope for PricingEnvelope {
    fn repeats_request(&self) -> bool {
        true
    }

    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        if wrong_connector(fault, cx) {
            return json!({ "ok": false, "error": "unsupported_connector",
                "error_code": "unsupported_connector",
                "message": format!("connector: expected one of {}", CONNECTORS.join(", ")),
                "supported_connectors": CONNECTORS, "details": details(fault, cx) });
        }
        let word = cx.row.r#type.as_str();
        let error = if word == "optimization_error" { fault.message() } else { word };
        let mut reply = json!({ "ok": false, "error": error, "error_code": word,
            "message": fault.message(), "details": details(fault, cx) });
        // A contract that names a job or a proposal repeats its id in the error.
        for name in ["job_id", "proposal_id"] {
            if let Some(id) = cx.args.get(name).and_then(Value::as_str).filter(|id| id.len() <= 100)
            {
                reply[name] = Value::from(id);
            }
        }
        reply
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        self.tool_error(fault, cx)
    }
}

/// The contract's own error for an unknown connector.
fn wrong_connector(fault: &Fault, cx: &FailureContext<'_>) -> bool {
    let connector = cx.args.get("connector").is_some_and(Value::is_string);
    let problems = fault.problems();
    fault.code() == "invalid_input"
        && connector
        && problems.iter().all(|it| it.field == "connector")
}

/// The wrong fields, or the time to retry after; `None` if the fault has neither.
fn details(fault: &Fault, cx: &FailureContext<'_>) -> Value {
    if !fault.problems().is_empty() {
        let problem = |it: &fault::Problem| json!({ "field": it.field, "expected": it.expected });
        return fault.problems().iter().map(problem).collect();
    }
    match fault.retry_wait() {
        Some(wait) => json!({ "retry_after_s": wait.as_secs_f64().ceil(),
            "retryable": cx.row.retryable, "request_id": cx.request_id }),
        None => Value::Null,
    }
}
