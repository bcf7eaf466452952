//! Tasks that somebody works at or watches here: their newest state, and its changes as they
//! happen.
//!
//! A watcher joins under the task's lock, so what it is shown first and what it is told afterwards
//! meet without a gap, and all watchers hear the same in the same order.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::limiter::TaskPermit;
use crate::store::TaskRecord;
use crate::wire::{ArtifactUpdate, StatusUpdate, StreamResponse, Task};

/// StreamEvent that waits for a slow watcher; one that falls further behind is shown the task anew.
const NEWS_MAX: usize = 256;

/// An event, serialized once for all who hear it.
#[derive(Debug)]
pub(crate) struct StreamEvent {
    pub(crate) json: String,
    /// After these a stream of the task's own request ends.
    pub(crate) pauses: bool,
    /// After these every stream ends.
    pub(crate) ends: bool,
}

impl StreamEvent {
    pub(crate) fn of(response: &StreamResponse) -> Self {
        let state = match response {
            StreamResponse::Task(task) => Some(task.status.state),
            StreamResponse::StatusUpdate(update) => Some(update.status.state),
            StreamResponse::Message(_) | StreamResponse::ArtifactUpdate(_) => None,
        };
        let message = matches!(response, StreamResponse::Message(_));
        let ends = message || state.is_some_and(|it| it.is_terminal());
        Self {
            json: serde_json::to_string(response).unwrap_or_default(),
            pauses: ends || state.is_some_and(|it| it.is_interrupted()),
            ends,
        }
    }
}

pub(crate) struct LiveTask {
    inner: Mutex<LiveState>,
    /// Set when the client wants the work to stop.
    pub(crate) cancel: CancellationToken,
}

struct LiveState {
    record: TaskRecord,
    events: broadcast::Sender<Arc<StreamEvent>>,
    /// Whether the work is done in this process.
    running: bool,
    /// The work's place, given back as soon as it is over.
    permit: Option<TaskPermit>,
}

impl LiveTask {
    fn new(record: TaskRecord) -> Self {
        let (events, _) = broadcast::channel(NEWS_MAX);
        Self {
            inner: Mutex::new(LiveState { record, events, running: false, permit: None }),
            cancel: CancellationToken::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, LiveState> {
        self.inner.lock()
    }

    pub(crate) fn record(&self) -> TaskRecord {
        self.lock().record.clone()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.lock().running
    }

    pub(crate) fn run(&self, permit: TaskPermit) {
        let mut inner = self.lock();
        inner.running = true;
        inner.permit = Some(permit);
    }

    pub(crate) fn rest(&self) {
        let mut inner = self.lock();
        inner.running = false;
        inner.permit = None;
    }

    /// The task as it is, and everything that happens to it afterwards.
    pub(crate) fn join(&self) -> (Task, broadcast::Receiver<Arc<StreamEvent>>) {
        let inner = self.lock();
        (inner.record.task.clone(), inner.events.subscribe())
    }

    /// Makes the record the newest and tells what happened to it.
    pub(crate) fn tell(&self, record: TaskRecord, happened: &[StreamResponse]) {
        let mut inner = self.lock();
        // Before anybody hears of it: who waited for the end may begin again at once.
        if !record.state().is_running() {
            inner.permit = None;
        }
        inner.record = record;
        for response in happened {
            // Nobody listening is nothing to report.
            drop(inner.events.send(Arc::new(StreamEvent::of(response))));
        }
    }

    /// Changes the status in memory alone: how far the work is matters to those who watch it.
    pub(crate) fn report(&self, change: impl FnOnce(&mut TaskRecord) -> Option<StatusUpdate>) {
        let mut inner = self.lock();
        if let Some(update) = change(&mut inner.record) {
            drop(
                inner.events.send(Arc::new(StreamEvent::of(&StreamResponse::StatusUpdate(update)))),
            );
        }
    }

    /// Takes over what another process kept, where it is newer.
    pub(crate) fn catch_up(&self, kept: TaskRecord) {
        let before = {
            let inner = self.lock();
            if inner.running || kept.version <= inner.record.version {
                return;
            }
            inner.record.clone()
        };
        let happened = difference(&before.task, &kept.task);
        self.tell(kept, &happened);
    }
}

/// What a watcher is told when a task changed elsewhere.
fn difference(before: &Task, after: &Task) -> Vec<StreamResponse> {
    let known =
        |id: &str| before.artifacts.iter().flatten().any(|artifact| artifact.artifact_id == id);
    let fresh = after.artifacts.iter().flatten().filter(|it| !known(&it.artifact_id));
    let mut happened: Vec<StreamResponse> = fresh
        .map(|artifact| {
            StreamResponse::ArtifactUpdate(ArtifactUpdate {
                task_id: after.id.clone(),
                context_id: after.context_id.clone(),
                artifact: artifact.clone(),
                append: false,
                last_chunk: true,
            })
        })
        .collect();
    happened.push(StreamResponse::StatusUpdate(StatusUpdate {
        task_id: after.id.clone(),
        context_id: after.context_id.clone(),
        status: after.status.clone(),
        metadata: None,
    }));
    happened
}

/// Every task that is worked at or watched here. Whoever does so holds it; nobody else keeps it.
#[derive(Default)]
pub(crate) struct LiveTasks(Mutex<HashMap<(String, String), Weak<LiveTask>>>);

impl LiveTasks {
    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), Weak<LiveTask>>> {
        self.0.lock()
    }

    pub(crate) fn find(&self, owner: &str, id: &str) -> Option<Arc<LiveTask>> {
        self.lock().get(&(owner.to_owned(), id.to_owned()))?.upgrade()
    }

    /// The task's place here, made from the record where it has none yet.
    pub(crate) fn enter(&self, record: &TaskRecord) -> Arc<LiveTask> {
        let mut all = self.lock();
        let key = (record.owner.clone(), record.task.id.clone());
        if let Some(live) = all.get(&key).and_then(Weak::upgrade) {
            return live;
        }
        all.retain(|_, live| live.strong_count() > 0);
        let live = Arc::new(LiveTask::new(record.clone()));
        all.insert(key, Arc::downgrade(&live));
        live
    }
}
