//! How many streams one client may have open, and how many it may begin in a minute. A client is an
//! address, as for the rate of requests.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use auth::{ClientId, RateLimit, RateLimiter};
use axum::extract::ConnectInfo;
use fault::{Fault, Kind};
use http::Extensions;

/// How many clients' beginnings are remembered.
const CLIENTS_MAX: usize = 16_384;
/// How long a client is told to stay away that has as many open as it may.
const COME_BACK: Duration = Duration::from_secs(5);

/// What one client may do. Zero is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimits {
    /// Streams it has open at once; a WebSocket counts as one.
    pub open_max: usize,
    /// Streams it begins in a minute.
    pub per_minute: u32,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self { open_max: 1_000, per_minute: 600 }
    }
}

pub(crate) struct StreamLimiter {
    limits: ClientLimits,
    beginnings: RateLimiter,
    /// The limiter counts nanoseconds from here.
    started: Instant,
    /// As many clients as have something open.
    open: Mutex<HashMap<ClientId, usize>>,
}

/// One of a client's streams; given back when it is dropped.
pub(crate) struct StreamSlot {
    /// Absent where nobody is counted.
    taken: Option<(Arc<StreamLimiter>, ClientId)>,
}

impl StreamLimiter {
    pub(crate) fn new(limits: ClientLimits) -> Arc<Self> {
        let rate =
            RateLimit { burst: limits.per_minute, per_second: f64::from(limits.per_minute) / 60.0 };
        Arc::new(Self {
            limits,
            beginnings: RateLimiter::new(rate, CLIENTS_MAX),
            started: Instant::now(),
            open: Mutex::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<ClientId, usize>> {
        self.open.lock()
    }

    /// A place for whoever sent this request.
    pub(crate) fn enter(self: &Arc<Self>, request: &Extensions) -> Result<StreamSlot, Fault> {
        let Some(ConnectInfo(peer)) = request.get::<ConnectInfo<SocketAddr>>() else {
            return Ok(StreamSlot { taken: None });
        };
        let client = ClientId::from(peer.ip());
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let begun = self.beginnings.check(&client, now);
        if !begun.allowed {
            let most = self.limits.per_minute;
            let message = format!("a client may begin {most} streams in a minute; wait a little");
            return Err(refused(message, begun.retry_after.unwrap_or(COME_BACK)));
        }
        let most = self.limits.open_max;
        if most == 0 {
            return Ok(StreamSlot { taken: None });
        }
        let mut open = self.open();
        let count = open.entry(client.clone()).or_default();
        if *count >= most {
            let message = format!("a client may have {most} streams open; end one first");
            return Err(refused(message, COME_BACK));
        }
        *count += 1;
        drop(open);
        Ok(StreamSlot { taken: Some((Arc::clone(self), client)) })
    }
}

fn refused(message: String, wait: Duration) -> Fault {
    Fault::new(Kind::RateLimited, "rate_limited", message).retry_after(wait)
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let Some((limiter, client)) = self.taken.take() else { return };
        let mut open = limiter.open();
        if let Some(count) = open.get_mut(&client) {
            *count -= 1;
            if *count == 0 {
                open.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(address: &str) -> Extensions {
        let mut extensions = Extensions::new();
        extensions.insert(ConnectInfo::<SocketAddr>(address.parse().unwrap()));
        extensions
    }

    #[test]
    fn a_client_has_so_many_open_and_others_have_their_own() {
        let limiter = StreamLimiter::new(ClientLimits { open_max: 2, per_minute: 0 });
        let (one, other) = (from("10.0.0.1:5"), from("10.0.0.2:5"));
        let mut held = vec![limiter.enter(&one).ok().unwrap(), limiter.enter(&one).ok().unwrap()];
        let refused = limiter.enter(&from("10.0.0.1:6")).err().unwrap();
        assert_eq!((refused.kind(), refused.code()), (Kind::RateLimited, "rate_limited"));
        assert!(refused.retry_wait().is_some());
        assert!(limiter.enter(&other).is_ok());
        held.pop();
        held.push(limiter.enter(&one).ok().unwrap());
        drop(held);
        assert!(limiter.open().is_empty(), "what is gone is forgotten");
    }

    #[test]
    fn a_client_begins_so_many_in_a_minute() {
        let limiter = StreamLimiter::new(ClientLimits { open_max: 0, per_minute: 3 });
        let one = from("10.0.0.1:5");
        for _ in 0..3 {
            assert!(limiter.enter(&one).is_ok());
        }
        let wait = limiter.enter(&one).err().unwrap().retry_wait().unwrap();
        assert!(wait > Duration::from_secs(15) && wait <= Duration::from_secs(20), "{wait:?}");
        let free = StreamLimiter::new(ClientLimits { open_max: 0, per_minute: 0 });
        assert!((0..10_000).all(|_| free.enter(&one).is_ok()));
    }
}
