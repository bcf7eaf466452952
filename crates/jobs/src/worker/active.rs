//! The jobs that one worker holds.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::context::RunningJob;
use crate::queue::Jobs;

type HeldJobs = BTreeMap<(String, i64), Arc<RunningJob>>;

#[derive(Clone)]
pub(super) struct ActiveJobs {
    jobs: Jobs,
    jobs_held: Arc<Mutex<HeldJobs>>,
}

impl ActiveJobs {
    pub(super) fn new(jobs: Jobs) -> Self {
        Self { jobs, jobs_held: Arc::default() }
    }

    pub(super) fn join(&self, running_job: RunningJob) -> HeldJob {
        let running_job = Arc::new(running_job);
        self.jobs.0.wakeups.enter(&running_job);
        let mut jobs_held = self.jobs_held.lock();
        jobs_held.insert(running_job.hold_key(), Arc::clone(&running_job));
        HeldJob { running_job, active: self.clone() }
    }

    pub(super) fn jobs_held(&self) -> Vec<Arc<RunningJob>> {
        let jobs_held = self.jobs_held.lock();
        jobs_held.values().cloned().collect()
    }
}

/// A job whose lease is renewed until this is dropped.
pub(super) struct HeldJob {
    pub(super) running_job: Arc<RunningJob>,
    active: ActiveJobs,
}

impl Drop for HeldJob {
    fn drop(&mut self) {
        self.active.jobs.0.wakeups.leave(&self.running_job);
        let mut jobs_held = self.active.jobs_held.lock();
        jobs_held.remove(&self.running_job.hold_key());
    }
}
