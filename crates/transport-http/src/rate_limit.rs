//! The request rate of each client, and the response headers that report it.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use axum::response::Response;
use fault::{Fault, Kind};
use http::{HeaderName, HeaderValue};
use limits::{Admission, ClientAddress, RateLimiter};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

pub(crate) struct ClientRateLimiter {
    limiter: RateLimiter,
    /// The limiter's clock counts nanoseconds from here.
    started: Instant,
}

impl ClientRateLimiter {
    pub(crate) fn new(limiter: RateLimiter) -> Self {
        Self { limiter, started: Instant::now() }
    }

    /// Takes one request out of the client's allowance. Clients are distinguished by address: an
    /// unverified credential could be made up anew for every request.
    pub(crate) fn admit(&self, client: IpAddr) -> Admission {
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.limiter.check(&ClientAddress::from(client), now)
    }
}

/// How long a refused client must wait; `None` if it was admitted.
pub(crate) fn retry_after(admission: &Admission) -> Option<Duration> {
    (!admission.allowed).then(|| admission.retry_after.unwrap_or(Duration::from_secs(1)))
}

/// The fault of a client over its rate.
pub(crate) fn rate_limited(wait: Duration) -> Fault {
    let message = "too many requests; wait before the next one";
    Fault::new(Kind::RateLimited, "rate_limited", message).retry_after(wait)
}

/// Adds the `RateLimit` headers to a response.
pub(crate) fn add_headers(admission: &Admission, response: &mut Response) {
    if admission.limit == 0 {
        return;
    }
    let reset = admission.reset_after.as_secs_f64().ceil() as u64;
    let left = format!("\"default\";r={};t={reset}", admission.remaining);
    let policy = format!("\"default\";q={}", admission.limit);
    for (name, text) in [(RATE_LIMIT, left), (RATE_LIMIT_POLICY, policy)] {
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(name, value);
        }
    }
}
