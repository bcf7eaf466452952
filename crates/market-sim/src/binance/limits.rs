//! Request weight: counted by the minute; requests above the limit get status 429, and clients that
//! keep sending get status 418.

use parking_lot::{Mutex, MutexGuard};

use clock::Millis;

use super::errors::ApiError;

const MINUTE_MS: i64 = 60_000;
/// How many 429 responses a client may ignore before it is banned.
const REFUSALS_MAX: u32 = 5;
const BAN_MS: i64 = 2 * MINUTE_MS;

#[derive(Debug)]
struct Usage {
    limit: u32,
    minute: i64,
    used: u32,
    refusals: u32,
    banned_until: Millis,
}

/// The weight of the only client that a simulated exchange distinguishes.
#[derive(Debug)]
pub(crate) struct Limits(Mutex<Usage>);

/// A refused request and its `Retry-After`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) error: ApiError,
    pub(crate) retry_after_s: u64,
}

impl Limits {
    pub(crate) fn new(limit: u32) -> Self {
        Self(Mutex::new(Usage {
            limit,
            minute: i64::MIN,
            used: 0,
            refusals: 0,
            banned_until: Millis(i64::MIN),
        }))
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.0.lock()
    }

    pub(crate) fn limit(&self) -> u32 {
        self.usage().limit
    }

    pub(crate) fn set_limit(&self, limit: u32) {
        self.usage().limit = limit;
    }

    /// Charges a request. Returns the weight used this minute, which every response reports, and
    /// whether the request is refused.
    pub(crate) fn charge(&self, now: Millis, weight: u32) -> (u32, Result<(), Refusal>) {
        let mut usage = self.usage();
        let minute = now.0.div_euclid(MINUTE_MS);
        if usage.minute != minute {
            usage.minute = minute;
            usage.used = 0;
            usage.refusals = 0;
        }
        if now < usage.banned_until {
            let until = usage.banned_until;
            return (usage.used, Err(banned(until, now)));
        }
        usage.used = usage.used.saturating_add(weight);
        if usage.used <= usage.limit {
            return (usage.used, Ok(()));
        }
        usage.refusals += 1;
        if usage.refusals > REFUSALS_MAX {
            usage.banned_until = Millis(now.0 + BAN_MS);
            let until = usage.banned_until;
            return (usage.used, Err(banned(until, now)));
        }
        let refusal = Refusal {
            error: ApiError::over_weight(usage.limit),
            retry_after_s: seconds_between(now, Millis((minute + 1) * MINUTE_MS)),
        };
        (usage.used, Err(refusal))
    }
}

fn banned(until: Millis, now: Millis) -> Refusal {
    Refusal { error: ApiError::banned(until.0), retry_after_s: seconds_between(now, until) }
}

/// Rounded up, so that the wait is long enough.
fn seconds_between(now: Millis, then: Millis) -> u64 {
    (then.0 - now.0).max(0).unsigned_abs().div_ceil(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_the_limit_comes_429_and_then_a_ban_that_ends() {
        let limits = Limits::new(100);
        let now = Millis(10 * MINUTE_MS + 15_500);
        assert_eq!(limits.charge(now, 100), (100, Ok(())));
        for _ in 0..REFUSALS_MAX {
            let refusal = limits.charge(now, 2).1.unwrap_err();
            assert_eq!((refusal.error.status.as_u16(), refusal.retry_after_s), (429, 45));
        }
        let refusal = limits.charge(now, 2).1.unwrap_err();
        assert_eq!((refusal.error.status.as_u16(), refusal.retry_after_s), (418, 120));
        // The minute is over, the ban is not.
        let later = Millis(now.0 + MINUTE_MS);
        assert_eq!(limits.charge(later, 2).1.unwrap_err().retry_after_s, 60);
        assert_eq!(limits.charge(Millis(now.0 + BAN_MS), 2), (2, Ok(())));
    }

    #[test]
    fn the_weight_is_reset_every_minute() {
        let limits = Limits::new(100);
        assert!(limits.charge(Millis(0), 101).1.is_err());
        assert_eq!(limits.charge(Millis(MINUTE_MS), 7), (7, Ok(())));
    }
}
