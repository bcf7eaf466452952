//! Limits password guessing: counts failed logins per username and in total.
//!
//! A count is stored as the time at which it reaches zero, so it decays by itself, and a username is
//! never locked for longer than one attempt takes to decay. The counts end with the process.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;

use clock::Millis;
use fault::Fault;

use crate::faults;

/// `burst` failures at once; one is forgiven every `every` milliseconds.
struct FailureQuota {
    burst: i64,
    every: i64,
}

/// 10 a minute for one username: a list of the 1000 most common passwords takes 100 minutes.
const NAME: FailureQuota = FailureQuota { burst: 10, every: 6_000 };
/// 5 a second in total.
const TOTAL: FailureQuota = FailureQuota { burst: 300, every: 200 };
/// A name is remembered for at most one minute, and the total admits 600 failures a minute, so at
/// this size some names have expired.
const NAMES_MAX: usize = 4_096;

#[derive(Default)]
pub(crate) struct LoginLimiter(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// When the total reaches zero.
    total: i64,
    /// When the count of each name reaches zero.
    names: HashMap<String, i64>,
}

impl FailureQuota {
    /// The remaining count in milliseconds, at most the whole burst when the clock stepped back.
    fn owed(&self, forgotten_at: i64, now: i64) -> i64 {
        forgotten_at.saturating_sub(now).clamp(0, self.burst * self.every)
    }

    /// The wait until one more attempt is allowed; zero if it is allowed now.
    fn wait(&self, forgotten_at: i64, now: i64) -> i64 {
        (self.owed(forgotten_at, now) + self.every - self.burst * self.every).max(0)
    }

    fn after_one(&self, forgotten_at: i64, now: i64) -> i64 {
        now + self.owed(forgotten_at, now) + self.every
    }
}

impl LoginLimiter {
    /// Counts an attempt as failed before it is made, so that concurrent attempts gain nothing.
    pub(crate) fn take(&self, name: &str, now: Millis) -> Result<(), Fault> {
        let now = now.0;
        let mut counts = self.0.lock();
        let of_name = counts.names.get(name).copied().unwrap_or(now);
        let wait = NAME.wait(of_name, now).max(TOTAL.wait(counts.total, now));
        if wait > 0 {
            // Stored again as bounded above: after a clock step the old value would lie in the far future.
            counts.total = now + TOTAL.owed(counts.total, now);
            if let Some(forgotten_at) = counts.names.get_mut(name) {
                *forgotten_at = now + NAME.owed(of_name, now);
            }
            let wait = Duration::from_millis(wait.unsigned_abs());
            return Err(faults::too_many_attempts(wait));
        }
        if counts.names.len() >= NAMES_MAX {
            counts.names.retain(|_, forgotten_at| *forgotten_at > now);
            if counts.names.len() >= NAMES_MAX {
                counts.names.clear();
            }
        }
        counts.total = TOTAL.after_one(counts.total, now);
        counts.names.insert(name.to_owned(), NAME.after_one(of_name, now));
        Ok(())
    }

    /// The attempt was no failure after all.
    pub(crate) fn give_back(&self, name: &str, now: Millis) {
        let mut counts = self.0.lock();
        counts.total -= TOTAL.every;
        let Some(forgotten_at) = counts.names.get_mut(name) else { return };
        *forgotten_at -= NAME.every;
        if *forgotten_at <= now.0 {
            counts.names.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many attempts pass before the first refusal, and how long that says to wait.
    fn until_refused(
        login_limiter: &LoginLimiter,
        name: impl Fn(usize) -> String,
        now: Millis,
    ) -> (usize, u64) {
        for made in 0.. {
            if let Err(fault) = login_limiter.take(&name(made), now) {
                let wait = fault.retry_wait().unwrap();
                return (made, u64::try_from(wait.as_millis()).unwrap());
            }
        }
        unreachable!()
    }

    #[test]
    fn a_name_has_ten_failures_and_one_comes_back_in_six_seconds() {
        let login_limiter = LoginLimiter::default();
        assert_eq!(until_refused(&login_limiter, |_| "ann".to_owned(), Millis(1_000)), (10, 6_000));
        assert_eq!(until_refused(&login_limiter, |_| "bob".to_owned(), Millis(1_000)), (10, 6_000));
        assert_eq!(until_refused(&login_limiter, |_| "ann".to_owned(), Millis(6_999)), (0, 1));
        assert_eq!(until_refused(&login_limiter, |_| "ann".to_owned(), Millis(7_000)), (1, 6_000));
        assert_eq!(until_refused(&login_limiter, |_| "ann".to_owned(), Millis(67_000)).0, 10);
    }

    #[test]
    fn success_is_not_held_against_anybody() {
        let login_limiter = LoginLimiter::default();
        for _ in 0..1_000 {
            login_limiter.take("ann", Millis(5)).unwrap();
            login_limiter.give_back("ann", Millis(5));
        }
        assert_eq!(until_refused(&login_limiter, |_| "ann".to_owned(), Millis(5)).0, 10);
        login_limiter.give_back("nobody", Millis(5));
    }

    #[test]
    fn many_names_are_stopped_together_and_forgotten() {
        let login_limiter = LoginLimiter::default();
        let spray =
            |at: i64| until_refused(&login_limiter, |made| format!("{at}-{made}"), Millis(at));
        assert_eq!(spray(0), (300, 200));
        for minute in 1..100 {
            assert_eq!(spray(minute * 60_000).0, 300);
        }
        let names = login_limiter.0.lock().names.len();
        assert!(names <= NAMES_MAX, "{names} names are remembered");
    }

    #[test]
    fn a_clock_that_steps_back_locks_nobody_out_for_long() {
        let login_limiter = LoginLimiter::default();
        until_refused(&login_limiter, |_| "ann".to_owned(), Millis(1_000_000_000));
        assert_eq!(until_refused(&login_limiter, |_| "ann".to_owned(), Millis(0)), (0, 6_000));
        assert_eq!(until_refused(&login_limiter, |_| "ann".to_owned(), Millis(6_000)), (1, 6_000));
    }
}
