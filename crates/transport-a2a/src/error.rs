//! The errors of the protocol, for both bindings: a JSON-RPC code, an HTTP status and `google.rpc`
//! details.

use std::time::Duration;

use fault::{Fault, Kind};
use http::StatusCode;
use serde_json::{Value, json};

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
/// The domain of the protocol's errors; our own errors have another.
const PROTOCOL: &str = "a2a-protocol.org";
const STOA: &str = "stoa";

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorReason {
    ParseError,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    Internal,
    Unauthenticated,
    Forbidden,
    RateLimited,
    Unavailable,
    TaskNotFound,
    TaskNotCancelable,
    UnsupportedOperation,
    ContentTypeNotSupported,
    /// The media type of the request body.
    BodyTypeNotSupported,
    VersionNotSupported,
}

/// JSON-RPC code, HTTP status, `google.rpc` status, word, domain.
type ErrorCodes = (i32, StatusCode, &'static str, &'static str, &'static str);

impl ErrorReason {
    const fn row(self) -> ErrorCodes {
        use StatusCode as S;
        match self {
            Self::ParseError => {
                (-32700, S::BAD_REQUEST, "INVALID_ARGUMENT", "JSON_PARSE_ERROR", STOA)
            }
            Self::InvalidRequest => {
                (-32600, S::BAD_REQUEST, "INVALID_ARGUMENT", "INVALID_REQUEST", STOA)
            }
            Self::MethodNotFound => {
                (-32601, S::NOT_FOUND, "UNIMPLEMENTED", "METHOD_NOT_FOUND", STOA)
            }
            Self::InvalidParams => {
                (-32602, S::BAD_REQUEST, "INVALID_ARGUMENT", "INVALID_PARAMS", STOA)
            }
            Self::Internal => {
                (-32603, S::INTERNAL_SERVER_ERROR, "INTERNAL", "INTERNAL_ERROR", STOA)
            }
            Self::Unauthenticated => {
                (-32000, S::UNAUTHORIZED, "UNAUTHENTICATED", "UNAUTHENTICATED", STOA)
            }
            Self::Forbidden => {
                (-32000, S::FORBIDDEN, "PERMISSION_DENIED", "PERMISSION_DENIED", STOA)
            }
            Self::RateLimited => {
                (-32000, S::TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED", "RATE_LIMITED", STOA)
            }
            Self::Unavailable => {
                (-32000, S::SERVICE_UNAVAILABLE, "UNAVAILABLE", "UNAVAILABLE", STOA)
            }
            Self::TaskNotFound => (-32001, S::NOT_FOUND, "NOT_FOUND", "TASK_NOT_FOUND", PROTOCOL),
            Self::TaskNotCancelable => {
                (-32002, S::BAD_REQUEST, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE", PROTOCOL)
            }
            Self::UnsupportedOperation => {
                (-32004, S::BAD_REQUEST, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION", PROTOCOL)
            }
            Self::ContentTypeNotSupported => {
                (-32005, S::BAD_REQUEST, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", PROTOCOL)
            }
            Self::BodyTypeNotSupported => (
                -32005,
                S::UNSUPPORTED_MEDIA_TYPE,
                "INVALID_ARGUMENT",
                "CONTENT_TYPE_NOT_SUPPORTED",
                PROTOCOL,
            ),
            Self::VersionNotSupported => {
                (-32009, S::BAD_REQUEST, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED", PROTOCOL)
            }
        }
    }
}

/// An error response.
#[derive(Debug)]
pub(crate) struct A2aError {
    pub(crate) reason: ErrorReason,
    message: String,
    violations: Vec<(String, String)>,
    metadata: Vec<(&'static str, String)>,
    pub(crate) retry_after: Option<Duration>,
}

impl A2aError {
    pub(crate) fn new(reason: ErrorReason, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { reason, message, violations: Vec::new(), metadata: Vec::new(), retry_after: None }
    }

    /// Invalid parameters, with the field that is wrong.
    pub(crate) fn params(field: &str, expected: impl Into<String>) -> Self {
        let expected = expected.into();
        let message = match field {
            "" => format!("invalid parameters: {expected}"),
            field => format!("invalid parameters: {field}: {expected}"),
        };
        let mut error = Self::new(ErrorReason::InvalidParams, message);
        error.violations.push((field.to_owned(), expected));
        error
    }

    pub(crate) fn task_not_found(id: &str) -> Self {
        Self::new(ErrorReason::TaskNotFound, "there is no such task").about_task(id)
    }

    pub(crate) fn about_task(mut self, id: &str) -> Self {
        self.metadata.push(("taskId", id.chars().take(128).collect()));
        self
    }

    pub(crate) fn http_status(&self) -> StatusCode {
        self.reason.row().1
    }

    fn details(&self) -> Vec<Value> {
        let (_, _, _, word, domain) = self.reason.row();
        let mut info = json!({ "@type": ERROR_INFO, "reason": word, "domain": domain });
        if !self.metadata.is_empty() {
            info["metadata"] = self.metadata.iter().map(|(key, value)| (*key, &**value)).collect();
        }
        let mut details = vec![info];
        if !self.violations.is_empty() {
            let violation = |(field, expected): &(String, String)| json!({ "field": field, "description": expected });
            let all: Vec<Value> = self.violations.iter().map(violation).collect();
            details.push(json!({ "@type": BAD_REQUEST, "fieldViolations": all }));
        }
        details
    }

    /// The `error` member of a JSON-RPC response.
    pub(crate) fn rpc(&self) -> Value {
        json!({ "code": self.reason.row().0, "message": self.message, "data": self.details() })
    }

    /// The body of an HTTP response.
    pub(crate) fn http(&self) -> Value {
        let (_, status, word, ..) = self.reason.row();
        json!({ "error": { "code": status.as_u16(), "status": word, "message": self.message,
            "details": self.details() } })
    }
}

impl From<Fault> for A2aError {
    /// The cause of the fault is logged and not sent.
    fn from(fault: Fault) -> Self {
        let reason = match fault.kind() {
            Kind::Invalid | Kind::NotFound | Kind::Conflict => ErrorReason::InvalidParams,
            Kind::Unauthenticated => ErrorReason::Unauthenticated,
            Kind::Forbidden => ErrorReason::Forbidden,
            Kind::RateLimited => ErrorReason::RateLimited,
            Kind::Unavailable | Kind::Timeout | Kind::Cancelled => ErrorReason::Unavailable,
            Kind::Internal => ErrorReason::Internal,
        };
        if matches!(reason, ErrorReason::Internal | ErrorReason::Unavailable) {
            let cause = std::error::Error::source(&fault).map(ToString::to_string);
            tracing::warn!(code = fault.code(), cause, "an agent's request failed: {fault}");
        }
        let mut error = Self::new(reason, fault.message());
        error.retry_after = fault.retry_wait();
        error.violations = fault
            .problems()
            .iter()
            .map(|error| (error.field.clone(), error.expected.clone()))
            .collect();
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_equal_in_both_bindings() {
        let error = A2aError::task_not_found("t1");
        let info = json!({ "@type": ERROR_INFO, "reason": "TASK_NOT_FOUND", "domain": PROTOCOL,
            "metadata": { "taskId": "t1" } });
        assert_eq!(error.rpc()["code"], -32001);
        assert_eq!(error.rpc()["data"], json!([info]));
        assert_eq!(error.http()["error"]["code"], 404);
        assert_eq!(error.http()["error"]["status"], "NOT_FOUND");
        assert_eq!(error.http()["error"]["details"], json!([info]));
    }

    #[test]
    fn invalid_fields_are_named() {
        let fault = Fault::invalid("invalid_input", "no").problem("input.messages", "an array");
        let details = &A2aError::from(fault).rpc()["data"];
        assert_eq!(details[1]["fieldViolations"][0]["field"], "input.messages");
    }
}
