//! Identical concurrent requests run once and share the result.
//!
//! The work runs in its own task, so a caller that gives up does not cancel it for the others. When all
//! callers give up, `WhenAbandoned` decides: work whose result is cached runs to its end, long work is
//! cancelled.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use fault::Fault;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

/// How many different keys may run at the same time.
const RUNNING_MAX: usize = 4_096;

/// `None` until the work has ended.
type SharedResult<V> = Option<Result<V, Arc<Fault>>>;

type ResultSender<V> = Arc<watch::Sender<SharedResult<V>>>;
type RunningWork<K, V> = Arc<Mutex<HashMap<K, ResultSender<V>>>>;

/// What happens to work when all its callers have given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenAbandoned {
    RunToEnd,
    Cancel,
}

/// Runs work at most once per key at a time.
#[derive(Debug)]
pub struct SingleFlight<K, V> {
    running: RunningWork<K, V>,
    tasks: TaskTracker,
    when_abandoned: WhenAbandoned,
}

impl<K, V> SingleFlight<K, V>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub fn new(tasks: &TaskTracker, when_abandoned: WhenAbandoned) -> Self {
        Self { running: RunningWork::default(), tasks: tasks.clone(), when_abandoned }
    }

    /// The result of the work running under this key, which is started if none is running.
    pub async fn run<F>(&self, key: K, work: F) -> Result<V, Fault>
    where
        F: Future<Output = Result<V, Fault>> + Send + 'static,
    {
        let mut receiver = self.subscribe_or_spawn(key, work)?;
        let result = receiver.wait_for(Option::is_some).await;
        match result.as_deref() {
            Ok(Some(Ok(value))) => Ok(value.clone()),
            Ok(Some(Err(fault))) => Err(fault.shared()),
            Ok(None) | Err(_) => {
                Err(Fault::internal("the work of a single flight ended without a result"))
            }
        }
    }

    fn subscribe_or_spawn<F>(
        &self,
        key: K,
        work: F,
    ) -> Result<watch::Receiver<SharedResult<V>>, Fault>
    where
        F: Future<Output = Result<V, Fault>> + Send + 'static,
    {
        let mut running = self.running.lock();
        if let Some(sender) = running.get(&key) {
            return Ok(sender.subscribe());
        }
        if running.len() >= RUNNING_MAX {
            let message = "too many requests to the exchange are under way";
            return Err(Fault::unavailable("upstream_busy", message));
        }
        let (sender, receiver) = watch::channel(None);
        let sender = Arc::new(sender);
        running.insert(key.clone(), Arc::clone(&sender));
        drop(running);
        let entry = RunningEntry { running: Arc::clone(&self.running), key, sender };
        let when_abandoned = self.when_abandoned;
        self.tasks.spawn(async move {
            let result = match when_abandoned {
                WhenAbandoned::RunToEnd => Some(work.await),
                WhenAbandoned::Cancel => entry.run_while_awaited(work).await,
            };
            if let Some(result) = result {
                entry.publish(result.map_err(Arc::new));
            }
        });
        Ok(receiver)
    }
}

/// The entry of running work; dropping it removes its key, however the work ended.
struct RunningEntry<K: Hash + Eq, V> {
    running: RunningWork<K, V>,
    key: K,
    sender: ResultSender<V>,
}

impl<K: Hash + Eq, V> RunningEntry<K, V> {
    /// Runs the work; `None` as soon as no caller waits for its result.
    async fn run_while_awaited<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                result = &mut work => return Some(result),
                () = self.sender.closed() => {
                    // Under the lock no caller can subscribe to work that is being cancelled.
                    let mut running = self.running.lock();
                    if self.sender.receiver_count() == 0 {
                        running.remove(&self.key);
                        return None;
                    }
                }
            }
        }
    }

    fn publish(self, result: Result<V, Arc<Fault>>) {
        let sender = Arc::clone(&self.sender);
        // Removes the key first: later callers start new work.
        drop(self);
        sender.send_replace(Some(result));
    }
}

