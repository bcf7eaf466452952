//! Limits password guessing: a failed login counts against its username at its client address, against
//! the address, and against the username at all addresses together. Registrations count by address.
//!
//! An address from which the user has logged in before has a count of its own for that user, so that
//! failures from elsewhere cannot keep the user out. A count is stored as the time at which it reaches
//! zero, so it decays by itself. The counts end with the process.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use clock::Millis;
use fault::Fault;
use limits::{Bucket, ClientAddress, Quota};
use parking_lot::Mutex;

use crate::faults;

/// 10 a minute for one username at one address: a list of the 1000 most common passwords takes 100
/// minutes.
const NAME_AT_ADDRESS: Quota = Quota::every_millis(10, 6_000);
/// 60 a minute for one username at all addresses from which the user has not logged in. One address
/// makes 10 a minute, so it takes more than five to use this up.
const NAME: Quota = Quota::every_millis(60, 1_000);
/// 2 a second for one address, whatever the usernames.
const ADDRESS: Quota = Quota::every_millis(60, 500);
/// 1 a second more for one address, for usernames that were refused there before: made-up usernames
/// that come once cannot use it up, and a user behind the same address gets a turn.
const REPEATED: Quota = Quota::every_millis(10, 1_000);
/// One registration in 2 s for one address.
const REGISTRATION: Quota = Quota::every_millis(60, 2_000);
/// Keys of one kind that are remembered; beyond that the oldest is forgotten.
const KEYS_MAX: usize = 65_536;

pub(crate) struct LoginLimiter {
    hasher: RandomState,
    counts: Mutex<Counts>,
}

struct Counts {
    pairs: Buckets,
    names: Buckets,
    addresses: Buckets,
    repeated: Buckets,
    registrations: Buckets,
    /// Usernames with an address from which they have logged in.
    known: RecentKeys,
    /// Usernames with an address at which they were refused for its sake.
    refused: RecentKeys,
}

/// A login that was counted as failed before it is made, so that concurrent attempts gain nothing.
#[derive(Debug)]
pub(crate) struct Attempt {
    pair: u64,
    name: u64,
    address: u64,
    origin: Origin,
}

/// What is known of a username at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    New,
    /// It was refused there, because the address had made too many attempts.
    Refused,
    /// It has logged in from there.
    LoggedIn,
}

impl Attempt {
    /// Whether the user has logged in from this address before.
    pub(crate) fn is_known(&self) -> bool {
        self.origin == Origin::LoggedIn
    }
}

impl Default for LoginLimiter {
    fn default() -> Self {
        let counts = Counts {
            pairs: Buckets::new(NAME_AT_ADDRESS),
            names: Buckets::new(NAME),
            addresses: Buckets::new(ADDRESS),
            repeated: Buckets::new(REPEATED),
            registrations: Buckets::new(REGISTRATION),
            known: RecentKeys::default(),
            refused: RecentKeys::default(),
        };
        Self { hasher: RandomState::new(), counts: Mutex::new(counts) }
    }
}

impl LoginLimiter {
    /// Counts a login before it is made. `client` is `None` where there is no network client.
    pub(crate) fn take(
        &self,
        name: &str,
        client: Option<ClientAddress>,
        now: Millis,
    ) -> Result<Attempt, Fault> {
        let now = nanoseconds(now);
        let mut counts = self.counts.lock();
        let mut attempt = self.attempt(name, client);
        attempt.origin = counts.origin(attempt.pair);
        let of_pair = counts.pairs.wait(attempt.pair, now);
        let wait = of_pair.max(counts.wait_of_others(&attempt, now));
        if !wait.is_zero() {
            if of_pair.is_zero() && attempt.origin == Origin::New {
                counts.refused.insert(attempt.pair);
            }
            return Err(faults::too_many_attempts(wait));
        }
        counts.take(&attempt, now);
        Ok(attempt)
    }

    /// Takes the attempt out of the counts, because it did not fail.
    pub(crate) fn give_back(&self, attempt: &Attempt) {
        self.counts.lock().give_back(attempt);
    }

    /// Remembers that the user has logged in from this address.
    pub(crate) fn logged_in(&self, name: &str, client: Option<ClientAddress>) {
        let Attempt { pair, .. } = self.attempt(name, client);
        let mut counts = self.counts.lock();
        counts.known.insert(pair);
    }

    /// Counts a registration before it is made.
    pub(crate) fn take_registration(
        &self,
        client: Option<ClientAddress>,
        now: Millis,
    ) -> Result<(), Fault> {
        let (address, now) = (self.hasher.hash_one(client), nanoseconds(now));
        let mut counts = self.counts.lock();
        let wait = counts.registrations.wait(address, now);
        if !wait.is_zero() {
            return Err(faults::too_many_registrations(wait));
        }
        counts.registrations.take(address, now);
        Ok(())
    }

