//! Runs computations beside the async workers, at most as many at once as there are cores, so that
//! short requests are answered meanwhile.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;

use fault::Fault;
use tokio::sync::Semaphore;

/// Work on at least this many values is given to the pool: computing or writing them takes a
/// millisecond or more. Less work is done at once, because handing it over costs more.
pub const POOLED_VALUES_MIN: usize = 20_000;

/// The most computations that wait for a thread. What they hold in memory is not counted elsewhere.
const WAITING_MAX: usize = 32;

/// The threads for computations.
#[derive(Debug)]
pub struct CpuPool {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Counts one computation that waits, until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl CpuPool {
    /// A pool that runs this many computations at once.
    pub fn new(threads: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(threads.max(1))), waiting: AtomicUsize::new(0) }
    }

    /// The pool of this process, with a thread for each core.
    pub fn shared() -> &'static Arc<Self> {
        static SHARED: LazyLock<Arc<CpuPool>> = LazyLock::new(|| {
            let cores = thread::available_parallelism().map_or(1, NonZero::get);
            Arc::new(CpuPool::new(cores))
        });
        &SHARED
    }

    /// Does this work on a thread of the pool if it has 20,000 values or more, and else at once. A
    /// caller that goes away while it waits gives its turn up; work that has begun goes on to its end.
    pub async fn run<T: Send + 'static>(
        &self,
        values: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        if values < POOLED_VALUES_MIN {
            return Ok(work());
        }
        let permit = match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                let waiting = Waiting(&self.waiting);
                // Work beyond the bound blocks its worker, which slows the arrival of more.
                if self.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING_MAX {
                    return Ok(work());
                }
                let permit = Arc::clone(&self.permits).acquire_owned().await;
                drop(waiting);
                permit.map_err(Fault::internal)?
            }
        };
        let work = move || {
            let done = work();
            drop(permit);
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(Fault::internal)
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{ThreadId, current};

    use futures_util::FutureExt as _;

    use super::*;

    const LARGE: usize = POOLED_VALUES_MIN;

    fn thread_id() -> ThreadId {
        current().id()
    }

    #[tokio::test]
    async fn only_large_work_leaves_the_worker() {
        let (pool, here) = (CpuPool::new(1), thread_id());
        assert_eq!(pool.run(LARGE - 1, thread_id).await.unwrap(), here);
        assert_ne!(pool.run(LARGE, thread_id).await.unwrap(), here);
    }

    #[tokio::test]
    async fn work_waits_for_a_thread_and_what_cannot_wait_is_done_at_once() {
        let (pool, here) = (CpuPool::new(1), thread_id());
        let taken = pool.permits.acquire().await.unwrap();
        let mut waiting: Vec<_> =
            (0..WAITING_MAX).map(|_| Box::pin(pool.run(LARGE, thread_id))).collect();
        for one in &mut waiting {
            assert!(one.now_or_never().is_none());
        }
        assert_eq!(pool.run(LARGE, thread_id).now_or_never().unwrap().unwrap(), here);
        // One that goes away makes room for another to wait.
        drop(waiting.pop());
        let mut late = Box::pin(pool.run(LARGE, thread_id));
        assert!((&mut late).now_or_never().is_none());
        drop(taken);
        for one in waiting {
            assert_ne!(one.await.unwrap(), here);
        }
        assert_ne!(late.await.unwrap(), here);
        assert_eq!(pool.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_panic_is_a_fault_and_gives_its_thread_back() {
        let pool = CpuPool::new(1);
        let failed = pool.run(LARGE, || panic!("a bug")).await;
        assert!(failed.is_err());
        pool.run(LARGE, || ()).await.unwrap();
    }
}
