//! Buckets over a clock that the tests set.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const SECOND_NS: u64 = 1_000_000_000;

fn limiter(burst: u32, per_second: f64, capacity: usize) -> RateLimiter {
    RateLimiter::new(RateLimit { burst, per_second }, capacity)
}

#[test]
fn a_burst_is_allowed_then_one_per_interval() {
    let limiter = limiter(3, 2.0, 16);
    let client = ClientId::named("ops");
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
        // A clock that steps back costs the client nothing but patience.
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
        assert_eq!(limiter.check(&client, 7 + at * SECOND_NS / 2), expected, "at {at}");
    }
}

#[test]
fn zero_turns_the_limit_off() {
    for (burst, per_second) in [(3, 0.0), (0, 1.0), (3, f64::NAN), (3, -1.0), (3, f64::INFINITY)] {
        let limiter = limiter(burst, per_second, 16);
        for _ in 0..100 {
            assert!(limiter.check(&ClientId::named("ops"), 0).allowed, "{burst} {per_second}");
        }
    }
}

#[test]
fn extreme_limits_do_not_overflow() {
    for (burst, per_second) in [(u32::MAX, 1e-300), (1, 1e-300), (u32::MAX, 1e300), (1, 1e300)] {
        let limiter = limiter(burst, per_second, 16);
        for now in [0, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            limiter.check(&ClientId::named("ops"), now);
            limiter.check(&ClientId::named("ops"), now);
        }
    }
}

#[track_caller]
fn check_same(one: &str, other: &str, same: bool) {
    let of = |text: &str| ClientId::from(text.parse::<IpAddr>().unwrap());
    assert_eq!(of(one) == of(other), same, "{one} {other}");
}

#[test]
fn addresses_are_counted_by_subscriber() {
    check_same("10.0.0.1", "10.0.0.1", true);
    check_same("10.0.0.1", "10.0.0.2", false);
    check_same("10.0.0.1", "::ffff:10.0.0.1", true);
    check_same("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true);
    check_same("2001:db8:1:2::1", "2001:db8:1:3::1", false);
    assert_ne!(ClientId::named("10.0.0.1"), ClientId::from("10.0.0.1".parse::<IpAddr>().unwrap()));
    assert_ne!(ClientId::named(&"a".repeat(65)), ClientId::named(&"a".repeat(66)));
}

#[test]
fn a_flood_of_clients_stays_within_the_bound() {
    let limiter = limiter(2, 1.0, 64);
    for number in 0..10_000_u32 {
        assert!(limiter.check(&ClientId::from(IpAddr::from(number.to_be_bytes())), 0).allowed);
    }
    for shard in &limiter.shards {
        let shard = shard.lock();
        assert!(shard.buckets.len() <= 4);
        assert_eq!(shard.buckets.len(), shard.slots.len());
        for (client, &slot) in &shard.slots {
            assert_eq!(*client, shard.buckets[slot].client);
        }
    }
}

#[test]
fn full_buckets_are_forgotten_before_empty_ones() {
    let mut shard = Shard::default();
    let name = |number: usize| ClientId::named(&number.to_string());
    for number in 0..8 {
        shard.bucket(&name(number), 100, 8).full_at = if number == 5 { 50 } else { 1_000 };
    }
    shard.bucket(&name(8), 100, 8);
    assert!(!shard.slots.contains_key(&name(5)));
    assert_eq!(shard.slots.len(), 8);
}

proptest! {
    /// In any stretch of time no more than the burst and what came back is allowed.
    #[test]
    fn never_more_than_the_burst_and_the_rate(
        burst in 1_u32..20,
        rate in 1_u32..50,
        gaps in vec(0_u64..200_000_000, 1..200),
    ) {
        let limiter = limiter(burst, f64::from(rate), 16);
        let client = ClientId::named("ops");
        let interval = SECOND_NS / u64::from(rate);
        let mut now = 0;
        let mut allowed: Vec<u64> = Vec::new();
        for gap in gaps {
            now += gap;
            let admission = limiter.check(&client, now);
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
