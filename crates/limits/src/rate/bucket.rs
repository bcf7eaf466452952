//! One token bucket, kept as one number: the moment at which it will be full again (the generic cell
//! rate algorithm). A check is a few integer operations.

use std::time::Duration;

use super::RateLimit;

const SECOND_NS: f64 = 1e9;

/// How many tokens a bucket holds and how fast they come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    burst: u32,
    /// Nanoseconds for one token to come back.
    interval_ns: u64,
}

impl Quota {
    /// `None` when the limit is turned off.
    #[must_use]
    pub fn new(limit: RateLimit) -> Option<Self> {
        let RateLimit { burst, per_second } = limit;
        if !per_second.is_finite() || per_second <= 0.0 || burst == 0 {
            return None;
        }
        // A year per token is as good as never and leaves room to multiply by any burst.
        let interval = (SECOND_NS / per_second).clamp(1.0, 365.0 * 86_400.0 * SECOND_NS);
        Some(Self { burst, interval_ns: interval as u64 })
    }

    /// `burst` tokens, one of which comes back every `millis` milliseconds.
    #[must_use]
    pub const fn every_millis(burst: u32, millis: u32) -> Self {
        Self { burst, interval_ns: millis as u64 * 1_000_000 }
    }

    /// `burst` tokens, `rate` of which come back each second; zero counts as one.
    #[must_use]
    pub fn per_second(burst: u32, rate: u32) -> Self {
        Self { burst, interval_ns: (1_000_000_000 / u64::from(rate.max(1))).max(1) }
    }

    /// A quota with `burst_factor` times the tokens and `interval_factor` times the interval between
    /// two of them.
    #[must_use]
    pub const fn scaled(&self, burst_factor: u32, interval_factor: u32) -> Self {
        let interval_ns = self.interval_ns.saturating_mul(interval_factor as u64);
        Self { burst: self.burst.saturating_mul(burst_factor), interval_ns }
    }

    /// How many tokens a full bucket holds.
    #[must_use]
    pub const fn burst(&self) -> u32 {
        self.burst
    }

    /// How long an empty bucket takes to fill.
    fn refill_ns(&self) -> u64 {
        self.interval_ns.saturating_mul(u64::from(self.burst))
    }
}

/// One bucket. Buckets compare by how full they are, the fullest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bucket {
    full_at_ns: u64,
}

impl Bucket {
    /// A full bucket.
    #[must_use]
    pub const fn full(now_ns: u64) -> Self {
        Self { full_at_ns: now_ns }
    }

    /// Takes one token; or, as an error, how long to wait for one.
    pub fn take(&mut self, quota: &Quota, now_ns: u64) -> Result<(), Duration> {
        let wait = self.wait(quota, now_ns);
        self.forget_clock_step(quota, now_ns);
        if !wait.is_zero() {
            return Err(wait);
        }
        self.full_at_ns = self.full_at_ns.saturating_add(quota.interval_ns);
        Ok(())
    }

    /// Bounds the missing tokens by a whole bucket, so that a clock that stepped back makes a client
    /// wait for one bucket at most.
    pub fn forget_clock_step(&mut self, quota: &Quota, now_ns: u64) {
        self.full_at_ns = now_ns.saturating_add(self.missing_ns(quota, now_ns));
    }

    /// Puts back a token that was taken.
    pub fn give_back(&mut self, quota: &Quota) {
        self.full_at_ns = self.full_at_ns.saturating_sub(quota.interval_ns);
    }

    /// How long until the bucket has a token; zero when it has one.
    #[must_use]
    pub fn wait(&self, quota: &Quota, now_ns: u64) -> Duration {
        let after = self.missing_ns(quota, now_ns).saturating_add(quota.interval_ns);
        Duration::from_nanos(after.saturating_sub(quota.refill_ns()))
    }

    /// How many tokens the bucket has.
    #[must_use]
    pub fn remaining(&self, quota: &Quota, now_ns: u64) -> u32 {
        let left =
            quota.refill_ns().saturating_sub(self.missing_ns(quota, now_ns)) / quota.interval_ns;
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    /// How long until the bucket is full.
    #[must_use]
    pub fn reset_after(&self, quota: &Quota, now_ns: u64) -> Duration {
        Duration::from_nanos(self.missing_ns(quota, now_ns))
    }

    /// Whether the bucket is full.
    #[must_use]
    pub const fn is_full(&self, now_ns: u64) -> bool {
        self.full_at_ns <= now_ns
    }

    /// The time that the missing tokens take to come back: at most that of a whole bucket, even when
    /// the clock stepped back.
    fn missing_ns(&self, quota: &Quota, now_ns: u64) -> u64 {
        self.full_at_ns.saturating_sub(now_ns).min(quota.refill_ns())
    }
}
