//! How often a client may send messages: a rate with a burst. Faster messages are refused, and a
//! client that keeps sending is disconnected.

use std::time::Duration;

use limits::{Bucket, Quota};
use tokio::time::Instant;

/// A client may be refused this many bursts before it is disconnected.
const REFUSED_BURSTS: u32 = 2;
/// Refusals come back at a tenth of the rate, so that a client just above its rate stays connected
/// and one far above it does not.
const REFUSALS_SLOWER: u32 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateVerdict {
    Allow,
    /// Refused; the next message is allowed after this long.
    Wait(Duration),
    Disconnect,
}

#[derive(Debug)]
pub(crate) struct MessageRate {
    quota: Quota,
    messages: Bucket,
    refusals: Bucket,
    started: Instant,
}

impl MessageRate {
    pub(crate) fn new(per_second: u32, burst: u32, now: Instant) -> Self {
        let quota = Quota::per_second(burst.max(1), per_second.max(1));
        Self { quota, messages: Bucket::full(0), refusals: Bucket::full(0), started: now }
    }

    pub(crate) fn take(&mut self, now: Instant) -> RateVerdict {
        let passed = now.saturating_duration_since(self.started).as_nanos();
        let now_ns = u64::try_from(passed).unwrap_or(u64::MAX);
        let Err(wait) = self.messages.take(&self.quota, now_ns) else { return RateVerdict::Allow };
        let refusals = self.quota.scaled(REFUSED_BURSTS, REFUSALS_SLOWER);
        match self.refusals.take(&refusals, now_ns) {
            Ok(()) => RateVerdict::Wait(wait),
            Err(_) => RateVerdict::Disconnect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `count` messages, `apart_ms` apart, are allowed, and which one disconnects.
    #[track_caller]
    fn check(apart_ms: u64, count: usize, allowed: usize, disconnected: Option<usize>) {
        let start = Instant::now();
        let mut rate = MessageRate::new(10, 4, start);
        let mut taken = 0;
        for at in 0..count {
            match rate.take(start + Duration::from_millis(apart_ms) * at as u32) {
                RateVerdict::Allow => taken += 1,
                RateVerdict::Wait(wait) => assert!(wait <= Duration::from_millis(100)),
                RateVerdict::Disconnect => {
                    assert_eq!((taken, Some(at)), (allowed, disconnected));
                    return;
                }
            }
        }
        assert_eq!((taken, None), (allowed, disconnected));
    }

    #[test]
    fn a_burst_is_allowed_and_only_a_flood_disconnects() {
        check(0, 4, 4, None);
        check(0, 100, 4, Some(12));
        check(100, 1000, 1000, None);
        check(95, 1000, 953, None);
        check(50, 1000, 15, Some(23));
    }
}
