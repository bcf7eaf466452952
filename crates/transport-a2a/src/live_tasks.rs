//! The tasks that run or have subscribers in this process: their newest version, and a broadcast of
//! their events.
//!
//! A subscriber reads the task and subscribes under one lock, so it misses no event between the two,
//! and all subscribers receive the same events in the same order.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::limiter::TaskPermit;
use crate::store::TaskRecord;
use crate::wire::{ArtifactUpdate, StatusUpdate, StreamResponse, Task};

/// Events buffered for a slow subscriber; one that falls further behind is sent the whole task.
const EVENTS_BUFFERED_MAX: usize = 256;

/// An event, serialized once for all subscribers.
#[derive(Debug)]
pub(crate) struct StreamEvent {
    pub(crate) json: String,
    /// Ends the stream of the message that started the run.
    pub(crate) pauses: bool,
    /// Ends every stream of the task.
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
    /// Cancelled when the client cancels the task.
    pub(crate) cancel: CancellationToken,
}

struct LiveState {
    record: TaskRecord,
    events: broadcast::Sender<Arc<StreamEvent>>,
    /// Whether the task runs in this process.
    running: bool,
    /// Counts the run in the limits; released as soon as it is over.
    permit: Option<TaskPermit>,
}

impl LiveTask {
    fn new(record: TaskRecord) -> Self {
        let (events, _) = broadcast::channel(EVENTS_BUFFERED_MAX);
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

    /// The task runs in this process from now on.
    pub(crate) fn start(&self) {
        self.lock().running = true;
    }

    /// Counts the task in the limits until it is over.
    pub(crate) fn keep_permit(&self, permit: TaskPermit) {
        self.lock().permit = Some(permit);
    }

    /// The task no longer runs in this process.
    pub(crate) fn stop(&self) {
        let mut inner = self.lock();
        inner.running = false;
        inner.permit = None;
    }

    /// The task as it is, and all later events.
    pub(crate) fn join(&self) -> (Task, broadcast::Receiver<Arc<StreamEvent>>) {
        let inner = self.lock();
        (inner.record.task.clone(), inner.events.subscribe())
    }

    /// Replaces the record and sends the events to all subscribers.
    pub(crate) fn publish(&self, record: TaskRecord, events: &[StreamResponse]) {
        let mut inner = self.lock();
        // Released before the events are sent: a client may send its next message at once.
        if !record.state().is_running() {
            inner.permit = None;
        }
        inner.record = record;
        for response in events {
            // Sending fails where there is no subscriber.
            drop(inner.events.send(Arc::new(StreamEvent::of(response))));
        }
    }

    /// Changes the status in memory alone, for progress, which is not stored.
    pub(crate) fn report(&self, change: impl FnOnce(&mut TaskRecord) -> Option<StatusUpdate>) {
        let mut inner = self.lock();
        if let Some(update) = change(&mut inner.record) {
            drop(
                inner.events.send(Arc::new(StreamEvent::of(&StreamResponse::StatusUpdate(update)))),
            );
        }
    }

    /// Takes over a stored version that is newer, unless the task runs here.
    pub(crate) fn catch_up(&self, stored: TaskRecord) {
        let before = {
            let inner = self.lock();
            if inner.running || stored.version <= inner.record.version {
                return;
            }
            inner.record.clone()
        };
        let events = difference(&before.task, &stored.task);
        self.publish(stored, &events);
    }
}

/// The events that lead from one version of a task to another.
fn difference(before: &Task, after: &Task) -> Vec<StreamResponse> {
    let known =
        |id: &str| before.artifacts.iter().flatten().any(|artifact| artifact.artifact_id == id);
    let fresh = after.artifacts.iter().flatten().filter(|it| !known(&it.artifact_id));
    let mut events: Vec<StreamResponse> = fresh
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
    events.push(StreamResponse::StatusUpdate(StatusUpdate {
        task_id: after.id.clone(),
        context_id: after.context_id.clone(),
        status: after.status.clone(),
        metadata: None,
    }));
    events
}

/// The live tasks of one agent. Runs and subscribers own them; an entry without either is removed.
#[derive(Default)]
pub(crate) struct LiveTasks(Mutex<HashMap<(String, String), Weak<LiveTask>>>);

impl LiveTasks {
    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), Weak<LiveTask>>> {
        self.0.lock()
    }

    pub(crate) fn find(&self, owner: &str, id: &str) -> Option<Arc<LiveTask>> {
        self.lock().get(&(owner.to_owned(), id.to_owned()))?.upgrade()
    }

    /// The live task, made from the record where there is none yet.
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
