//! The jobs that one worker holds.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::context::Live;
use crate::queue::Jobs;

type Members = BTreeMap<(String, i64), Arc<Live>>;

#[derive(Clone)]
pub(super) struct Crew {
    jobs: Jobs,
    members: Arc<Mutex<Members>>,
}

impl Crew {
    pub(super) fn new(jobs: Jobs) -> Self {
        Self { jobs, members: Arc::default() }
    }

    pub(super) fn join(&self, live: Live) -> Member {
        let live = Arc::new(live);
        self.jobs.0.hub.enter(&live);
        let mut members = self.members.lock();
        members.insert(live.place(), Arc::clone(&live));
        Member { live, crew: self.clone() }
    }

    pub(super) fn members(&self) -> Vec<Arc<Live>> {
        let members = self.members.lock();
        members.values().cloned().collect()
    }
}

/// A job that is held: renewed until this is dropped.
pub(super) struct Member {
    pub(super) live: Arc<Live>,
    crew: Crew,
}

impl Drop for Member {
    fn drop(&mut self) {
        self.crew.jobs.0.hub.leave(&self.live);
        let mut members = self.crew.members.lock();
        members.remove(&self.live.place());
    }
}
