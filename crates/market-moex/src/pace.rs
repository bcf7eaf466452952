//! Our manners: requests are spread evenly after a small burst, and the exchange is left alone
//! when it says so. It publishes no limit, so there is none to read.

use parking_lot::Mutex;
use std::time::Duration;

use clock::Millis;

/// Longer than any sensible wait.
const BLOCK_MAX_MS: i64 = 24 * 3_600_000;

#[derive(Debug)]
struct Schedule {
    /// When the next request would go if they all went evenly; microseconds.
    next_us: i64,
    blocked_until: Millis,
}

#[derive(Debug)]
pub(crate) struct Pace {
    schedule: Mutex<Schedule>,
    gap_us: i64,
    /// How far ahead of the even schedule a request may go.
    slack_us: i64,
}

impl Pace {
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        let gap_us = 1_000_000 / i64::from(per_second.max(1));
        let slack_us = gap_us * i64::from(burst.max(1) - 1);
        let schedule = Schedule { next_us: i64::MIN, blocked_until: Millis(i64::MIN) };
        Self { schedule: Mutex::new(schedule), gap_us, slack_us }
    }

    /// How long to wait before sending, the place in the queue being taken; or, as an error, how
    /// long it would have been.
    pub(crate) fn reserve(&self, now: Millis, patience: Duration) -> Result<Duration, Duration> {
        let mut schedule = self.schedule.lock();
        let now_us = now.0.saturating_mul(1_000);
        let blocked_us = schedule.blocked_until.0.saturating_mul(1_000);
        let due_us = schedule.next_us.saturating_sub(self.slack_us).max(blocked_us).max(now_us);
        let wait = Duration::from_micros(due_us.saturating_sub(now_us).unsigned_abs());
        if wait > patience {
            return Err(wait);
        }
        schedule.next_us = schedule.next_us.max(due_us).saturating_add(self.gap_us);
        Ok(wait)
    }

    pub(crate) fn block(&self, now: Millis, wait: Duration) {
        let wait = i64::try_from(wait.as_millis()).unwrap_or(BLOCK_MAX_MS).min(BLOCK_MAX_MS);
        let mut schedule = self.schedule.lock();
        schedule.blocked_until = schedule.blocked_until.max(Millis(now.0.saturating_add(wait)));
    }

    pub(crate) fn is_blocked(&self, now: Millis) -> bool {
        now < self.schedule.lock().blocked_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_700_000_000_000);
    const PATIENT: Duration = Duration::from_secs(60);

    #[test]
    fn after_the_burst_requests_are_spread() {
        let pace = Pace::new(10, 3);
        let waits: Vec<_> =
            (0..6).map(|_| pace.reserve(NOW, PATIENT).unwrap().as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 100, 200, 300]);
        // A silence fills the burst again, and no more than that.
        let later = Millis(NOW.0 + 60_000);
        let waits: Vec<_> =
            (0..4).map(|_| pace.reserve(later, PATIENT).unwrap().as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 100]);
    }

    #[test]
    fn who_will_not_wait_takes_no_place() {
        let pace = Pace::new(1, 1);
        assert_eq!(pace.reserve(NOW, Duration::ZERO), Ok(Duration::ZERO));
        for _ in 0..5 {
            assert_eq!(pace.reserve(NOW, Duration::ZERO), Err(Duration::from_secs(1)));
        }
        assert_eq!(pace.reserve(NOW, PATIENT), Ok(Duration::from_secs(1)));
    }

    #[test]
    fn a_block_holds_everything_and_is_never_shortened() {
        let pace = Pace::new(10, 3);
        pace.block(NOW, Duration::from_secs(20));
        pace.block(NOW, Duration::from_secs(2));
        assert!(pace.is_blocked(Millis(NOW.0 + 19_999)));
        assert_eq!(pace.reserve(NOW, PATIENT), Ok(Duration::from_secs(20)));
        pace.block(NOW, Duration::MAX);
        assert!(!pace.is_blocked(Millis(NOW.0 + BLOCK_MAX_MS)));
    }
}
