//! The one error type of the project: a kind, a code, a message that is safe to show, and a private
//! cause.
//!
//! A [`Fault`] is independent of HTTP, MCP and any contract: each contract's `errors.json` maps its
//! code (falling back to its kind) to the contract's own error. The crate has no dependencies, so
//! that every other crate can use it.
#![warn(missing_docs)]

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The kind of a fault, which decides the status, whether to retry and the log level. Add a kind only
/// when a caller would act differently on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The request itself is wrong; sending it again will fail again.
    Invalid,
    /// The credential is missing or invalid.
    Unauthenticated,
    /// The credential is valid and does not permit this.
    Forbidden,
    /// The requested thing does not exist.
    NotFound,
    /// The state changed since the caller read it.
    Conflict,
    /// Too many requests; `retry_after` has the time to wait.
    RateLimited,
    /// An upstream failed or refused; a later attempt may succeed.
    Unavailable,
    /// A deadline passed, ours or an upstream's.
    Timeout,
    /// The caller disconnected before the answer.
    Cancelled,
    /// A bug of this program.
    Internal,
}

impl Kind {
    /// Every kind, for tests over tables.
    pub const ALL: [Self; 10] = [
        Self::Invalid,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::RateLimited,
        Self::Unavailable,
        Self::Timeout,
        Self::Cancelled,
        Self::Internal,
    ];

    /// The name of the kind in `errors.json` and in metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }

    /// Whether the same request may succeed later.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable | Self::Timeout)
    }
}

/// One invalid field of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The path of the field, such as `tickers[3]`; empty for the whole input.
    pub field: String,
    /// The expected value, as a phrase that completes "expected …".
    pub expected: String,
}

/// What another server said about an error that is passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamError {
    /// The HTTP status of its response.
    pub status: u16,
    /// The id under which it logged the request.
    pub trace_id: Option<String>,
}

/// An error that is returned to a caller.
#[derive(Debug)]
pub struct Fault {
    kind: Kind,
    code: &'static str,
    message: Box<str>,
    problems: Vec<Problem>,
    retry_after: Option<Duration>,
    upstream: Option<Box<UpstreamError>>,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Fault {
    /// A fault with a fine-grained code such as `invalid_ticker`. The message is lower case, has no
    /// full stop, names the offending value and is safe to show to every caller.
    pub fn new(kind: Kind, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            code,
            message: message.into().into_boxed_str(),
            problems: Vec::new(),
            retry_after: None,
            upstream: None,
            cause: None,
        }
    }

    /// A fault of [`Kind::Invalid`].
    pub fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, code, message)
    }

    /// A fault of [`Kind::NotFound`].
    pub fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, code, message)
    }

    /// A fault of [`Kind::Unavailable`].
    pub fn unavailable(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::Unavailable, code, message)
    }

    /// A fault of [`Kind::Internal`]: the cause is logged, the caller gets a general message.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(Kind::Internal, "internal", "an internal error occurred; it has been logged")
            .caused_by(cause)
    }

    /// Adds an invalid field.
    #[must_use]
    pub fn problem(mut self, field: impl Into<String>, expected: impl Into<String>) -> Self {
        self.problems.push(Problem { field: field.into(), expected: expected.into() });
        self
    }

    /// Sets how long the caller should wait before it retries.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Says that another server's error is passed on, with its status and its trace id.
    #[must_use]
    pub fn passed_on(mut self, error: UpstreamError) -> Self {
        self.upstream = Some(Box::new(error));
        self
    }

    /// Attaches the private cause, which is logged and never sent.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Replaces the message.
    #[must_use]
    pub fn reworded(mut self, message: impl Into<String>) -> Self {
        self.message = message.into().into_boxed_str();
        self
    }

    /// Puts the failed operation in front of the message.
    #[must_use]
    pub fn while_doing(mut self, doing: &str) -> Self {
        self.message = format!("{doing}: {}", self.message).into_boxed_str();
        self
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The fine-grained code.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The message for the caller.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The invalid fields.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// How long the caller should wait before it retries.
    pub fn retry_wait(&self) -> Option<Duration> {
        self.retry_after
    }

    /// What another server said, if its error is passed on.
    pub fn upstream(&self) -> Option<&UpstreamError> {
        self.upstream.as_deref()
    }

    /// A copy for callers that shared one operation. The cause stays with the original, which is
    /// logged.
    #[must_use]
    pub fn shared(&self) -> Self {
        Self {
            kind: self.kind,
            code: self.code,
            message: self.message.clone(),
            problems: self.problems.clone(),
            retry_after: self.retry_after,
            upstream: self.upstream.clone(),
            cause: None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_reachable_but_never_displayed() {
        let fault = Fault::internal("password=hunter2").while_doing("opening the store");
        assert!(!fault.to_string().contains("hunter2"));
        assert!(fault.source().is_some_and(|cause| cause.to_string().contains("hunter2")));
        assert!(fault.shared().source().is_none());
    }

    #[test]
    fn only_temporary_kinds_are_retryable() {
        let retryable: Vec<_> = Kind::ALL.into_iter().filter(|kind| kind.is_retryable()).collect();
        assert_eq!(retryable, [Kind::RateLimited, Kind::Unavailable, Kind::Timeout]);
    }
}
