//! What wakes whom inside this process. Other processes find out by looking.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::sync::{Notify, watch};

use crate::context::{RunningJob, StopReason};

/// Jobs that can be waited for by bell; beyond them waiters only look now and then.
const LISTENED_JOBS_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Wakeups {
    /// Counts the times something became ready.
    ready: watch::Sender<u64>,
    /// By job: the bell, and how many wait for it.
    listeners_by_job: Mutex<HashMap<String, (Arc<Notify>, usize)>>,
    /// What runs in this process, by job and fence. A job may be here twice, when this process
    /// took it over from itself.
    running: Mutex<BTreeMap<(String, i64), Arc<RunningJob>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

impl Wakeups {
    /// Work may be there for the taking.
    pub(crate) fn ready(&self) {
        self.ready.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(crate) fn watch_ready(&self) -> watch::Receiver<u64> {
        self.ready.subscribe()
    }

    /// Wakes everybody who waits for this job.
    pub(crate) fn changed(&self, id: &str) {
        if let Some((notify, _)) = locked(&self.listeners_by_job).get(id) {
            notify.notify_waiters();
        }
    }

    /// The bell of a job, kept until it is dropped.
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
    /// None where there was no room for another bell.
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
