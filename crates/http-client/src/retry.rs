//! How long to wait before a retry, and how long a cached answer is fresh.

use std::time::Duration;

use clock::Millis;

use crate::backoff::bound;

/// A random wait of at most `first` doubled `attempt` times, bounded by `longest`. Callers that
/// failed together therefore do not retry together.
pub fn jitter(attempt: u32, first: Duration, longest: Duration) -> Duration {
    bound(attempt, first, longest).mul_f64(fastrand::f64())
}

/// Whether something received at `received_at` is younger than `age_max`. A time after `now`, which a
/// clock that was set back causes, is not fresh.
pub fn is_fresh(received_at: Millis, now: Millis, age_max: Duration) -> bool {
    let age_max = i64::try_from(age_max.as_millis()).unwrap_or(i64::MAX);
    (0..age_max).contains(&(now.0.saturating_sub(received_at.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_stay_below_a_bound_that_doubles_up_to_the_longest() {
        let (first, longest) = (Duration::from_millis(100), Duration::from_millis(350));
        for (attempt, bound_ms) in [(0, 100), (1, 200), (2, 350), (40, 350), (u32::MAX, 350)] {
            for _ in 0..50 {
                let wait = jitter(attempt, first, longest);
                assert!(wait < Duration::from_millis(bound_ms), "{attempt}: {wait:?}");
            }
        }
        let waits: Vec<_> = (0..50).map(|_| jitter(3, first, longest)).collect();
        assert!(waits.iter().any(|wait| *wait != waits[0]), "waits are all the same");
    }

    #[test]
    fn a_time_in_the_future_is_not_fresh() {
        let age = Duration::from_secs(1);
        for (then, now, fresh) in [
            (0, 0, true),
            (0, 999, true),
            (0, 1_000, false),
            (5, 4, false),
            (i64::MIN, i64::MAX, false),
        ] {
            assert_eq!(is_fresh(Millis(then), Millis(now), age), fresh, "{then} {now}");
        }
    }
}
