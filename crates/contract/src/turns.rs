//! Turns at a tool: so many calls run at once, so many wait, and the rest are told to come back.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fault::Fault;
use serde::Deserialize;
use tokio::sync::{Semaphore, SemaphorePermit};

/// How long a caller is told to stay away from a tool with a full queue.
const COME_BACK: Duration = Duration::from_secs(1);

/// How many calls of one tool run at once, and how many may wait for their turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Concurrency {
    pub max: usize,
    pub queue: usize,
}

impl Default for Concurrency {
    fn default() -> Self {
        Self { max: 64, queue: 1_024 }
    }
}

#[derive(Debug)]
pub(crate) struct Turns {
    free: Semaphore,
    waiting: AtomicUsize,
    queue: usize,
}

impl Turns {
    pub(crate) fn new(concurrency: Concurrency) -> Self {
        let max = concurrency.max.clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Semaphore::new(max), waiting: AtomicUsize::new(0), queue: concurrency.queue }
    }

    /// A turn, where one is free and nobody waits: the way of nearly every call.
    pub(crate) fn at_once(&self) -> Option<SemaphorePermit<'_>> {
        self.free.try_acquire().ok()
    }

    /// Stands in line. Refused where the line is full; leaving early loses the place.
    pub(crate) fn line_up(&self, tool: &str) -> Result<InLine<'_>, Fault> {
        let place = InLine(self);
        if self.waiting.fetch_add(1, Ordering::Relaxed) < self.queue {
            return Ok(place);
        }
        drop(place);
        let message = format!("too many calls of {tool} are under way; try again shortly");
        Err(Fault::unavailable("busy", message).retry_after(COME_BACK))
    }
}

/// A place in the line.
pub(crate) struct InLine<'a>(&'a Turns);

impl<'a> InLine<'a> {
    pub(crate) async fn turn(self) -> Result<SemaphorePermit<'a>, Fault> {
        self.0.free.acquire().await.map_err(Fault::internal)
    }
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
