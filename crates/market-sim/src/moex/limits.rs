//! The limit of requests per minute. The real exchange publishes none, so the number is ours.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use clock::Millis;

const MINUTE_MS: i64 = 60_000;

#[derive(Debug)]
struct Minute {
    limit: u32,
    at: i64,
    used: u32,
}

/// Counts the requests of the only client that a simulated exchange distinguishes.
#[derive(Debug)]
pub(crate) struct Limits {
    minute: Mutex<Minute>,
    requests: AtomicU64,
}

impl Limits {
    pub(crate) fn new(limit: u32) -> Self {
        let minute = Minute { limit, at: i64::MIN, used: 0 };
        Self { minute: Mutex::new(minute), requests: AtomicU64::new(0) }
    }

    pub(crate) fn set_limit(&self, limit: u32) {
        self.minute.lock().limit = limit;
    }

    /// Counts a request and returns the number of earlier ones.
    pub(crate) fn count(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Charges a request; the error is the wait in seconds.
    pub(crate) fn charge(&self, now: Millis) -> Result<(), u64> {
        let mut minute = self.minute.lock();
        let at = now.0.div_euclid(MINUTE_MS);
        if minute.at != at {
            (minute.at, minute.used) = (at, 0);
        }
        minute.used = minute.used.saturating_add(1);
        if minute.used <= minute.limit {
            return Ok(());
        }
        Err(((at + 1) * MINUTE_MS - now.0).unsigned_abs().div_ceil(1_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_limit_starts_again_every_minute() {
        let limits = Limits::new(2);
        let now = Millis(10 * MINUTE_MS + 15_500);
        let results: Vec<_> = (0..3).map(|_| limits.charge(now)).collect();
        assert_eq!(results, [Ok(()), Ok(()), Err(45)]);
        assert_eq!(limits.charge(Millis(11 * MINUTE_MS)), Ok(()));
        limits.set_limit(1);
        assert_eq!(limits.charge(Millis(11 * MINUTE_MS)), Err(60));
    }
}
