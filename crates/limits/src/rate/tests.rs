//! The rate limiter at times that the tests choose.

use std::net::IpAddr;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const SECOND_NS: u64 = 1_000_000_000;

fn limiter<K: Eq + Hash + Clone>(burst: u32, per_second: f64, capacity: usize) -> RateLimiter<K> {
    RateLimiter::new(RateLimit { burst, per_second }, capacity)
}

#[test]
fn a_burst_is_allowed_then_one_per_interval() {
    let limiter = limiter(3, 2.0, 16);
    // (at, allowed, remaining, reset, retry), in halves of a second.
    let steps = [
        (0, true, 2, 1, None),
        (0, true, 1, 2, None),
        (0, true, 0, 3, None),
        (0, false, 0, 3, Some(1)),
        (1, true, 0, 3, None),
        (1, false, 0, 3, Some(1)),
        (3, true, 1, 2, None),
        (100, true, 2, 1, None),
        // After the clock stepped back the client waits a little longer.
        (99, true, 0, 3, None),
    ];
    let half = Duration::from_millis(500);
    for (at, allowed, remaining, reset, retry) in steps {
        let expected = Admission {
            allowed,
            limit: 3,
            remaining,
            reset_after: half * reset,
            retry_after: retry.map(|wait: u32| half * wait),
        };
        assert_eq!(limiter.check(&"ops", 7 + at * SECOND_NS / 2), expected, "at {at}");
    }
}

#[test]
fn zero_turns_the_limit_off() {
    for (burst, per_second) in [(3, 0.0), (0, 1.0), (3, f64::NAN), (3, -1.0), (3, f64::INFINITY)] {
        let limiter = limiter(burst, per_second, 16);
        for _ in 0..100 {
            assert!(limiter.check(&"ops", 0).allowed, "{burst} {per_second}");
        }
    }
}

#[test]
fn extreme_limits_do_not_overflow() {
    for (burst, per_second) in [(u32::MAX, 1e-300), (1, 1e-300), (u32::MAX, 1e300), (1, 1e300)] {
        let limiter = limiter(burst, per_second, 16);
        for now in [0, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            limiter.check(&"ops", now);
            limiter.check(&"ops", now);
        }
    }
}

#[test]
fn a_clock_that_steps_back_costs_at_most_one_whole_bucket() {
    let quota = Quota::every_millis(10, 6_000);
    let mut bucket = Bucket::full(1_000_000 * SECOND_NS);
    assert_eq!(bucket.take(&quota, 0), Err(Duration::from_secs(6)));
    assert_eq!(bucket.take(&quota, 6 * SECOND_NS), Ok(()));
}

#[test]
fn a_token_that_is_given_back_can_be_taken_again() {
    let quota = Quota::every_millis(1, 1_000);
    let mut bucket = Bucket::full(0);
    for _ in 0..100 {
        bucket.take(&quota, 5).unwrap();
        bucket.give_back(&quota);
    }
    assert!(bucket.is_full(5));
}

#[test]
fn a_flood_of_clients_stays_within_the_capacity() {
    let limiter = limiter(2, 1.0, 64);
    for number in 0..10_000_u32 {
        let client = ClientAddress::from(IpAddr::from(number.to_be_bytes()));
        assert!(limiter.check(&client, 0).allowed);
    }
    for shard in &limiter.shards {
        let shard = shard.lock();
        assert!(shard.buckets.len() <= 4);
        assert_eq!(shard.buckets.len(), shard.positions.len());
        for (client, &at) in &shard.positions {
            assert_eq!(*client, shard.buckets[at].0);
        }
    }
}

#[test]
fn full_buckets_are_evicted_before_empty_ones() {
    let mut shard = Shard::default();
    for number in 0..8 {
        *shard.bucket(&number, 100, 8) = Bucket::full(if number == 5 { 50 } else { 1_000 });
    }
    shard.bucket(&8, 100, 8);
    assert!(!shard.positions.contains_key(&5));
    assert_eq!(shard.positions.len(), 8);
}

proptest! {
    /// No period allows more requests than the burst and the tokens that came back in it.
    #[test]
    fn no_period_allows_more_than_the_burst_and_the_rate(
        burst in 1_u32..20,
        rate in 1_u32..50,
        gaps in vec(0_u64..200_000_000, 1..200),
    ) {
        let limiter = limiter(burst, f64::from(rate), 16);
        let interval = SECOND_NS / u64::from(rate);
        let mut now = 0;
        let mut allowed: Vec<u64> = Vec::new();
        for gap in gaps {
            now += gap;
            let admission = limiter.check(&"ops", now);
            if admission.allowed {
                allowed.push(now);
            } else {
                let wait = u64::try_from(admission.retry_after.unwrap().as_nanos()).unwrap();
                prop_assert!(wait > 0 && wait <= interval);
            }
        }
        for (from, start) in allowed.iter().enumerate() {
            for (to, end) in allowed.iter().enumerate().skip(from) {
                let most = u64::from(burst) + (end - start) / interval;
                prop_assert!((to - from + 1) as u64 <= most);
            }
        }
    }
}
