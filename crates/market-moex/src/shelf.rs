//! Answers kept for a while: fresh ones are given out, old ones are asked for again, once for
//! everybody, and stand in, marked, when the exchange fails.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, Millis};
use fault::{Fault, Kind};
use http_client::{SingleFlight, WhenAbandoned, is_fresh};
use tokio_util::task::TaskTracker;

/// How long an answer is fresh, and how long it may stand in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ages {
    pub(crate) fresh: Duration,
    pub(crate) stale: Duration,
}

/// An answer with its age.
#[derive(Debug, Clone)]
pub(crate) struct Held<V> {
    pub(crate) value: V,
    pub(crate) received_at: Millis,
    /// Why an old answer stands in for a new one, where it does.
    pub(crate) instead: Option<String>,
}

type Kept<K, V> = Arc<Mutex<HashMap<K, (Millis, V)>>>;

pub(crate) struct Shelf<K, V> {
    kept: Kept<K, V>,
    flights: SingleFlight<K, V>,
    entries_max: usize,
    clock: Arc<dyn Clock>,
}

impl<K, V> Shelf<K, V>
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
        Self { kept: Kept::default(), flights, entries_max, clock: Arc::clone(clock) }
    }

    /// What is kept under the key, however old.
    pub(crate) fn peek(&self, key: &K) -> Option<Held<V>> {
        let kept = self.kept.lock();
        let (received_at, value) = kept.get(key)?.clone();
        Some(Held { value, received_at, instead: None })
    }

    /// A fresh answer, or one that stands in for it.
    pub(crate) async fn get<F>(&self, key: K, ages: Ages, work: F) -> Result<Held<V>, Fault>
    where
        F: Future<Output = Result<V, Fault>> + Send + 'static,
    {
        let kept = self.peek(&key);
        let fresh = |held: &Held<V>| is_fresh(held.received_at, self.clock.now(), ages.fresh);
        if let Some(held) = kept.filter(fresh) {
            return Ok(held);
        }
        let fault = match self.flights.run(key.clone(), self.keeping(key.clone(), work)).await {
            Ok(value) => {
                let received_at = self.peek(&key).map_or(self.clock.now(), |it| it.received_at);
                return Ok(Held { value, received_at, instead: None });
            }
            Err(fault) => fault,
        };
        let usable = |held: &Held<V>| is_fresh(held.received_at, self.clock.now(), ages.stale);
        match self.peek(&key).filter(usable) {
            // That something does not exist is an answer.
            Some(held) if !matches!(fault.kind(), Kind::NotFound | Kind::Invalid) => {
                Ok(Held { instead: Some(fault.message().to_owned()), ..held })
            }
            _ => Err(fault),
        }
    }

    fn keeping<F>(&self, key: K, work: F) -> impl Future<Output = Result<V, Fault>> + Send + 'static
    where
        F: Future<Output = Result<V, Fault>> + Send + 'static,
    {
        let (kept, clock, max) =
            (Arc::clone(&self.kept), Arc::clone(&self.clock), self.entries_max);
        async move {
            let value = work.await?;
            let mut kept = kept.lock();
            if kept.len() >= max && !kept.contains_key(&key) {
                forget_half(&mut kept);
            }
            kept.insert(key, (clock.now(), value.clone()));
            Ok(value)
        }
    }
}

/// The older half goes, so that room is made rarely.
fn forget_half<K: Hash + Eq, V>(kept: &mut HashMap<K, (Millis, V)>) {
    let mut times: Vec<Millis> = kept.values().map(|(at, _)| *at).collect();
    times.sort_unstable();
    let Some(middle) = times.get(times.len() / 2).copied() else { return };
    if times.first() == Some(&middle) {
        kept.clear();
    } else {
        kept.retain(|_, (at, _)| *at >= middle);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    struct Hand(AtomicI64);

    impl Clock for Hand {
        fn now(&self) -> Millis {
            Millis(self.0.load(Ordering::SeqCst))
        }
    }

    const AGES: Ages = Ages { fresh: Duration::from_secs(5), stale: Duration::from_secs(60) };

    fn shelf(max: usize) -> (Arc<Hand>, Shelf<u32, u32>) {
        let hand = Arc::new(Hand(AtomicI64::new(0)));
        let clock = Arc::clone(&hand) as Arc<dyn Clock>;
        let shelf = Shelf::new(max, WhenAbandoned::RunToEnd, &clock, &TaskTracker::new());
        (hand, shelf)
    }

    async fn failed() -> Result<u32, Fault> {
        Err(Fault::unavailable("upstream_failed", "it failed"))
    }

    #[tokio::test]
    async fn answers_are_fresh_then_asked_for_again_then_stand_in_then_gone() {
        let (hand, shelf) = shelf(8);
        for (at_s, work, value, instead) in [
            (0, Some(1), Some(1), false),
            (4, Some(2), Some(1), false),
            (5, Some(3), Some(3), false),
            (10, None, Some(3), true),
            (64, None, Some(3), true),
            (65, None, None, false),
        ] {
            hand.0.store(at_s * 1_000, Ordering::SeqCst);
            let held = match work {
                Some(work) => shelf.get(7, AGES, async move { Ok(work) }).await,
                None => shelf.get(7, AGES, failed()).await,
            };
            assert_eq!(held.as_ref().ok().map(|held| held.value), value, "{at_s}");
            assert_eq!(held.is_ok_and(|held| held.instead.is_some()), instead, "{at_s}");
        }
    }

    #[tokio::test]
    async fn nothing_stands_in_for_what_does_not_exist() {
        let (hand, shelf) = shelf(8);
        shelf.get(7, AGES, async { Ok(1) }).await.unwrap();
        hand.0.store(6_000, Ordering::SeqCst);
        let gone = async { Err(Fault::not_found("unknown_symbol", "gone")) };
        assert_eq!(shelf.get(7, AGES, gone).await.unwrap_err().code(), "unknown_symbol");
    }

    #[tokio::test]
    async fn a_full_shelf_forgets_what_is_old() {
        let (hand, shelf) = shelf(10);
        for key in 0..1_000 {
            hand.0.store(i64::from(key), Ordering::SeqCst);
            shelf.get(key, AGES, async { Ok(1) }).await.unwrap();
            assert!(shelf.kept.lock().len() <= 10);
        }
        assert!(shelf.peek(&999).is_some() && shelf.peek(&998).is_some());
        // All of one moment: none is older.
        for key in 2_000..2_050 {
            shelf.get(key, AGES, async { Ok(1) }).await.unwrap();
            assert!(shelf.kept.lock().len() <= 10);
        }
    }
}
