//! The exchange's request weight: what was used this minute, what is on its way, and how long we
//! were told to stay away.

use parking_lot::{Mutex, MutexGuard};
use std::time::Duration;

use clock::Millis;

const MINUTE_MS: i64 = 60_000;
/// What Binance allowed when this was written; the true figure comes with the listing.
const LIMIT_DEFAULT: u32 = 6_000;
/// The longest ban there is.
const BLOCK_MAX_MS: i64 = 3 * 24 * 60 * MINUTE_MS;

#[derive(Debug)]
struct Usage {
    limit: u32,
    minute: i64,
    /// As the exchange last told it for this minute.
    used: u32,
    /// Sent but not yet told of.
    in_flight: u32,
    blocked_until: Millis,
}

#[derive(Debug)]
pub(crate) struct Budget(Mutex<Usage>);

impl Budget {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Usage {
            limit: LIMIT_DEFAULT,
            minute: i64::MIN,
            used: 0,
            in_flight: 0,
            blocked_until: Millis(i64::MIN),
        }))
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.0.lock()
    }

    /// Weight for one request; otherwise how long it has to wait.
    pub(crate) fn reserve(&self, now: Millis, weight: u32) -> Result<Reservation<'_>, Duration> {
        let mut usage = self.usage();
        if now < usage.blocked_until {
            return Err(Duration::from_millis((usage.blocked_until.0 - now.0).unsigned_abs()));
        }
        roll(&mut usage, now);
        // A twentieth is left untouched, for others behind the same address.
        let ceiling = usage.limit - usage.limit / 20;
        let wanted = usage.used.saturating_add(usage.in_flight).saturating_add(weight);
        // A request that is heavier than the whole budget may go when nothing else does.
        if wanted > ceiling && (usage.used > 0 || usage.in_flight > 0) {
            let next_minute = (usage.minute + 1) * MINUTE_MS;
            return Err(Duration::from_millis((next_minute - now.0).max(1).unsigned_abs()));
        }
        usage.in_flight += weight;
        Ok(Reservation { budget: self, weight })
    }

    /// The exchange said how much was used. A count of a minute that is over says nothing.
    pub(crate) fn told(&self, sent: Millis, now: Millis, used: u32) {
        if sent.0.div_euclid(MINUTE_MS) != now.0.div_euclid(MINUTE_MS) {
            return;
        }
        let mut usage = self.usage();
        roll(&mut usage, now);
        // Answers overtake each other; the highest count is the latest.
        usage.used = usage.used.max(used);
    }

    pub(crate) fn block(&self, now: Millis, wait: Duration) {
        let wait = i64::try_from(wait.as_millis()).unwrap_or(BLOCK_MAX_MS).min(BLOCK_MAX_MS);
        let mut usage = self.usage();
        usage.blocked_until = usage.blocked_until.max(Millis(now.0.saturating_add(wait)));
    }

    pub(crate) fn is_blocked(&self, now: Millis) -> bool {
        now < self.usage().blocked_until
    }

    pub(crate) fn limit(&self) -> u32 {
        self.usage().limit
    }

    pub(crate) fn set_limit(&self, limit: u32) {
        self.usage().limit = limit.max(1);
    }
}

fn roll(usage: &mut Usage, now: Millis) {
    let minute = now.0.div_euclid(MINUTE_MS);
    if usage.minute != minute {
        usage.minute = minute;
        usage.used = 0;
    }
}

/// Weight that is on its way; given back when the answer, or its absence, is known.
#[derive(Debug)]
pub(crate) struct Reservation<'a> {
    budget: &'a Budget,
    weight: u32,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut usage = self.budget.usage();
        usage.in_flight = usage.in_flight.saturating_sub(self.weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(7 * MINUTE_MS + 45_000);

    #[test]
    fn what_is_on_its_way_counts_until_it_is_told() {
        let budget = Budget::new();
        budget.set_limit(100);
        let first = budget.reserve(NOW, 90).unwrap();
        assert_eq!(budget.reserve(NOW, 10).unwrap_err(), Duration::from_secs(15));
        budget.told(NOW, NOW, 90);
        drop(first);
        assert!(budget.reserve(NOW, 10).is_err());
        assert!(budget.reserve(NOW, 5).is_ok());
        assert!(budget.reserve(Millis(8 * MINUTE_MS), 90).is_ok());
    }

    #[test]
    fn a_count_of_the_minute_before_is_ignored() {
        let budget = Budget::new();
        budget.set_limit(100);
        budget.told(NOW, Millis(8 * MINUTE_MS), 100);
        assert!(budget.reserve(Millis(8 * MINUTE_MS), 50).is_ok());
    }

    #[test]
    fn a_block_holds_everything_and_is_never_shortened() {
        let budget = Budget::new();
        budget.block(NOW, Duration::from_secs(10));
        budget.block(NOW, Duration::from_secs(2));
        assert_eq!(budget.reserve(NOW, 1).unwrap_err(), Duration::from_secs(10));
        assert!(budget.reserve(Millis(NOW.0 + 10_000), 1).is_ok());
        budget.block(NOW, Duration::MAX);
        assert!(budget.reserve(Millis(NOW.0 + BLOCK_MAX_MS), 1).is_ok());
    }

    #[test]
    fn a_request_heavier_than_the_budget_is_not_refused_for_ever() {
        let budget = Budget::new();
        budget.set_limit(10);
        assert!(budget.reserve(NOW, 20).is_ok());
    }
}
