//! Identical requests made at the same time become one, whose outcome everybody shares.
//!
//! The work belongs to no caller, so that one who gives up never takes the answer from the others.
//! Work whose answer is kept runs to its end even if all callers go away; long work that nobody
//! waits for any more is dropped.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use fault::Fault;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

const FLIGHTS_MAX: usize = 4_096;

/// `None` until it lands.
type Outcome<V> = Option<Result<V, Arc<Fault>>>;

type Landing<V> = Arc<watch::Sender<Outcome<V>>>;
type Landings<K, V> = Arc<Mutex<HashMap<K, Landing<V>>>>;

/// What becomes of work that nobody waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abandoned {
    RunsOn,
    Stops,
}

#[derive(Debug)]
pub struct SingleFlight<K, V> {
    under_way: Landings<K, V>,
    tasks: TaskTracker,
    abandoned: Abandoned,
}

impl<K, V> SingleFlight<K, V>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub fn new(tasks: &TaskTracker, abandoned: Abandoned) -> Self {
        Self { under_way: Landings::default(), tasks: tasks.clone(), abandoned }
    }

    /// The outcome of the work under this key, which is started if it is not under way.
    pub async fn join<F>(&self, key: K, work: F) -> Result<V, Fault>
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
            return Ok(landing.subscribe());
        }
        if under_way.len() >= FLIGHTS_MAX {
            let message = "too many requests to the exchange are under way";
            return Err(Fault::unavailable("upstream_busy", message));
        }
        let (sender, receiver) = watch::channel(None);
        let landing = Arc::new(sender);
        under_way.insert(key.clone(), Arc::clone(&landing));
        drop(under_way);
        let flight = Flight { under_way: Arc::clone(&self.under_way), key, landing };
        let abandoned = self.abandoned;
        self.tasks.spawn(async move {
            let outcome = match abandoned {
                Abandoned::RunsOn => Some(work.await),
                Abandoned::Stops => flight.while_wanted(work).await,
            };
            if let Some(outcome) = outcome {
                flight.land(outcome.map_err(Arc::new));
            }
        });
        Ok(receiver)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock()
}

/// Work on its way. It leaves the list when it ends, in whichever way it does.
struct Flight<K: Hash + Eq, V> {
    under_way: Landings<K, V>,
    key: K,
    landing: Landing<V>,
}

impl<K: Hash + Eq, V> Flight<K, V> {
    /// `None` as soon as nobody waits for it.
    async fn while_wanted<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                outcome = &mut work => return Some(outcome),
                () = self.landing.closed() => {
                    // Decided under the lock: nobody can join a flight that is being given up.
                    let mut under_way = lock(&self.under_way);
                    if self.landing.receiver_count() == 0 {
                        under_way.remove(&self.key);
                        return None;
                    }
                }
            }
        }
    }

    fn land(self, outcome: Result<V, Arc<Fault>>) {
        let landing = Arc::clone(&self.landing);
        // Whoever asks from now on starts anew.
        drop(self);
        landing.send_replace(Some(outcome));
    }
}

impl<K: Hash + Eq, V> Drop for Flight<K, V> {
    fn drop(&mut self) {
        let mut under_way = lock(&self.under_way);
        // After a flight was given up, the key may belong to the next one.
        if under_way.get(&self.key).is_some_and(|landing| Arc::ptr_eq(landing, &self.landing)) {
            under_way.remove(&self.key);
        }
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
        let flights = SingleFlight::new(&TaskTracker::new(), Abandoned::RunsOn);
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
        let flights = SingleFlight::new(&TaskTracker::new(), Abandoned::RunsOn);
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
        let flights: SingleFlight<u8, ()> =
            SingleFlight::new(&TaskTracker::new(), Abandoned::RunsOn);
        let refuse = || async { Err(Fault::unavailable("upstream_failed", "no").caused_by("x")) };
        let both = join_all([flights.join(1, refuse()), flights.join(1, refuse())]).await;
        assert!(both.iter().all(|result| result.as_ref().unwrap_err().code() == "upstream_failed"));
        let fault = flights.join(2, async { panic!("on purpose") }).await.unwrap_err();
        assert_eq!(fault.code(), "internal");
        assert!(lock(&flights.under_way).is_empty());
    }

    #[tokio::test]
    async fn work_nobody_waits_for_stops_or_runs_on_as_told() {
        for (abandoned, finishes) in [(Abandoned::Stops, false), (Abandoned::RunsOn, true)] {
            let flights = SingleFlight::new(&TaskTracker::new(), abandoned);
            let (go, wait) = oneshot::channel::<()>();
            let (report, finished) = oneshot::channel::<()>();
            let work = async move {
                wait.await.unwrap();
                report.send(()).unwrap();
                Ok(())
            };
            let mut only = Box::pin(flights.join((), work));
            assert!(futures_util::poll!(&mut only).is_pending());
            tokio::task::yield_now().await;
            drop(only);
            tokio::task::yield_now().await;
            // The work's end of the channel is gone exactly if the work was dropped.
            assert_eq!(go.send(()).is_ok(), finishes);
            assert_eq!(finished.await.is_ok(), finishes);
            assert!(lock(&flights.under_way).is_empty());
            assert!(flights.join((), async { Ok(()) }).await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_flight_that_is_joined_again_is_not_given_up() {
        let flights = SingleFlight::new(&TaskTracker::new(), Abandoned::Stops);
        let (go, wait) = oneshot::channel::<u8>();
        let mut first = Box::pin(flights.join((), async move { Ok(wait.await.unwrap()) }));
        assert!(futures_util::poll!(&mut first).is_pending());
        tokio::task::yield_now().await;
        drop(first);
        let mut second = Box::pin(flights.join((), async { Ok(0) }));
        assert!(futures_util::poll!(&mut second).is_pending());
        tokio::task::yield_now().await;
        go.send(9).unwrap();
        assert_eq!(second.await.unwrap(), 9);
    }
}
