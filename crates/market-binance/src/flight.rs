//! Identical requests made at the same time become one, whose outcome everybody shares.
//!
//! The work belongs to no caller: it runs to its end even if all of them go away, so that a caller
//! who gives up never takes the answer from the others. Its length is bounded by the client's
//! timeouts and retries.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fault::Fault;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

const FLIGHTS_MAX: usize = 4_096;

/// `None` until it lands.
type Outcome<V> = Option<Result<V, Arc<Fault>>>;

type Landings<K, V> = Arc<Mutex<HashMap<K, watch::Receiver<Outcome<V>>>>>;

#[derive(Debug)]
pub(crate) struct Flights<K, V> {
    under_way: Landings<K, V>,
    tasks: TaskTracker,
}

impl<K, V> Flights<K, V>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub(crate) fn new(tasks: &TaskTracker) -> Self {
        Self { under_way: Landings::default(), tasks: tasks.clone() }
    }

    /// The outcome of the work under this key, which is started if it is not under way.
    pub(crate) async fn join<F>(&self, key: K, work: F) -> Result<V, Fault>
    where
        F: Future<Output = Result<V, Fault>> + Send + 'static,
    {
        let mut landing = self.board(key, work)?;
        let landed = landing.wait_for(Option::is_some).await;
        match landed.as_deref() {
            Ok(Some(Ok(value))) => Ok(value.clone()),
            Ok(Some(Err(fault))) => Err(fault.shared()),
            Ok(None) | Err(_) => Err(Fault::internal("work ended without an outcome")),
        }
    }

    fn board<F>(&self, key: K, work: F) -> Result<watch::Receiver<Outcome<V>>, Fault>
    where
        F: Future<Output = Result<V, Fault>> + Send + 'static,
    {
        let mut under_way = lock(&self.under_way);
        if let Some(landing) = under_way.get(&key) {
            return Ok(landing.clone());
        }
        if under_way.len() >= FLIGHTS_MAX {
            let message = "too many requests to the exchange are under way";
            return Err(Fault::unavailable("upstream_busy", message));
        }
        let (sender, landing) = watch::channel(None);
        under_way.insert(key.clone(), landing.clone());
        drop(under_way);
        let entry = Entry { under_way: Arc::clone(&self.under_way), key };
        self.tasks.spawn(async move {
            let outcome = work.await.map_err(Arc::new);
            // Whoever asks from now on starts anew.
            drop(entry);
            sender.send_replace(Some(outcome));
        });
        Ok(landing)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the key off the list when the work ends, in whichever way it does.
struct Entry<K: Hash + Eq, V> {
    under_way: Landings<K, V>,
    key: K,
}

impl<K: Hash + Eq, V> Drop for Entry<K, V> {
    fn drop(&mut self) {
        lock(&self.under_way).remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::future::join_all;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn callers_of_the_same_key_share_one_run() {
        let flights = Flights::new(&TaskTracker::new());
        let runs = Arc::new(AtomicU32::new(0));
        let call = |key: u8| {
            let runs = Arc::clone(&runs);
            flights.join(key, async move { Ok(runs.fetch_add(1, Ordering::SeqCst)) })
        };
        let shared = join_all((0..50).map(|_| call(1))).await;
        assert!(shared.into_iter().all(|value| value.unwrap() == 0));
        assert_eq!(call(2).await.unwrap(), 1);
        // What has landed is not kept.
        assert_eq!(call(1).await.unwrap(), 2);
        assert!(lock(&flights.under_way).is_empty());
    }

    #[tokio::test]
    async fn a_caller_who_leaves_takes_nothing_from_the_others() {
        let flights = Flights::new(&TaskTracker::new());
        let (go, wait) = oneshot::channel::<u8>();
        let work = async move { Ok(wait.await.unwrap()) };
        let mut first = Box::pin(flights.join((), work));
        assert!(futures_util::poll!(&mut first).is_pending());
        let mut second = Box::pin(flights.join((), async { Ok(0) }));
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(first);
        go.send(9).unwrap();
        assert_eq!(second.await.unwrap(), 9);
    }

    #[tokio::test]
    async fn a_fault_is_shared_and_a_panic_is_a_fault() {
        let flights: Flights<u8, ()> = Flights::new(&TaskTracker::new());
        let refuse = || async { Err(Fault::unavailable("upstream_failed", "no").caused_by("x")) };
        let both = join_all([flights.join(1, refuse()), flights.join(1, refuse())]).await;
        assert!(both.iter().all(|result| result.as_ref().unwrap_err().code() == "upstream_failed"));
        let fault = flights.join(2, async { panic!("on purpose") }).await.unwrap_err();
        assert_eq!(fault.code(), "internal");
        assert!(lock(&flights.under_way).is_empty());
    }
}
