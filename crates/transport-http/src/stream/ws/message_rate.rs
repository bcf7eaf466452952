//! How often a client may speak: so many messages a second, with a burst. What comes faster is
//! refused, and a client that goes on regardless is told to leave.

use std::time::Duration;

use tokio::time::Instant;

/// A refused client may be refused so many bursts more before it has to leave.
const REFUSED_BURSTS: f64 = 2.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateVerdict {
    Allow,
    /// Refused; one message may come after this long.
    Wait(Duration),
    Disconnect,
}

#[derive(Debug)]
pub(crate) struct MessageRate {
    per_second: f64,
    burst: f64,
    /// Messages that may come at once.
    free: f64,
    /// Refusals that are left. They come back at a tenth of the rate, so that a client just above
    /// its rate stays and one far above it does not.
    patience: f64,
    counted: Instant,
}

impl MessageRate {
    pub(crate) fn new(per_second: u32, burst: u32, now: Instant) -> Self {
        let (per_second, burst) = (f64::from(per_second.max(1)), f64::from(burst.max(1)));
        Self { per_second, burst, free: burst, patience: burst * REFUSED_BURSTS, counted: now }
    }

    pub(crate) fn take(&mut self, now: Instant) -> RateVerdict {
        let passed = now.saturating_duration_since(self.counted).as_secs_f64() * self.per_second;
        self.counted = now;
        self.free = (self.free + passed).min(self.burst);
        self.patience = (self.patience + passed / 10.0).min(self.burst * REFUSED_BURSTS);
        if self.free >= 1.0 {
            self.free -= 1.0;
            return RateVerdict::Allow;
        }
        if self.patience < 1.0 {
            return RateVerdict::Disconnect;
        }
        self.patience -= 1.0;
        RateVerdict::Wait(Duration::from_secs_f64((1.0 - self.free) / self.per_second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `count` messages, so many milliseconds apart, are welcome, and which one is told
    /// to leave.
    #[track_caller]
    fn check(apart_ms: u64, count: usize, welcome: usize, leave: Option<usize>) {
        let start = Instant::now();
        let mut pace = MessageRate::new(10, 4, start);
        let mut taken = 0;
        for at in 0..count {
            match pace.take(start + Duration::from_millis(apart_ms) * at as u32) {
                RateVerdict::Allow => taken += 1,
                RateVerdict::Wait(wait) => assert!(wait <= Duration::from_millis(100)),
                RateVerdict::Disconnect => {
                    assert_eq!((taken, Some(at)), (welcome, leave));
                    return;
                }
            }
        }
        assert_eq!((taken, None), (welcome, leave));
    }

    #[test]
    fn a_burst_is_welcome_a_flood_leaves_and_a_little_too_fast_stays() {
        check(0, 4, 4, None);
        check(0, 100, 4, Some(12));
        check(100, 1000, 1000, None);
        check(95, 1000, 953, None);
        check(50, 1000, 15, Some(23));
    }
}
