//! Paces outgoing requests: after a burst they are spread evenly, and none is sent while the exchange
//! asked to wait. The exchange publishes no limit, so the rate is configured.

use parking_lot::Mutex;
use std::time::Duration;

use clock::Millis;

/// The longest wait that a response can impose: 24 hours.
const BLOCK_MAX_MS: i64 = 24 * 3_600_000;

#[derive(Debug)]
struct Schedule {
    /// When the next request would be sent at an even rate, in microseconds.
    next_us: i64,
    blocked_until: Millis,
}

/// Not `limits::Bucket`, which refuses: here a request reserves a later time and waits for it.
#[derive(Debug)]
pub(crate) struct RequestPacer {
    schedule: Mutex<Schedule>,
    gap_us: i64,
    /// How far ahead of the even schedule a request may be sent: the burst.
    slack_us: i64,
}

impl RequestPacer {
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        let gap_us = 1_000_000 / i64::from(per_second.max(1));
        let slack_us = gap_us * i64::from(burst.max(1) - 1);
        let schedule = Schedule { next_us: i64::MIN, blocked_until: Millis(i64::MIN) };
        Self { schedule: Mutex::new(schedule), gap_us, slack_us }
    }

    /// Reserves a send slot and returns how long to wait for it. `Err` is the wait that would have
    /// been longer than `wait_max`; nothing is reserved then.
    pub(crate) fn reserve(&self, now: Millis, wait_max: Duration) -> Result<Duration, Duration> {
        let mut schedule = self.schedule.lock();
        let now_us = now.0.saturating_mul(1_000);
        let blocked_us = schedule.blocked_until.0.saturating_mul(1_000);
        let due_us = schedule.next_us.saturating_sub(self.slack_us).max(blocked_us).max(now_us);
        let wait = Duration::from_micros(due_us.saturating_sub(now_us).unsigned_abs());
        if wait > wait_max {
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
    const WAIT_MAX: Duration = Duration::from_secs(60);

    #[test]
    fn requests_after_the_burst_are_spread_evenly() {
        let pacer = RequestPacer::new(10, 3);
        let waits: Vec<_> =
            (0..6).map(|_| pacer.reserve(NOW, WAIT_MAX).unwrap().as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 100, 200, 300]);
        // A pause refills the burst and no more.
        let later = Millis(NOW.0 + 60_000);
        let waits: Vec<_> =
            (0..4).map(|_| pacer.reserve(later, WAIT_MAX).unwrap().as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 100]);
    }

    #[test]
    fn a_refused_request_reserves_no_slot() {
        let pacer = RequestPacer::new(1, 1);
        assert_eq!(pacer.reserve(NOW, Duration::ZERO), Ok(Duration::ZERO));
        for _ in 0..5 {
            assert_eq!(pacer.reserve(NOW, Duration::ZERO), Err(Duration::from_secs(1)));
        }
        assert_eq!(pacer.reserve(NOW, WAIT_MAX), Ok(Duration::from_secs(1)));
    }

    #[test]
    fn a_block_delays_every_request_and_is_never_shortened() {
        let pacer = RequestPacer::new(10, 3);
        pacer.block(NOW, Duration::from_secs(20));
        pacer.block(NOW, Duration::from_secs(2));
        assert!(pacer.is_blocked(Millis(NOW.0 + 19_999)));
        assert_eq!(pacer.reserve(NOW, WAIT_MAX), Ok(Duration::from_secs(20)));
        pacer.block(NOW, Duration::MAX);
        assert!(!pacer.is_blocked(Millis(NOW.0 + BLOCK_MAX_MS)));
    }
}
