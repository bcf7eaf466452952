//! The envelope: a contract's own form of an error.

use std::sync::Arc;
use std::time::Duration;

use fault::{Fault, Kind};
use serde_json::{Map, Value};

use crate::errors::ErrorRow;
use crate::table::Service;

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

impl Service {
    /// Puts a fault that happened outside a tool (a client over its rate, a body too large, a reply
    /// that could not be written) into the envelope of this service.
    pub fn failure(&self, fault: &Fault, request_id: &str) -> CallFailure {
        self.tool_failure("", fault, request_id, &Map::new())
    }

    pub(crate) fn tool_failure(
        &self,
        tool: &str,
        fault: &Fault,
        request_id: &str,
        args: &Map<String, Value>,
    ) -> CallFailure {
        let row = self.errors.row(fault);
        let cx = FailureContext { tool, request_id, args, row };
        let failure = CallFailure {
            kind: fault.kind(),
            code: fault.code(),
            http_status: fault.upstream().map_or(row.http_status, |error| error.status),
            retry_after: fault.retry_wait(),
            tool_error: self.envelope.tool_error(fault, &cx),
            http_body: self.envelope.http_body(fault, &cx),
            source: self.source.clone(),
        };
        debug_assert!(self.errors.envelope.check(&failure.tool_error).is_ok());
        debug_assert!(self.errors.http_envelope.check(&failure.http_body).is_ok());
        failure
    }
}
