//! Runs large computations and writes large replies beside the async workers, at most one for each
//! core at once, so that short requests are answered meanwhile. When 32 computations or 64 replies
//! wait, further ones are refused.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use fault::Fault;
use tokio::sync::Semaphore;

/// Work on at least this many values is given to the pool: computing or writing them takes a
/// millisecond or more. Less work is done at once, because handing it over costs more.
pub const POOLED_VALUES_MIN: usize = 20_000;

/// A computation is refused if this many computations and replies wait for a thread: what they hold
/// in memory is not counted elsewhere.
const COMPUTING_WAITING_MAX: usize = 32;
/// A reply is refused if this many wait. The bound is larger than that of computations, so that a
/// result which has been computed is refused only if other large replies came without computing.
const WRITING_WAITING_MAX: usize = 64;
/// The `retry_after` of refused work.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Permits for computations on blocking threads, one for each computation that may run at once.
#[derive(Debug)]
pub struct CpuPool {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Counts one computation that waits, until it is dropped.
struct WaitingCount<'a>(&'a AtomicUsize);

impl Drop for WaitingCount<'_> {
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

    /// Computes on a thread of the pool if there are 20,000 values or more, and else at once. Fails
    /// with `overloaded` if 32 wait. A caller that goes away leaves the queue; work that has begun
    /// goes on to its end.
    pub async fn compute<T: Send + 'static>(
        &self,
        values: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        self.run(values, COMPUTING_WAITING_MAX, work).await
    }

    /// Writes a reply in the same way; fails with `overloaded` if 64 wait.
    pub async fn write<T: Send + 'static>(
        &self,
        values: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        self.run(values, WRITING_WAITING_MAX, work).await
    }

    async fn run<T: Send + 'static>(
        &self,
        values: usize,
        waiting_max: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        if values < POOLED_VALUES_MIN {
            return Ok(work());
        }
        let permit = match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                let waiting = WaitingCount(&self.waiting);
                if self.waiting.fetch_add(1, Ordering::Relaxed) >= waiting_max {
                    return Err(full());
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

fn full() -> Fault {
    let message = "too many large answers are being computed; try again in 1 s, or ask for fewer \
                   values";
    Fault::unavailable("overloaded", message).retry_after(RETRY_AFTER)
}

#[cfg(test)]
mod tests {
    use std::thread::{ThreadId, current};

    use fault::Kind;
    use futures_util::FutureExt as _;

    use super::*;

    const LARGE: usize = POOLED_VALUES_MIN;

    fn thread_id() -> ThreadId {
        current().id()
    }

    #[tokio::test]
    async fn only_large_work_leaves_the_worker() {
        let (pool, here) = (CpuPool::new(1), thread_id());
        assert_eq!(pool.compute(LARGE - 1, thread_id).await.unwrap(), here);
        assert_ne!(pool.compute(LARGE, thread_id).await.unwrap(), here);
        assert_ne!(pool.write(LARGE, thread_id).await.unwrap(), here);
    }

    #[track_caller]
    fn check_refused(outcome: Option<Result<ThreadId, Fault>>) {
        let fault = outcome.unwrap().unwrap_err();
        assert_eq!((fault.kind(), fault.code()), (Kind::Unavailable, "overloaded"));
        assert_eq!(fault.retry_wait(), Some(RETRY_AFTER));
    }

    #[tokio::test]
    async fn work_waits_for_a_thread_up_to_the_bound_and_is_refused_beyond_it() {
        let (pool, here) = (CpuPool::new(1), thread_id());
        let taken = pool.permits.acquire().await.unwrap();
        let mut computing: Vec<_> =
            (0..COMPUTING_WAITING_MAX).map(|_| Box::pin(pool.compute(LARGE, thread_id))).collect();
        for one in &mut computing {
            assert!(one.now_or_never().is_none());
        }
        check_refused(pool.compute(LARGE, thread_id).now_or_never());
        let mut writing: Vec<_> = (COMPUTING_WAITING_MAX..WRITING_WAITING_MAX)
            .map(|_| Box::pin(pool.write(LARGE, thread_id)))
            .collect();
        for one in &mut writing {
            assert!(one.now_or_never().is_none());
        }
        check_refused(pool.write(LARGE, thread_id).now_or_never());
        assert_eq!(pool.compute(LARGE - 1, thread_id).now_or_never().unwrap().unwrap(), here);
        // A computation that goes away makes room for another one to wait.
        drop(computing.pop());
        let mut late = Box::pin(pool.write(LARGE, thread_id));
        assert!((&mut late).now_or_never().is_none());
        drop(taken);
        for one in computing {
            assert_ne!(one.await.unwrap(), here);
        }
        for one in writing {
            assert_ne!(one.await.unwrap(), here);
        }
        assert_ne!(late.await.unwrap(), here);
        assert_eq!(pool.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_panic_is_a_fault_and_gives_its_thread_back() {
        let pool = CpuPool::new(1);
        let failed = pool.compute(LARGE, || panic!("a bug")).await;
        assert!(failed.is_err());
        pool.compute(LARGE, || ()).await.unwrap();
    }
}
