//! Failed requests, as they are the same for every venue: the fault, whether a retry can help, and
//! whether the circuit breaker counts the failure.

use std::time::Duration;

use fault::{Fault, Kind};

use crate::breaker::CircuitOpen;
use crate::upstream_name::connection_cause;

/// Whether and when to retry a failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    Never,
    /// After a short random wait.
    AfterBackoff,
    /// At the time the venue named.
    WhenUnblocked,
    /// Never: the request was refused before it was sent.
    NotSent,
}

/// One failed attempt.
#[derive(Debug)]
pub struct RequestFailure {
    pub fault: Fault,
    pub retry: Retry,
    /// Whether the circuit breaker counts it.
    pub trips_breaker: bool,
}

impl RequestFailure {
    /// The venue failed; the circuit breaker counts it.
    pub fn venue_error(fault: Fault, retry: Retry) -> Self {
        Self { fault, retry, trips_breaker: true }
    }

    /// The venue works and refused the request. The breaker does not count it, so the next caller
    /// gets the same reason and not "failed repeatedly".
    pub fn refusal(fault: Fault) -> Self {
        Self { fault, retry: Retry::Never, trips_breaker: false }
    }

    pub fn timeout(after: Duration) -> Self {
        // Rounded, because a remaining budget of a minute is a little less than 60 s.
        let seconds = (after.as_secs_f32() * 10.0).round() / 10.0;
        let message = format!("the exchange did not answer within {seconds} s");
        Self::venue_error(
            Fault::new(Kind::Timeout, "upstream_timeout", message),
            Retry::AfterBackoff,
        )
    }

    /// No response. The cause leaves out the URL, because it may contain a password.
    pub fn transport(error: reqwest::Error) -> Self {
        if !error.is_timeout() {
            return Self::unreachable(error.without_url());
        }
        let message = "the exchange could not be reached: the connection timed out";
        let fault = Fault::new(Kind::Timeout, "upstream_timeout", message);
        Self::venue_error(fault.caused_by(error.without_url()), Retry::AfterBackoff)
    }

    /// No connection, or one that ended before the response. The cause must not contain the URL.
    pub fn unreachable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let cause = cause.into();
        let why = connection_cause(&*cause).map(|why| format!(": {why}")).unwrap_or_default();
        let message = format!("the exchange could not be reached{why}");
        let fault = Fault::unavailable("upstream_unreachable", message).caused_by(cause);
        Self::venue_error(fault, Retry::AfterBackoff)
    }

    /// The body could not be read to its end.
    pub fn truncated(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let fault = Fault::unavailable("upstream_truncated", "the exchange's answer was cut short");
        Self::venue_error(fault.caused_by(cause), Retry::AfterBackoff)
    }

    pub fn too_large(limit: usize) -> Self {
        let message = format!("the exchange's answer is larger than {limit} bytes");
        Self::venue_error(Fault::unavailable("upstream_malformed", message), Retry::Never)
    }

    /// The adapter's own rate limiter refused the request before it was sent.
    pub fn locally_limited(wait: Duration) -> Self {
        Self { fault: rate_limit_fault(wait), retry: Retry::NotSent, trips_breaker: false }
    }

    /// The venue answered that we sent too many requests.
    pub fn rate_limited(wait: Duration) -> Self {
        Self { fault: rate_limit_fault(wait), retry: Retry::WhenUnblocked, trips_breaker: false }
    }

    /// The breaker is open, so nothing was sent. The fault has the kind and code of the failure that
    /// opened the breaker: after timeouts, callers keep getting a timeout.
    pub fn circuit_open(open: CircuitOpen) -> Self {
        let seconds = open.wait.as_millis().div_ceil(1_000);
        let fault = match open.cause {
            Some(cause) => {
                let last = cause.message();
                let message =
                    format!("{last}; after repeated failures no request is sent for {seconds} s");
                Fault::new(cause.kind(), cause.code(), message)
            }
            None => {
                let message =
                    format!("the exchange failed repeatedly; no request is sent for {seconds} s");
                Fault::unavailable("upstream_circuit_open", message)
            }
        };
        Self { fault: fault.retry_after(open.wait), retry: Retry::NotSent, trips_breaker: false }
    }
}

fn rate_limit_fault(wait: Duration) -> Fault {
    let seconds = wait.as_millis().div_ceil(1_000);
    let message = format!("the exchange's request limit is reached; wait {seconds} s");
    Fault::new(Kind::RateLimited, "upstream_rate_limited", message).retry_after(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cause: Option<Fault>, kind: Kind, code: &str, message_start: &str) {
        let wait = Duration::from_millis(28_500);
        let failure = RequestFailure::circuit_open(CircuitOpen { wait, cause });
        let fault = &failure.fault;
        assert_eq!((fault.kind(), fault.code(), fault.retry_wait()), (kind, code, Some(wait)));
        assert!(fault.message().starts_with(message_start), "{fault}");
        assert_eq!((failure.retry, failure.trips_breaker), (Retry::NotSent, false));
    }

    #[test]
    fn an_open_breaker_answers_with_the_failure_that_opened_it() {
        let timeout = RequestFailure::timeout(Duration::from_micros(9_999_946)).fault;
        let message = "the exchange did not answer within 10 s; after repeated failures no request is \
                     sent for 29 s";
        check(Some(timeout), Kind::Timeout, "upstream_timeout", message);
        let failed = Fault::unavailable("upstream_failed", "the exchange failed with status 503");
        check(Some(failed), Kind::Unavailable, "upstream_failed", "the exchange failed with");
        check(None, Kind::Unavailable, "upstream_circuit_open", "the exchange failed repeatedly");
    }
}