    fn attempt(&self, name: &str, client: Option<ClientAddress>) -> Attempt {
        Attempt {
            pair: self.hasher.hash_one((name, client)),
            name: self.hasher.hash_one(name),
            address: self.hasher.hash_one(client),
            origin: Origin::New,
        }
    }
}

impl Counts {
    fn origin(&self, pair: u64) -> Origin {
        match (self.known.contains(pair), self.refused.contains(pair)) {
            (true, _) => Origin::LoggedIn,
            (false, true) => Origin::Refused,
            (false, false) => Origin::New,
        }
    }

    /// How long the counts that other clients share make an attempt wait.
    fn wait_of_others(&mut self, attempt: &Attempt, now: u64) -> Duration {
        let of_address = match attempt.origin {
            Origin::LoggedIn => return Duration::ZERO,
            Origin::Refused => self.repeated.wait(attempt.address, now),
            Origin::New => self.addresses.wait(attempt.address, now),
        };
        of_address.max(self.names.wait(attempt.name, now))
    }

    fn take(&mut self, attempt: &Attempt, now: u64) {
        self.pairs.take(attempt.pair, now);
        match attempt.origin {
            Origin::LoggedIn => return,
            Origin::Refused => self.repeated.take(attempt.address, now),
            Origin::New => self.addresses.take(attempt.address, now),
        }
        self.names.take(attempt.name, now);
    }

    fn give_back(&mut self, attempt: &Attempt) {
        self.pairs.give_back(attempt.pair);
        match attempt.origin {
            Origin::LoggedIn => return,
            Origin::Refused => self.repeated.give_back(attempt.address),
            Origin::New => self.addresses.give_back(attempt.address),
        }
        self.names.give_back(attempt.name);
    }
}

/// One bucket for each key.
struct Buckets {
    quota: Quota,
    by_key: HashMap<u64, Bucket>,
    keys: RecentKeys,
}

impl Buckets {
    fn new(quota: Quota) -> Self {
        Self { quota, by_key: HashMap::new(), keys: RecentKeys::default() }
    }

    /// Until the key has a token; zero when it has one. Forgets a clock that stepped back.
    fn wait(&mut self, key: u64, now: u64) -> Duration {
        let Some(bucket) = self.by_key.get_mut(&key) else { return Duration::ZERO };
        let wait = bucket.wait(&self.quota, now);
        bucket.forget_clock_step(&self.quota, now);
        wait
    }

    fn take(&mut self, key: u64, now: u64) {
        if let Some(forgotten) = self.keys.insert(key) {
            self.by_key.remove(&forgotten);
        }
        let bucket = self.by_key.entry(key).or_insert(Bucket::full(now));
        // The caller has checked that there is a token.
        _ = bucket.take(&self.quota, now);
    }

    fn give_back(&mut self, key: u64) {
        if let Some(bucket) = self.by_key.get_mut(&key) {
            bucket.give_back(&self.quota);
        }
    }
}

/// The last [`KEYS_MAX`] different keys.
#[derive(Default)]
struct RecentKeys {
    present: HashSet<u64>,
    order: VecDeque<u64>,
}

impl RecentKeys {
    fn contains(&self, key: u64) -> bool {
        self.present.contains(&key)
    }

    /// Returns the key that is forgotten for this one.
    fn insert(&mut self, key: u64) -> Option<u64> {
        if !self.present.insert(key) {
            return None;
        }
        self.order.push_back(key);
        let forgotten = self.order.pop_front_if(|_| self.present.len() > KEYS_MAX)?;
        self.present.remove(&forgotten);
        Some(forgotten)
    }
}

