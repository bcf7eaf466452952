//! Bounds how many calls of one tool run at once; further calls queue, and a full queue refuses.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fault::Fault;
use serde::Deserialize;
use tokio::sync::{Semaphore, SemaphorePermit};

/// The `retry_after` of a call that found the queue full.
const QUEUE_FULL_RETRY: Duration = Duration::from_secs(1);

/// The concurrency limits of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Concurrency {
    /// How many calls run at once.
    pub max: usize,
    /// How many further calls may wait.
    pub queue: usize,
}

impl Default for Concurrency {
    fn default() -> Self {
        Self { max: 64, queue: 1_024 }
    }
}

#[derive(Debug)]
pub(crate) struct ConcurrencyLimiter {
    permits: Semaphore,
    queued: AtomicUsize,
    queue_max: usize,
}

impl ConcurrencyLimiter {
    pub(crate) fn new(limits: Concurrency) -> Self {
        let max = limits.max.clamp(1, Semaphore::MAX_PERMITS);
        let (permits, queued) = (Semaphore::new(max), AtomicUsize::new(0));
        Self { permits, queued, queue_max: limits.queue }
    }

    /// A permit, if one is free and no call queues. Nearly every call takes this path.
    pub(crate) fn try_acquire(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.try_acquire().ok()
    }

    /// Enters the queue; fails with `busy` if it is full. Dropping the slot leaves the queue.
    pub(crate) fn enqueue(&self, tool: &str) -> Result<QueueSlot<'_>, Fault> {
        let slot = QueueSlot(self);
        if self.queued.fetch_add(1, Ordering::Relaxed) < self.queue_max {
            return Ok(slot);
        }
        drop(slot);
        let message = format!("too many calls of {tool} are under way; try again shortly");
        Err(Fault::unavailable("busy", message).retry_after(QUEUE_FULL_RETRY))
    }
}

/// One call's slot in the queue.
pub(crate) struct QueueSlot<'a>(&'a ConcurrencyLimiter);

impl<'a> QueueSlot<'a> {
    /// Waits until a permit is free.
    pub(crate) async fn acquire(self) -> Result<SemaphorePermit<'a>, Fault> {
        self.0.permits.acquire().await.map_err(Fault::internal)
    }
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.queued.fetch_sub(1, Ordering::Relaxed);
    }
}
