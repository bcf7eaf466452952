//! Limits password guessing: counts failed logins per username and in total.
//!
//! A count is stored as the time at which it reaches zero, so it decays by itself, and a username is
//! never locked for longer than one attempt takes to decay. The counts end with the process.

use std::collections::HashMap;

use clock::Millis;
use fault::Fault;
use limits::{Bucket, Quota};
use parking_lot::Mutex;

use crate::faults;

/// 10 a minute for one username: a list of the 1000 most common passwords takes 100 minutes.
const NAME: Quota = Quota::every_millis(10, 6_000);
/// 5 a second in total.
const TOTAL: Quota = Quota::every_millis(300, 200);
/// A name is remembered for at most one minute, and the total admits 600 failures a minute, so at
/// this size some names have expired.
const NAMES_MAX: usize = 4_096;

pub(crate) struct LoginLimiter(Mutex<Buckets>);

struct Buckets {
    total: Bucket,
    names: HashMap<String, Bucket>,
}

impl Default for LoginLimiter {
    fn default() -> Self {
        Self(Mutex::new(Buckets { total: Bucket::full(0), names: HashMap::new() }))
    }
}

impl LoginLimiter {
    /// Counts an attempt as failed before it is made, so that concurrent attempts gain nothing.
    pub(crate) fn take(&self, name: &str, now: Millis) -> Result<(), Fault> {
        let now = nanoseconds(now);
        let mut buckets = self.0.lock();
        let mut of_name = buckets.names.get(name).copied().unwrap_or(Bucket::full(now));
        let wait = of_name.wait(&NAME, now).max(buckets.total.wait(&TOTAL, now));
        if !wait.is_zero() {
            buckets.total.settle(&TOTAL, now);
            if let Some(of_name) = buckets.names.get_mut(name) {
                of_name.settle(&NAME, now);
            }
            return Err(faults::too_many_attempts(wait));
        }
        if buckets.names.len() >= NAMES_MAX {
            buckets.names.retain(|_, bucket| !bucket.is_full(now));
            if buckets.names.len() >= NAMES_MAX {
                buckets.names.clear();
            }
        }
        // Both have a token, or there would be a wait.
        _ = buckets.total.take(&TOTAL, now);
        _ = of_name.take(&NAME, now);
        buckets.names.insert(name.to_owned(), of_name);
        Ok(())
    }

    /// Gives the attempt back, because the password was right.
    pub(crate) fn give_back(&self, name: &str, now: Millis) {
        let mut buckets = self.0.lock();
        buckets.total.give_back(&TOTAL);
        let Some(of_name) = buckets.names.get_mut(name) else { return };
        of_name.give_back(&NAME);
        if of_name.is_full(nanoseconds(now)) {
            buckets.names.remove(name);
        }
    }
}

fn nanoseconds(now: Millis) -> u64 {
    u64::try_from(now.0).unwrap_or_default().saturating_mul(1_000_000)
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
