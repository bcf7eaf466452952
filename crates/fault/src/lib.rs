//! The one error type of the house: what went wrong, in words that are safe to show.
//!
//! A [`Fault`] knows nothing of HTTP, MCP or any contract's spelling; each contract's `errors.json`
//! maps `code` (falling back to `kind`) to its own words. It has no dependencies on purpose.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// What a caller can do about a fault. Decides status, retry and log level, so a new kind is
/// allowed only when a caller would act differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The request itself is wrong; sending it again will fail again.
    Invalid,
    /// No credential, or one that does not hold.
    Unauthenticated,
    /// A good credential that does not reach this far.
    Forbidden,
    /// What was asked for does not exist.
    NotFound,
    /// The state has moved on since the caller looked.
    Conflict,
    /// Too many requests; `retry_after` says when to come back.
    RateLimited,
    /// Somebody we depend on failed or refused; trying later may work.
    Unavailable,
    /// The deadline passed, ours or an upstream's.
    Timeout,
    /// The caller went away; nobody reads the answer.
    Cancelled,
    /// Our own bug.
    Internal,
}

impl Kind {
    /// Every kind, for tests that walk tables.
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

    /// The word for this kind in `errors.json` and in metrics.
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

    /// Whether the same request may succeed later without being changed.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable | Self::Timeout)
    }
}

/// One thing wrong with one field of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where: a dotted path such as `tickers[3]`; empty for the whole input.
    pub field: String,
    /// What was expected there, as a phrase that completes "expected …".
    pub expected: String,
}

/// A failure on its way to a caller.
#[derive(Debug)]
pub struct Fault {
    kind: Kind,
    code: &'static str,
    message: String,
    problems: Vec<Problem>,
    retry_after: Option<Duration>,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Fault {
    /// `code` is our own fine-grained word (`invalid_ticker`); `message` is lower case, without a
    /// full stop, names the offending value and is safe to show to anybody.
    pub fn new(kind: Kind, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            code,
            message: message.into(),
            problems: Vec::new(),
            retry_after: None,
            cause: None,
        }
    }

    pub fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, code, message)
    }

    pub fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, code, message)
    }

    pub fn unavailable(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::Unavailable, code, message)
    }

    /// A bug of ours: the cause is for the log, the caller learns only that it was not their doing.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(Kind::Internal, "internal", "an internal error occurred; it has been logged")
            .caused_by(cause)
    }

    #[must_use]
    pub fn problem(mut self, field: impl Into<String>, expected: impl Into<String>) -> Self {
        self.problems.push(Problem { field: field.into(), expected: expected.into() });
        self
    }

    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Attaches what really happened. It is logged and never sent.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Says what we were doing, once, in front of the message.
    #[must_use]
    pub fn while_doing(mut self, doing: &str) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn code(&self) -> &'static str {
        self.code
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    pub fn retry_wait(&self) -> Option<Duration> {
        self.retry_after
    }

    /// A copy for everybody who waited for the same work. The cause stays with the original, which
    /// is the one that gets logged.
    #[must_use]
    pub fn shared(&self) -> Self {
        Self {
            kind: self.kind,
            code: self.code,
            message: self.message.clone(),
            problems: self.problems.clone(),
            retry_after: self.retry_after,
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
    fn only_what_may_pass_is_retryable() {
        let retryable: Vec<_> = Kind::ALL.into_iter().filter(|kind| kind.is_retryable()).collect();
        assert_eq!(retryable, [Kind::RateLimited, Kind::Unavailable, Kind::Timeout]);
    }
}