impl<K: Hash + Eq, V> Drop for RunningEntry<K, V> {
    fn drop(&mut self) {
        let mut running = self.running.lock();
        // After a cancellation the key may already belong to newer work.
        if running.get(&self.key).is_some_and(|sender| Arc::ptr_eq(sender, &self.sender)) {
            running.remove(&self.key);
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
        let single_flight = SingleFlight::new(&TaskTracker::new(), WhenAbandoned::RunToEnd);
        let runs = Arc::new(AtomicU32::new(0));
        let call = |key: u8| {
            let runs = Arc::clone(&runs);
            single_flight.run(key, async move { Ok(runs.fetch_add(1, Ordering::SeqCst)) })
        };
        let shared = join_all((0..50).map(|_| call(1))).await;
        assert!(shared.into_iter().all(|value| value.unwrap() == 0));
        assert_eq!(call(2).await.unwrap(), 1);
        // A finished result is not cached.
        assert_eq!(call(1).await.unwrap(), 2);
        assert!(single_flight.running.lock().is_empty());
    }

    #[tokio::test]
    async fn a_caller_that_gives_up_does_not_cancel_the_others() {
        let single_flight = SingleFlight::new(&TaskTracker::new(), WhenAbandoned::RunToEnd);
        let (go, wait) = oneshot::channel::<u8>();
        let work = async move { Ok(wait.await.unwrap()) };
        let mut first = Box::pin(single_flight.run((), work));
        assert!(futures_util::poll!(&mut first).is_pending());
        let mut second = Box::pin(single_flight.run((), async { Ok(0) }));
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(first);
        go.send(9).unwrap();
        assert_eq!(second.await.unwrap(), 9);
    }

    #[tokio::test]
    async fn a_fault_is_shared_and_a_panic_is_a_fault() {
        let single_flight: SingleFlight<u8, ()> =
            SingleFlight::new(&TaskTracker::new(), WhenAbandoned::RunToEnd);
        let refuse = || async { Err(Fault::unavailable("upstream_failed", "no").caused_by("x")) };
        let both = join_all([single_flight.run(1, refuse()), single_flight.run(1, refuse())]).await;
        assert!(both.iter().all(|result| result.as_ref().unwrap_err().code() == "upstream_failed"));
        let fault = single_flight.run(2, async { panic!("on purpose") }).await.unwrap_err();
        assert_eq!(fault.code(), "internal");
        assert!(single_flight.running.lock().is_empty());
    }

    #[tokio::test]
    async fn abandoned_work_is_cancelled_or_runs_to_its_end() {
        for (when_abandoned, finishes) in
            [(WhenAbandoned::Cancel, false), (WhenAbandoned::RunToEnd, true)]
        {
            let single_flight = SingleFlight::new(&TaskTracker::new(), when_abandoned);
            let (go, wait) = oneshot::channel::<()>();
            let (report, finished) = oneshot::channel::<()>();
            let work = async move {
                wait.await.unwrap();
                report.send(()).unwrap();
                Ok(())
            };
            let mut only = Box::pin(single_flight.run((), work));
            assert!(futures_util::poll!(&mut only).is_pending());
            tokio::task::yield_now().await;
            drop(only);
            tokio::task::yield_now().await;
            // The receiver is gone exactly when the work was dropped.
            assert_eq!(go.send(()).is_ok(), finishes);
            assert_eq!(finished.await.is_ok(), finishes);
            assert!(single_flight.running.lock().is_empty());
            assert!(single_flight.run((), async { Ok(()) }).await.is_ok());
        }
    }

    #[tokio::test]
    async fn work_that_gets_a_new_caller_is_not_cancelled() {
        let single_flight = SingleFlight::new(&TaskTracker::new(), WhenAbandoned::Cancel);
        let (go, wait) = oneshot::channel::<u8>();
        let mut first = Box::pin(single_flight.run((), async move { Ok(wait.await.unwrap()) }));
        assert!(futures_util::poll!(&mut first).is_pending());
        tokio::task::yield_now().await;
        drop(first);
        let mut second = Box::pin(single_flight.run((), async { Ok(0) }));
        assert!(futures_util::poll!(&mut second).is_pending());
        tokio::task::yield_now().await;
        go.send(9).unwrap();
        assert_eq!(second.await.unwrap(), 9);
    }
}
