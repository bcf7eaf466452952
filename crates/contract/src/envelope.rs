//! The envelope: a contract's own form of an error.

use std::sync::Arc;
use std::time::Duration;

use fault::{Fault, Kind};
use serde_json::{Map, Value};

use crate::errors::ErrorRow;

/// What an envelope may contain beside the fault.
#[derive(Debug)]
pub struct FailureContext<'a> {
    /// The tool that was called; empty if the request did not reach one.
    pub tool: &'a str,
    /// The id of the request.
    pub request_id: &'a str,
    /// The arguments as they came, if [`Envelope::repeats_request`].
    pub args: &'a Map<String, Value>,
    /// The row of the contract's error table.
    pub row: &'a ErrorRow,
}

/// Builds a contract's error objects.
pub trait Envelope: Send + Sync {
    /// Whether errors repeat part of the request. The arguments are copied only then.
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
    /// The fault's kind.
    pub kind: Kind,
    /// The fault's code.
    pub code: &'static str,
    /// The HTTP status of the contract's error table.
    pub http_status: u16,
    /// When the client may try again, if that is known.
    pub retry_after: Option<Duration>,
    /// The error object of a tool call.
    pub tool_error: Value,
    /// The body of an HTTP response.
    pub http_body: Value,
    /// Where the data of the service come from. Transports send it beside the error object, which
    /// may have no room for it.
    pub source: Option<Arc<str>>,
}
