//! What the lack of a good answer means, as far as it is the same for every venue: which fault it
//! is, whether trying again can help, and whether the venue is to blame.

use std::time::Duration;

use fault::{Fault, Kind};

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
        let message = format!("the exchange did not answer within {} s", after.as_secs_f32());
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

    pub fn resting(wait: Duration) -> Self {
        let message = "the exchange failed repeatedly and is left alone for a moment";
        let fault = Fault::unavailable("upstream_circuit_open", message).retry_after(wait);
        Self { fault, retry: Retry::Refused, broken: false }
    }
}

fn limited(wait: Duration) -> Fault {
    let seconds = wait.as_millis().div_ceil(1_000);
    let message = format!("the exchange's request limit is reached; wait {seconds} s");
    Fault::new(Kind::RateLimited, "upstream_rate_limited", message).retry_after(wait)
}
