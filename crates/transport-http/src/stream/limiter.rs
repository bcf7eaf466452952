//! Bounds how many streams one client address has open and how many it opens in a minute.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fault::{Fault, Kind};
use limits::{ClientAddress, OwnerLimiter, OwnerSlot, RateLimit, RateLimiter};

/// How many clients the rate limiter remembers.
const CLIENTS_MAX: usize = 16_384;
/// `Retry-After` of a client that has too many streams open.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// What one client may do. Zero is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimits {
    /// Streams a client has open at once; a WebSocket counts as one.
    pub open_max: usize,
    /// Streams a client opens in a minute.
    pub per_minute: u32,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self { open_max: 1_000, per_minute: 600 }
    }
}

pub(crate) struct StreamLimiter {
    limits: ClientLimits,
    opened: RateLimiter,
    /// The rate limiter counts nanoseconds from here.
    started: Instant,
    open: OwnerLimiter<ClientAddress>,
}

/// One open stream; dropping it gives the slot back.
pub(crate) struct StreamSlot {
    /// `None` where the client's address is not known.
    _held: Option<OwnerSlot<ClientAddress>>,
}

impl StreamLimiter {
    pub(crate) fn new(limits: ClientLimits) -> Arc<Self> {
        let rate =
            RateLimit { burst: limits.per_minute, per_second: f64::from(limits.per_minute) / 60.0 };
        let open_max = if limits.open_max == 0 { usize::MAX } else { limits.open_max };
        Arc::new(Self {
            limits,
            opened: RateLimiter::new(rate, CLIENTS_MAX),
            started: Instant::now(),
            open: OwnerLimiter::per_owner(open_max),
        })
    }

    /// A slot for the client at this address.
    pub(crate) fn acquire(&self, client: Option<IpAddr>) -> Result<StreamSlot, Fault> {
        let Some(address) = client else {
            return Ok(StreamSlot { _held: None });
        };
        let client = ClientAddress::from(address);
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let opened = self.opened.check(&client, now);
        if !opened.allowed {
            let most = self.limits.per_minute;
            let message = format!("a client may begin {most} streams in a minute; wait a little");
            return Err(refused(message, opened.retry_after.unwrap_or(RETRY_AFTER)));
        }
        let held = self.open.try_acquire(client).map_err(|_| {
            let most = self.limits.open_max;
            let message = format!("a client may have {most} streams open; end one first");
            refused(message, RETRY_AFTER)
        })?;
        Ok(StreamSlot { _held: Some(held) })
    }
}

fn refused(message: String, wait: Duration) -> Fault {
    Fault::new(Kind::RateLimited, "rate_limited", message).retry_after(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(address: &str) -> Option<IpAddr> {
        Some(address.parse().unwrap())
    }

    #[test]
    fn each_client_has_its_own_limit_of_open_streams() {
        let limiter = StreamLimiter::new(ClientLimits { open_max: 2, per_minute: 0 });
        let (one, other) = (from("10.0.0.1"), from("10.0.0.2"));
        let mut held = vec![limiter.acquire(one).ok().unwrap(), limiter.acquire(one).ok().unwrap()];
        let refused = limiter.acquire(from("10.0.0.1")).err().unwrap();
        assert_eq!((refused.kind(), refused.code()), (Kind::RateLimited, "rate_limited"));
        assert!(refused.retry_wait().is_some());
        assert!(limiter.acquire(other).is_ok());
        held.pop();
        held.push(limiter.acquire(one).ok().unwrap());
        drop(held);
        assert_eq!(limiter.open.owners(), 0);
    }

    #[test]
    fn a_client_opens_a_limited_number_of_streams_in_a_minute() {
        let limiter = StreamLimiter::new(ClientLimits { open_max: 0, per_minute: 3 });
        let one = from("10.0.0.1");
        for _ in 0..3 {
            assert!(limiter.acquire(one).is_ok());
        }
        let wait = limiter.acquire(one).err().unwrap().retry_wait().unwrap();
        assert!(wait > Duration::from_secs(15) && wait <= Duration::from_secs(20), "{wait:?}");
        let unlimited = StreamLimiter::new(ClientLimits { open_max: 0, per_minute: 0 });
        assert!((0..10_000).all(|_| unlimited.acquire(one).is_ok()));
    }
}
