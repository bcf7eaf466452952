//! What the lack of a good answer means, as far as it is the same for every venue: which fault it
//! is, whether trying again can help, and whether the venue is to blame.

use std::time::Duration;

use fault::{Fault, Kind};

use crate::breaker::Resting;

/// What to do after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    Never,
    /// After a short random wait.
    Again,
    /// As soon as the venue said.
    WhenUnblocked,
    /// Nothing was sent.
    Refused,
}

#[derive(Debug)]
pub struct Failure {
    pub fault: Fault,
    pub retry: Retry,
    /// Whether it counts against the venue.
    pub broken: bool,
}

impl Failure {
    pub fn broken(fault: Fault, retry: Retry) -> Self {
        Self { fault, retry, broken: true }
    }

    /// The venue is well and wants nothing of us. It does not count against the venue, so that
    /// the next caller is told the same reason and not that something failed repeatedly.
    pub fn refusal(fault: Fault) -> Self {
        Self { fault, retry: Retry::Never, broken: false }
    }

    pub fn timeout(after: Duration) -> Self {
        // What is left of a budget of a minute is a little less than that.
        let seconds = (after.as_secs_f32() * 10.0).round() / 10.0;
        let message = format!("the exchange did not answer within {seconds} s");
        Self::broken(Fault::new(Kind::Timeout, "upstream_timeout", message), Retry::Again)
    }

    /// No answer at all. The address is left out of the cause: it may hold a password.
    pub fn transport(error: reqwest::Error) -> Self {
        let fault = if error.is_timeout() {
            let message = "the exchange could not be reached in time";
            Fault::new(Kind::Timeout, "upstream_timeout", message)
        } else {
            Fault::unavailable("upstream_unreachable", "the exchange could not be reached")
        };
        Self::broken(fault.caused_by(error.without_url()), Retry::Again)
    }

    pub fn cut_short(error: reqwest::Error) -> Self {
        let fault = Fault::unavailable("upstream_truncated", "the exchange's answer was cut short");
        Self::broken(fault.caused_by(error.without_url()), Retry::Again)
    }

    pub fn too_large(limit: usize) -> Self {
        let message = format!("the exchange's answer is larger than {limit} bytes");
        Self::broken(Fault::unavailable("upstream_malformed", message), Retry::Never)
    }

    /// We keep to the venue's limits by not asking.
    pub fn held_back(wait: Duration) -> Self {
        Self { fault: limited(wait), retry: Retry::Refused, broken: false }
    }

    /// The venue said that we ask too much.
    pub fn limited(wait: Duration) -> Self {
        Self { fault: limited(wait), retry: Retry::WhenUnblocked, broken: false }
    }

    /// Nothing was sent, because the venue failed too often. It is told as the failure that made it
    /// so: a caller who was timed out before is timed out still.
    pub fn resting(resting: Resting) -> Self {
        let seconds = resting.wait.as_millis().div_ceil(1_000);
        let fault = match resting.cause {
            Some(cause) => {
                let said = cause.message();
                let message =
                    format!("{said}; after repeated failures it is left alone for {seconds} s");
                Fault::new(cause.kind(), cause.code(), message)
            }
            None => {
                let message = "the exchange failed repeatedly and is left alone for a moment";
                Fault::unavailable("upstream_circuit_open", message)
            }
        };
        Self { fault: fault.retry_after(resting.wait), retry: Retry::Refused, broken: false }
    }
}

fn limited(wait: Duration) -> Fault {
    let seconds = wait.as_millis().div_ceil(1_000);
    let message = format!("the exchange's request limit is reached; wait {seconds} s");
    Fault::new(Kind::RateLimited, "upstream_rate_limited", message).retry_after(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cause: Option<Fault>, kind: Kind, code: &str, begins: &str) {
        let wait = Duration::from_millis(28_500);
        let failure = Failure::resting(Resting { wait, cause });
        let fault = &failure.fault;
        assert_eq!((fault.kind(), fault.code(), fault.retry_wait()), (kind, code, Some(wait)));
        assert!(fault.message().starts_with(begins), "{fault}");
        assert_eq!((failure.retry, failure.broken), (Retry::Refused, false));
    }

    #[test]
    fn a_venue_at_rest_is_told_as_what_made_it_so() {
        let timeout = Failure::timeout(Duration::from_micros(9_999_946)).fault;
        let words = "the exchange did not answer within 10 s; after repeated failures it is left \
                     alone for 29 s";
        check(Some(timeout), Kind::Timeout, "upstream_timeout", words);
        let failed = Fault::unavailable("upstream_failed", "the exchange failed with status 503");
        check(Some(failed), Kind::Unavailable, "upstream_failed", "the exchange failed with");
        check(None, Kind::Unavailable, "upstream_circuit_open", "the exchange failed repeatedly");
    }
}
