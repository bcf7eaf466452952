//! The rate of each client, and the headers that tell it how much is left.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::response::Response;
use http::{HeaderName, HeaderValue};
use limits::{Admission, ClientAddress, RateLimiter};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

pub(crate) struct Turnstile {
    limiter: RateLimiter,
    /// The limiter counts nanoseconds from here.
    started: Instant,
}

impl Turnstile {
    pub(crate) fn new(limiter: RateLimiter) -> Self {
        Self { limiter, started: Instant::now() }
    }

    /// Takes one request out of the client's bucket. A client is its address: a credential that has
    /// not been looked at yet could be made up anew for every request.
    pub(crate) fn take(&self, peer: SocketAddr) -> Admission {
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.limiter.check(&ClientAddress::from(peer.ip()), now)
    }
}

/// The wait a refused client is told, if it was refused.
pub(crate) fn retry_after_rate(admission: &Admission) -> Option<Duration> {
    (!admission.allowed).then(|| admission.retry_after.unwrap_or(Duration::from_secs(1)))
}

pub(crate) fn tell(admission: &Admission, response: &mut Response) {
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
