//! Wakes workers and waiters of this process when a job changes; other processes poll the table.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::sync::{Notify, watch};

use crate::context::{RunningJob, StopReason};

/// Jobs whose waiters are woken; waiters for further jobs only poll.
const LISTENED_JOBS_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Wakeups {
    /// Counts how often a job became ready.
    ready: watch::Sender<u64>,
    /// By job: the notifier, and the number of its listeners.
    listeners_by_job: Mutex<HashMap<String, (Arc<Notify>, usize)>>,
    /// The jobs that run in this process, by id and fence. A job is here twice when this process took
    /// it over from itself.
    running: Mutex<BTreeMap<(String, i64), Arc<RunningJob>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

impl Wakeups {
    /// Wakes the workers: a job may be ready.
    pub(crate) fn ready(&self) {
        self.ready.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(crate) fn watch_ready(&self) -> watch::Receiver<u64> {
        self.ready.subscribe()
    }

    /// Wakes the listeners of a job.
    pub(crate) fn changed(&self, id: &str) {
        if let Some((notify, _)) = locked(&self.listeners_by_job).get(id) {
            notify.notify_waiters();
        }
    }

    /// A listener of a job, registered until it is dropped.
    pub(crate) fn listen<'a>(&'a self, id: &'a str) -> JobListener<'a> {
        let mut listeners_by_job = locked(&self.listeners_by_job);
        if listeners_by_job.len() >= LISTENED_JOBS_MAX && !listeners_by_job.contains_key(id) {
            return JobListener { wakeups: None, id, notify: Arc::default() };
        }
        let (notify, listeners) = listeners_by_job.entry(id.to_owned()).or_default();
        *listeners += 1;
        JobListener { wakeups: Some(self), id, notify: Arc::clone(notify) }
    }

    /// Asks a job that runs in this process to stop.
    pub(crate) fn stop(&self, id: &str, why: StopReason) {
        let running = locked(&self.running);
        let from = (id.to_owned(), i64::MIN);
        for (_, running_job) in running.range(from..).take_while(|((it, _), _)| it == id) {
            running_job.stop(why);
        }
    }

    pub(crate) fn enter(&self, running_job: &Arc<RunningJob>) {
        locked(&self.running).insert(running_job.hold_key(), Arc::clone(running_job));
    }

    pub(crate) fn leave(&self, running_job: &RunningJob) {
        locked(&self.running).remove(&running_job.hold_key());
    }
}

pub(crate) struct JobListener<'a> {
    /// `None` where [`LISTENED_JOBS_MAX`] was reached.
    wakeups: Option<&'a Wakeups>,
    id: &'a str,
    pub(crate) notify: Arc<Notify>,
}

impl Drop for JobListener<'_> {
    fn drop(&mut self) {
        let Some(wakeups) = self.wakeups else { return };
        let mut listeners_by_job = locked(&wakeups.listeners_by_job);
        if let Some((_, listeners)) = listeners_by_job.get_mut(self.id) {
            *listeners -= 1;
            if *listeners == 0 {
                listeners_by_job.remove(self.id);
            }
        }
    }
}
