//! What wakes whom inside this process. Other processes find out by looking.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::sync::{Notify, watch};

use crate::context::{Live, Stop};

/// Jobs that can be waited for by bell; beyond them waiters only look now and then.
const BELLS_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Hub {
    /// Counts the times something became ready.
    ready: watch::Sender<u64>,
    /// By job: the bell, and how many wait for it.
    bells: Mutex<HashMap<String, (Arc<Notify>, usize)>>,
    /// What runs in this process, by job and fence. A job may be here twice, when this process
    /// took it over from itself.
    running: Mutex<BTreeMap<(String, i64), Arc<Live>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

impl Hub {
    /// Work may be there for the taking.
    pub(crate) fn ready(&self) {
        self.ready.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(crate) fn watch_ready(&self) -> watch::Receiver<u64> {
        self.ready.subscribe()
    }

    /// Wakes everybody who waits for this job.
    pub(crate) fn changed(&self, id: &str) {
        if let Some((bell, _)) = locked(&self.bells).get(id) {
            bell.notify_waiters();
        }
    }

    /// The bell of a job, kept until it is dropped.
    pub(crate) fn listen<'a>(&'a self, id: &'a str) -> Listening<'a> {
        let mut bells = locked(&self.bells);
        if bells.len() >= BELLS_MAX && !bells.contains_key(id) {
            return Listening { hub: None, id, bell: Arc::default() };
        }
        let (bell, listeners) = bells.entry(id.to_owned()).or_default();
        *listeners += 1;
        Listening { hub: Some(self), id, bell: Arc::clone(bell) }
    }

    /// Asks a job that runs in this process to stop.
    pub(crate) fn stop(&self, id: &str, why: Stop) {
        let running = locked(&self.running);
        let from = (id.to_owned(), i64::MIN);
        for (_, live) in running.range(from..).take_while(|((it, _), _)| it == id) {
            live.stop(why);
        }
    }

    pub(crate) fn enter(&self, live: &Arc<Live>) {
        locked(&self.running).insert(live.place(), Arc::clone(live));
    }

    pub(crate) fn leave(&self, live: &Live) {
        locked(&self.running).remove(&live.place());
    }
}

pub(crate) struct Listening<'a> {
    /// None where there was no room for another bell.
    hub: Option<&'a Hub>,
    id: &'a str,
    pub(crate) bell: Arc<Notify>,
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        let Some(hub) = self.hub else { return };
        let mut bells = locked(&hub.bells);
        if let Some((_, listeners)) = bells.get_mut(self.id) {
            *listeners -= 1;
            if *listeners == 0 {
                bells.remove(self.id);
            }
        }
    }
}
