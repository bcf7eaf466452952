//! OAuth errors: a code of the standard, a message, and an HTTP status.

use std::borrow::Cow;
use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use fault::{Fault, Kind};
use http::StatusCode;
use serde_json::json;

/// A refused request.
#[derive(Debug)]
pub(crate) struct OAuthError {
    status: StatusCode,
    code: &'static str,
    message: Cow<'static, str>,
    retry_after: Option<Duration>,
}

impl OAuthError {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { status, code, message: message.into(), retry_after: None }
    }

    pub(crate) fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    pub(crate) fn invalid_grant(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_grant", message)
    }

    pub(crate) fn invalid_client() -> Self {
        let message = "the client is not registered here, or its registration has expired";
        Self::new(StatusCode::BAD_REQUEST, "invalid_client", message)
    }

    pub(crate) fn invalid_scope(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_scope", message)
    }

    pub(crate) fn invalid_target() -> Self {
        let message = "the resource is not an MCP endpoint of this server, or not the one that the user allowed";
        Self::new(StatusCode::BAD_REQUEST, "invalid_target", message)
    }

    pub(crate) fn too_many_registrations(wait: Duration) -> Self {
        let message = "too many registrations from this address; try again later";
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, "temporarily_unavailable", message);
        Self { retry_after: Some(wait), ..error }
    }

    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The JSON of RFC 6749, section 5.2.
    pub(crate) fn response(&self) -> Response {
        let body = json!({ "error": self.code, "error_description": self.message });
        let mut response = (self.status, Json(body)).into_response();
        http_wire::add_refusal_headers(&mut response, self.retry_after);
        response
    }
}

/// A fault of the accounts, the tokens or the database. Its cause is logged and not sent.
impl From<Fault> for OAuthError {
    fn from(fault: Fault) -> Self {
        let message = fault.message().to_owned();
        match fault.kind() {
            Kind::Unauthenticated | Kind::Forbidden | Kind::NotFound => {
                Self::invalid_grant(message)
            }
            Kind::Invalid | Kind::Conflict => Self::invalid_request(message),
            Kind::RateLimited => {
                let status = StatusCode::TOO_MANY_REQUESTS;
                let retry_after = fault.retry_wait();
                Self { retry_after, ..Self::new(status, "temporarily_unavailable", message) }
            }
            Kind::Unavailable | Kind::Timeout | Kind::Cancelled => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                let retry_after = fault.retry_wait().or(Some(Duration::from_secs(1)));
                Self { retry_after, ..Self::new(status, "temporarily_unavailable", message) }
            }
            Kind::Internal => {
                let cause = std::error::Error::source(&fault).map(ToString::to_string);
                tracing::error!(code = fault.code(), cause, "{fault}");
                let message = "the server failed; its log says why";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", message)
            }
        }
    }
}
