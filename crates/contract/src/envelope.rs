//! A fault on its way out, in the words of the contract that was called.

use std::time::Duration;

use fault::{Fault, Kind};
use serde_json::{Map, Value};

use crate::spec::ErrorRow;

/// What an envelope may say beside the fault itself.
#[derive(Debug)]
pub struct FailureContext<'a> {
    /// What was called; empty where nothing was reached.
    pub tool: &'a str,
    pub request_id: &'a str,
    /// The arguments as they came; some contracts repeat part of the request in their errors.
    pub args: &'a Map<String, Value>,
    pub row: &'a ErrorRow,
}

/// A contract's own spelling of failure.
pub trait Envelope: Send + Sync {
    /// Whether errors repeat part of the request; only then are its arguments kept.
    fn repeats_request(&self) -> bool {
        false
    }

    /// The error object of a failed tool call.
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value;

    /// The body of a failed HTTP request.
    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value;
}

/// A failed call, ready for any transport to encode.
#[derive(Debug)]
pub struct CallFailure {
    pub kind: Kind,
    pub code: &'static str,
    pub http_status: u16,
    pub retry_after: Option<Duration>,
    pub tool_error: Value,
    pub http_body: Value,
}
