//! A cache that returns fresh values, refetches older ones in single flight, and returns the last
//! good value with the reason when the exchange fails.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, Millis};
use fault::{Fault, Kind};
use http_client::{SingleFlight, WhenAbandoned, is_fresh};
use tokio_util::task::TaskTracker;

/// How long a value counts as fresh, and how old it may be when it replaces a failed fetch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheAges {
    pub(crate) fresh: Duration,
    pub(crate) stale: Duration,
}

/// A cached value with the time it was received.
#[derive(Debug, Clone)]
pub(crate) struct Cached<V> {
    pub(crate) value: V,
    pub(crate) received_at: Millis,
    /// Why the value is older than asked for: the message of the failed fetch.
    pub(crate) stale_reason: Option<String>,
}

type Entries<K, V> = Arc<Mutex<HashMap<K, (Millis, V)>>>;

pub(crate) struct StaleCache<K, V> {
    entries: Entries<K, V>,
    flights: SingleFlight<K, V>,
    entries_max: usize,
    clock: Arc<dyn Clock>,
}

impl<K, V> StaleCache<K, V>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub(crate) fn new(
        entries_max: usize,
        abandoned: WhenAbandoned,
        clock: &Arc<dyn Clock>,
        tasks: &TaskTracker,
    ) -> Self {
        let flights = SingleFlight::new(tasks, abandoned);
        Self { entries: Entries::default(), flights, entries_max, clock: Arc::clone(clock) }
    }

    /// The cached value of the key, however old.
    pub(crate) fn peek(&self, key: &K) -> Option<Cached<V>> {
        let entries = self.entries.lock();
        let (received_at, value) = entries.get(key)?.clone();
        Some(Cached { value, received_at, stale_reason: None })
    }

    /// A fresh value, or a stale one with its reason when `fetch` fails. A `NotFound` or `Invalid`
    /// fault is returned even when a stale value exists.
    pub(crate) async fn get<F>(&self, key: K, ages: CacheAges, fetch: F) -> Result<Cached<V>, Fault>
    where
        F: Future<Output = Result<V, Fault>> + Send + 'static,
    {
        let known = self.peek(&key);
        let fresh = |cached: &Cached<V>| is_fresh(cached.received_at, self.clock.now(), ages.fresh);
        if let Some(cached) = known.filter(fresh) {
            return Ok(cached);
        }
        let fault = match self.flights.run(key.clone(), self.storing(key.clone(), fetch)).await {
            Ok(value) => {
                let received_at = self.peek(&key).map_or(self.clock.now(), |it| it.received_at);
                return Ok(Cached { value, received_at, stale_reason: None });
            }
            Err(fault) => fault,
        };
        let usable =
            |cached: &Cached<V>| is_fresh(cached.received_at, self.clock.now(), ages.stale);
        match self.peek(&key).filter(usable) {
            Some(cached) if !matches!(fault.kind(), Kind::NotFound | Kind::Invalid) => {
                Ok(Cached { stale_reason: Some(fault.message().to_owned()), ..cached })
            }
            _ => Err(fault),
        }
    }

    fn storing<F>(
        &self,
        key: K,
        fetch: F,
    ) -> impl Future<Output = Result<V, Fault>> + Send + 'static
    where
        F: Future<Output = Result<V, Fault>> + Send + 'static,
    {
        let (entries, clock, max) =
            (Arc::clone(&self.entries), Arc::clone(&self.clock), self.entries_max);
        async move {
            let value = fetch.await?;
            let mut entries = entries.lock();
            if entries.len() >= max && !entries.contains_key(&key) {
                evict_older_half(&mut entries);
            }
            entries.insert(key, (clock.now(), value.clone()));
            Ok(value)
        }
    }
}

/// Evicts the older half of the entries, so that evictions are rare.
fn evict_older_half<K: Hash + Eq, V>(entries: &mut HashMap<K, (Millis, V)>) {
    let mut times: Vec<Millis> = entries.values().map(|(at, _)| *at).collect();
    times.sort_unstable();
    let Some(middle) = times.get(times.len() / 2).copied() else { return };
    if times.first() == Some(&middle) {
        entries.clear();
    } else {
        entries.retain(|_, (at, _)| *at >= middle);
    }
}

#[cfg(test)]
mod tests {
    use testkit::FakeClock;

    use super::*;

    const AGES: CacheAges =
        CacheAges { fresh: Duration::from_secs(5), stale: Duration::from_secs(60) };

    fn cache(entries_max: usize) -> (Arc<FakeClock>, StaleCache<u32, u32>) {
        let clock = Arc::new(FakeClock::new(Millis(0)));
        let shared = Arc::clone(&clock) as Arc<dyn Clock>;
        let cache =
            StaleCache::new(entries_max, WhenAbandoned::RunToEnd, &shared, &TaskTracker::new());
        (clock, cache)
    }

    async fn failed() -> Result<u32, Fault> {
        Err(Fault::unavailable("upstream_failed", "it failed"))
    }

    #[tokio::test]
    async fn a_value_is_fresh_then_fetched_again_then_stale_then_gone() {
        let (clock, cache) = cache(8);
        for (at_s, fetched, value, stale) in [
            (0, Some(1), Some(1), false),
            (4, Some(2), Some(1), false),
            (5, Some(3), Some(3), false),
            (10, None, Some(3), true),
            (64, None, Some(3), true),
            (65, None, None, false),
        ] {
            clock.set(Millis(at_s * 1_000));
            let cached = match fetched {
                Some(value) => cache.get(7, AGES, async move { Ok(value) }).await,
                None => cache.get(7, AGES, failed()).await,
            };
            assert_eq!(cached.as_ref().ok().map(|cached| cached.value), value, "{at_s}");
            assert_eq!(cached.is_ok_and(|it| it.stale_reason.is_some()), stale, "{at_s}");
        }
    }

    #[tokio::test]
    async fn a_not_found_answer_replaces_the_cached_value() {
        let (clock, cache) = cache(8);
        cache.get(7, AGES, async { Ok(1) }).await.unwrap();
        clock.set(Millis(6_000));
        let gone = async { Err(Fault::not_found("unknown_symbol", "gone")) };
        assert_eq!(cache.get(7, AGES, gone).await.unwrap_err().code(), "unknown_symbol");
    }

    #[tokio::test]
    async fn a_full_cache_evicts_the_oldest_entries() {
        let (clock, cache) = cache(10);
        for key in 0..1_000 {
            clock.set(Millis(i64::from(key)));
            cache.get(key, AGES, async { Ok(1) }).await.unwrap();
            assert!(cache.entries.lock().len() <= 10);
        }
        assert!(cache.peek(&999).is_some() && cache.peek(&998).is_some());
        // All entries have the same age, so none of them is the older half.
        for key in 2_000..2_050 {
            cache.get(key, AGES, async { Ok(1) }).await.unwrap();
            assert!(cache.entries.lock().len() <= 10);
        }
    }
}
