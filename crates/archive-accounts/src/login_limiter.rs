//! Slows those who guess passwords: failed logins are counted for each name and for all together.
//!
//! A count is the moment at which it will be forgotten, so it heals by itself and nobody stays
//! locked out longer than it takes one attempt to come back. Nothing here outlives the process.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;

use clock::Millis;
use fault::Fault;

use crate::faults;

/// So many failures at once, one of which is forgotten each `every` milliseconds.
struct Allowance {
    burst: i64,
    every: i64,
}

/// Ten a minute for one name: a mistyped password never notices, and a list of the thousand
/// commonest takes hours.
const NAME: Allowance = Allowance { burst: 10, every: 6_000 };
/// Five a second for everybody, which is a small part of what the machine could check.
const TOTAL: Allowance = Allowance { burst: 300, every: 200 };
/// No name is remembered for longer than a minute and the total lets 600 through in one, so this
/// is reached only by names that can be forgotten.
const NAMES_MAX: usize = 4_096;

#[derive(Default)]
pub(crate) struct LoginLimiter(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// When all failures together are forgotten.
    total: i64,
    /// When the failures of a name are.
    names: HashMap<String, i64>,
}

impl Allowance {
    /// What is still held against somebody; a clock that stepped back holds no more than all.
    fn owed(&self, forgotten_at: i64, now: i64) -> i64 {
        forgotten_at.saturating_sub(now).clamp(0, self.burst * self.every)
    }

    /// How long to wait until one more is allowed; zero when it is allowed now.
    fn wait(&self, forgotten_at: i64, now: i64) -> i64 {
        (self.owed(forgotten_at, now) + self.every - self.burst * self.every).max(0)
    }

    fn after_one(&self, forgotten_at: i64, now: i64) -> i64 {
        now + self.owed(forgotten_at, now) + self.every
    }
}

impl LoginLimiter {
    /// Counts an attempt as failed before it is made, so that many at once gain nothing.
    pub(crate) fn take(&self, name: &str, now: Millis) -> Result<(), Fault> {
        let now = now.0;
        let mut counts = self.0.lock();
        let of_name = counts.names.get(name).copied().unwrap_or(now);
        let wait = NAME.wait(of_name, now).max(TOTAL.wait(counts.total, now));
        if wait > 0 {
            // Kept as it was counted, or a clock that stepped back would never catch up with it.
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