fn nanoseconds(now: Millis) -> u64 {
    u64::try_from(now.0).unwrap_or_default().saturating_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn address(last: u8) -> Option<ClientAddress> {
        Some(ClientAddress::from(IpAddr::from([192, 0, 2, last])))
    }

    /// How many failed logins pass before the first refusal, and how many milliseconds it says to wait.
    fn until_refused(
        limiter: &LoginLimiter,
        from: u8,
        name: impl Fn(usize) -> String,
        now: Millis,
    ) -> (usize, u64) {
        for made in 0.. {
            if let Err(fault) = limiter.take(&name(made), address(from), now) {
                let wait = fault.retry_wait().unwrap();
                return (made, u64::try_from(wait.as_millis()).unwrap());
            }
        }
        unreachable!()
    }

    fn named(name: &str) -> impl Fn(usize) -> String {
        move |_| name.to_owned()
    }

    /// A login that succeeds.
    #[track_caller]
    fn log_in(limiter: &LoginLimiter, name: &str, from: u8, now: Millis) {
        let attempt = limiter.take(name, address(from), now).unwrap();
        limiter.give_back(&attempt);
        limiter.logged_in(name, address(from));
    }

    #[test]
    fn a_name_has_ten_failures_at_an_address_and_one_comes_back_in_six_seconds() {
        let limiter = LoginLimiter::default();
        let ann = |from, at| until_refused(&limiter, from, named("ann"), Millis(at));
        assert_eq!(ann(1, 1_000), (10, 6_000));
        assert_eq!(until_refused(&limiter, 1, named("bob"), Millis(1_000)), (10, 6_000));
        assert_eq!(ann(1, 6_999), (0, 1));
        assert_eq!(ann(1, 7_000), (1, 6_000));
        assert_eq!(ann(1, 67_000).0, 10);
    }

    #[test]
    fn a_successful_login_does_not_count_against_its_address() {
        let limiter = LoginLimiter::default();
        for _ in 0..1_000 {
            log_in(&limiter, "ann", 1, Millis(5));
        }
        assert_eq!(until_refused(&limiter, 1, named("ann"), Millis(5)).0, 10);
        let fresh = |made| format!("name-{made}");
        assert_eq!(until_refused(&limiter, 1, fresh, Millis(5)), (60, 500));
    }

    #[test]
    fn failures_at_one_address_do_not_limit_another_address() {
        let limiter = LoginLimiter::default();
        for from in 2..=4 {
            until_refused(&limiter, from, named("ann"), Millis(0));
            until_refused(&limiter, from, |made| format!("name-{made}"), Millis(0));
        }
        log_in(&limiter, "ann", 1, Millis(0));
        // An address from which the user has logged in has a count that no other address uses up.
        for from in 2..=200 {
            until_refused(&limiter, from, named("ann"), Millis(0));
        }
        assert!(limiter.take("ann", address(250), Millis(0)).is_err(), "guesses of one name");
        log_in(&limiter, "ann", 1, Millis(0));
        assert_eq!(until_refused(&limiter, 1, named("ann"), Millis(0)).0, 10);
    }

    #[test]
    fn a_user_behind_the_address_of_a_flood_gets_a_turn() {
        let limiter = LoginLimiter::default();
        let mut made = 0;
        let mut flood = |now| {
            for _ in 0..100 {
                made += 1;
                drop(limiter.take(&format!("name-{made}"), address(1), now));
            }
        };
        flood(Millis(0));
        // The first attempt is refused, and the second comes when the refusal said.
        let fault = limiter.take("ann", address(1), Millis(10)).unwrap_err();
        let wait = i64::try_from(fault.retry_wait().unwrap().as_millis()).unwrap();
        assert!(wait <= 500, "{wait} ms");
        for second in 0..10 {
            flood(Millis(second * 1_000));
        }
        log_in(&limiter, "ann", 1, Millis(10_000));
        // From then on the user does not share the count of the address.
        flood(Millis(10_001));
        log_in(&limiter, "ann", 1, Millis(10_002));
    }

    #[test]
    fn registrations_have_a_pace_at_each_address() {
        let limiter = LoginLimiter::default();
        let register = |from, at| limiter.take_registration(address(from), Millis(at));
        for _ in 0..60 {
            register(1, 0).unwrap();
        }
        assert_eq!(register(1, 0).unwrap_err().retry_wait(), Some(Duration::from_secs(2)));
        register(2, 0).unwrap();
        register(1, 2_000).unwrap();
        assert!(register(1, 2_000).is_err());
        log_in(&limiter, "ann", 1, Millis(2_000));
    }

    #[test]
    fn the_memory_of_a_flood_has_a_limit() {
        let mut buckets = Buckets::new(NAME);
        for key in 0..KEYS_MAX as u64 + 100 {
            buckets.take(key, 0);
        }
        assert_eq!((buckets.by_key.len(), buckets.keys.order.len()), (KEYS_MAX, KEYS_MAX));
        assert!(!buckets.keys.contains(99) && buckets.keys.contains(100));
    }

    #[test]
    fn a_clock_that_steps_back_locks_no_user_out_for_long() {
        let limiter = LoginLimiter::default();
        let ann = |at| until_refused(&limiter, 1, named("ann"), Millis(at));
        ann(1_000_000_000);
        assert_eq!(ann(0), (0, 6_000));
        assert_eq!(ann(6_000), (1, 6_000));
    }
}
