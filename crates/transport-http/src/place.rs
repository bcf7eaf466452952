//! A connection's place among those that may be open at once. Whoever goes on with the connection
//! after an upgrade keeps it, so that it goes on counting and is waited for at shutdown.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Is told the number of open connections.
pub(crate) type Watch = Arc<dyn Fn(usize) + Send + Sync>;

/// All places, shared by the connections that have one.
#[derive(Clone)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    max: usize,
    watch: Watch,
    tasks: TaskTracker,
    stop: CancellationToken,
}

pub(crate) struct Place {
    all: Places,
    /// Given back before the number is told.
    permit: Option<OwnedSemaphorePermit>,
    /// Where to go on after an upgrade: the server waits for what runs here.
    pub(crate) tasks: TaskTracker,
    /// Set when the server is told to stop.
    pub(crate) stop: CancellationToken,
}

impl Places {
    pub(crate) fn new(max: usize, watch: Watch, stop: CancellationToken) -> Self {
        let free = Arc::new(Semaphore::new(max));
        Self { free, max, watch, tasks: TaskTracker::new(), stop }
    }

    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// A place, if one is free.
    pub(crate) fn take(&self) -> Option<Arc<Place>> {
        let permit = Arc::clone(&self.free).try_acquire_owned().ok()?;
        self.tell();
        Some(Arc::new(Place {
            all: self.clone(),
            permit: Some(permit),
            tasks: self.tasks.clone(),
            stop: self.stop.clone(),
        }))
    }

    fn tell(&self) {
        (self.watch)(self.max - self.free.available_permits());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.permit = None;
        self.all.tell();
    }
}
