//! Runs the tasks that the store hands out: those submitted in this process with the closure that
//! was prepared for them, those of a process that died from what was stored with them.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;

use super::RequestHandler;
use crate::agent::AgentRun;
use crate::live_tasks::LiveTask;
use crate::store::{TaskRun, TaskRunner};
use crate::updater::TaskUpdater;

/// A submitted run with the caller's credential, which is never stored.
pub(crate) struct SubmittedRun {
    pub(crate) run: AgentRun,
    /// Keeps the task live, and counted in the limits, until the run starts.
    pub(crate) live: Arc<LiveTask>,
    /// The version of the task that was submitted.
    pub(crate) version: i64,
    /// Whether a sweep has seen it; a run that is younger than a sweep may not be stored yet.
    pub(crate) swept: bool,
}

/// Submitted runs by task id.
#[derive(Default)]
pub(crate) struct PreparedRuns(Mutex<HashMap<String, SubmittedRun>>);

impl PreparedRuns {
    pub(crate) fn insert(&self, task: &str, run: SubmittedRun) {
        self.0.lock().insert(task.to_owned(), run);
    }

    pub(crate) fn remove(&self, task: &str) -> Option<SubmittedRun> {
        self.0.lock().remove(task)
    }

    /// The runs that the previous sweep has seen as well.
    fn waiting(&self) -> Vec<(Arc<LiveTask>, i64)> {
        let mut runs = self.0.lock();
        let waiting = runs.values_mut().filter_map(|run| {
            std::mem::replace(&mut run.swept, true).then(|| (Arc::clone(&run.live), run.version))
        });
        waiting.collect()
    }
}

/// Passes each run to the handler of its agent.
pub(crate) struct RunDispatcher(pub(crate) Vec<Arc<RequestHandler>>);

#[async_trait]
impl TaskRunner for RunDispatcher {
    async fn run(&self, run: Arc<dyn TaskRun>) {
        if let Some(handler) = self.0.iter().find(|handler| handler.name() == run.agent()) {
            handler.run_task(run).await;
        }
    }
}

impl RequestHandler {
    async fn run_task(&self, run: Arc<dyn TaskRun>) {
        let submitted = self.prepared.remove(run.task_id());
        let stored = self.context.store.get(self.name(), run.owner(), run.task_id()).await;
        let record = match stored {
            Ok(Some(record)) if record.state().is_running() => record,
            Ok(_) => return,
            Err(fault) => {
                tracing::warn!(%fault, "a task that is to run could not be read");
                return;
            }
        };
        let live = self.live_tasks.enter(&record);
        live.catch_up(record);
        let agent_run = match submitted {
            Some(submitted) => Some(submitted.run),
            None => run.resume().and_then(|json| self.agent.resume(json)),
        };
        // Without a run to start, the task is lost and the next reader fails it.
        let Some(agent_run) = agent_run else { return };
        live.start();
        TaskUpdater::new(live, self.context.clone(), run).run(agent_run).await;
    }

    /// Drops submitted runs that another process has started or ended.
    pub(super) async fn drop_prepared_elsewhere(&self) {
        for (live, version) in self.prepared.waiting() {
            let known = live.record();
            let stored = self.context.store.get(self.name(), &known.owner, &known.task.id).await;
            if stored.is_ok_and(|stored| stored.is_none_or(|record| record.version != version)) {
                self.prepared.remove(&known.task.id);
            }
        }
    }
}
