//! Exponential backoff: each wait is twice the one before up to a bound, and random in its upper half,
//! so that clients that failed together do not retry together.

use std::time::Duration;

/// The waits after several failures in a row.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    failures: u32,
}

impl Backoff {
    pub fn new(first: Duration, max: Duration) -> Self {
        Self { first, max, failures: 0 }
    }

    pub fn reset(&mut self) {
        self.failures = 0;
    }

    /// The next wait: between half of the current bound and all of it.
    #[expect(clippy::should_implement_trait, reason = "the sequence of waits never ends")]
    pub fn next(&mut self) -> Duration {
        let bound = bound(self.failures, self.first, self.max);
        self.failures = self.failures.saturating_add(1);
        bound.mul_f64(0.5 + 0.5 * fastrand::f64())
    }
}

/// The longest wait after `failures` failures: `first` doubled that many times, at most `longest`.
pub(crate) fn bound(failures: u32, first: Duration, longest: Duration) -> Duration {
    first.saturating_mul(1 << failures.min(20)).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_bound_and_reset_starts_over() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        for bound in [100, 200, 400, 800, 1_000, 1_000] {
            let wait = backoff.next().as_millis();
            assert!((bound / 2..=bound).contains(&wait), "{wait} of {bound}");
        }
        let waits: Vec<_> = (0..50).map(|_| backoff.next()).collect();
        assert!(waits.iter().any(|wait| *wait != waits[0]), "waits are all the same");
        backoff.reset();
        assert!(backoff.next() <= Duration::from_millis(100));
        for _ in 0..100 {
            assert!(backoff.next() <= Duration::from_secs(1));
        }
    }
}
