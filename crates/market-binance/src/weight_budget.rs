//! The request weight of Binance: used this minute, in flight, and how long the exchange has blocked us.

use parking_lot::{Mutex, MutexGuard};
use std::time::Duration;

use clock::Millis;

const MINUTE_MS: i64 = 60_000;
/// Binance's limit when this was written; the listing has the current one.
const LIMIT_DEFAULT: u32 = 6_000;
/// The longest ban of Binance: three days.
const BLOCK_MAX_MS: i64 = 3 * 24 * 60 * MINUTE_MS;

#[derive(Debug)]
struct WeightUsage {
    limit: u32,
    minute: i64,
    /// The weight of this minute as the exchange last reported it.
    used: u32,
    /// Sent, but not yet reported by the exchange.
    in_flight: u32,
    blocked_until: Millis,
}

#[derive(Debug)]
pub(crate) struct WeightBudget(Mutex<WeightUsage>);

impl WeightBudget {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(WeightUsage {
            limit: LIMIT_DEFAULT,
            minute: i64::MIN,
            used: 0,
            in_flight: 0,
            blocked_until: Millis(i64::MIN),
        }))
    }

    fn usage(&self) -> MutexGuard<'_, WeightUsage> {
        self.0.lock()
    }

    /// Reserves weight for one request, or says how long to wait.
    pub(crate) fn reserve(
        &self,
        now: Millis,
        weight: u32,
    ) -> Result<WeightReservation<'_>, Duration> {
        let mut usage = self.usage();
        if now < usage.blocked_until {
            return Err(Duration::from_millis((usage.blocked_until.0 - now.0).unsigned_abs()));
        }
        roll(&mut usage, now);
        // A twentieth is left for other clients behind the same address.
        let ceiling = usage.limit - usage.limit / 20;
        let total = usage.used.saturating_add(usage.in_flight).saturating_add(weight);
        // A request that is heavier than the whole budget is sent when nothing else is.
        if total > ceiling && (usage.used > 0 || usage.in_flight > 0) {
            let next_minute = (usage.minute + 1) * MINUTE_MS;
            return Err(Duration::from_millis((next_minute - now.0).max(1).unsigned_abs()));
        }
        usage.in_flight += weight;
        Ok(WeightReservation { budget: self, weight })
    }

    /// Records the weight that the exchange reported; a report of an earlier minute is ignored.
    pub(crate) fn record_used(&self, sent: Millis, now: Millis, used: u32) {
        if sent.0.div_euclid(MINUTE_MS) != now.0.div_euclid(MINUTE_MS) {
            return;
        }
        let mut usage = self.usage();
        roll(&mut usage, now);
        // Responses overtake each other; the highest count is the latest.
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

fn roll(usage: &mut WeightUsage, now: Millis) {
    let minute = now.0.div_euclid(MINUTE_MS);
    if usage.minute != minute {
        usage.minute = minute;
        usage.used = 0;
    }
}

/// Weight in flight; returned when the request ends.
#[derive(Debug)]
pub(crate) struct WeightReservation<'a> {
    budget: &'a WeightBudget,
    weight: u32,
}

impl Drop for WeightReservation<'_> {
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
    fn weight_in_flight_counts_until_it_is_reported() {
        let budget = WeightBudget::new();
        budget.set_limit(100);
        let first = budget.reserve(NOW, 90).unwrap();
        assert_eq!(budget.reserve(NOW, 10).unwrap_err(), Duration::from_secs(15));
        budget.record_used(NOW, NOW, 90);
        drop(first);
        assert!(budget.reserve(NOW, 10).is_err());
        assert!(budget.reserve(NOW, 5).is_ok());
        assert!(budget.reserve(Millis(8 * MINUTE_MS), 90).is_ok());
    }

    #[test]
    fn a_report_of_the_minute_before_is_ignored() {
        let budget = WeightBudget::new();
        budget.set_limit(100);
        budget.record_used(NOW, Millis(8 * MINUTE_MS), 100);
        assert!(budget.reserve(Millis(8 * MINUTE_MS), 50).is_ok());
    }

    #[test]
    fn a_block_stops_every_request_and_is_never_shortened() {
        let budget = WeightBudget::new();
        budget.block(NOW, Duration::from_secs(10));
        budget.block(NOW, Duration::from_secs(2));
        assert_eq!(budget.reserve(NOW, 1).unwrap_err(), Duration::from_secs(10));
        assert!(budget.reserve(Millis(NOW.0 + 10_000), 1).is_ok());
        budget.block(NOW, Duration::MAX);
        assert!(budget.reserve(Millis(NOW.0 + BLOCK_MAX_MS), 1).is_ok());
    }

    #[test]
    fn a_request_heavier_than_the_budget_is_sent_alone() {
        let budget = WeightBudget::new();
        budget.set_limit(10);
        assert!(budget.reserve(NOW, 20).is_ok());
    }
}
