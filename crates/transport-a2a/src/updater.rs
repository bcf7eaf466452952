//! Applies the changes of a running task: each change is stored before it is published, and only if
//! the stored version is the expected one, so a task that was ended elsewhere stays ended.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use contract::Progress;
use fault::Fault;
use futures_util::FutureExt as _;
use serde_json::{Map, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::agent::AgentRun;
use crate::live_tasks::LiveTask;
use crate::push::{PushWaker, serialize_events};
use crate::stamp;
use crate::store::{TaskRecord, TaskRun, TaskStore};
use crate::wire::{
    Artifact, ArtifactUpdate, Message, Part, Role, StatusUpdate, StreamResponse, Task, TaskState,
    TaskStatus,
};

/// A write that fails is tried this often before the change is given up.
const WRITE_ATTEMPTS_MAX: u32 = 5;
const WRITE_RETRY_WAIT: Duration = Duration::from_millis(200);

/// The time, in milliseconds since 1970.
pub(crate) type Now = Arc<dyn Fn() -> i64 + Send + Sync>;

/// What all tasks of an agent share.
#[derive(Clone)]
pub(crate) struct TaskContext {
    pub(crate) store: Arc<dyn TaskStore>,
    pub(crate) push: PushWaker,
    pub(crate) now: Now,
    pub(crate) stop: CancellationToken,
}

/// One change of a task.
pub(crate) enum Change {
    Status(TaskState, Option<Vec<Part>>),
    Artifact { artifact: Artifact, append: bool, last_chunk: bool },
}

/// Given to an agent to report what its run produces.
#[derive(Clone)]
pub(crate) struct TaskUpdater {
    live: Arc<LiveTask>,
    context: TaskContext,
    run: Arc<dyn TaskRun>,
}

impl TaskContext {
    /// Applies changes to a record and returns them as events of the protocol.
    pub(crate) fn apply(
        &self,
        record: &mut TaskRecord,
        changes: Vec<Change>,
    ) -> Vec<StreamResponse> {
        let now_ms = (self.now)();
        let events = changes.into_iter().map(|it| apply(&mut record.task, it, now_ms)).collect();
        record.version += 1;
        record.updated_ms = now_ms;
        record.lost = false;
        events
    }

    /// Stores that a lost task has failed. Returns the newest version, also where another process
    /// wrote it.
    pub(crate) async fn fail_lost(&self, mut record: TaskRecord) -> Result<TaskRecord, Fault> {
        let replaces = record.version;
        let change = failed("the server stopped while the task was under way");
        let events = self.apply(&mut record, vec![change]);
        if self.store.put(&record, replaces, &serialize_events(&events)).await? {
            self.push.wake();
            return Ok(record);
        }
        let (agent, owner, id) = (&record.agent, &record.owner, &record.task.id);
        Ok(self.store.get(agent, owner, id).await?.unwrap_or(record))
    }
}

fn apply(task: &mut Task, change: Change, now_ms: i64) -> StreamResponse {
    let (task_id, context_id) = (task.id.clone(), task.context_id.clone());
    match change {
        Change::Status(state, parts) => {
            let message = parts.map(|parts| agent_message(&task_id, &context_id, parts));
            let status = TaskStatus { state, message, timestamp: stamp::format_ms(now_ms) };
            task.status = status.clone();
            let update = StatusUpdate { task_id, context_id, status, metadata: None };
            StreamResponse::StatusUpdate(update)
        }
        Change::Artifact { artifact, append, last_chunk } => {
            put_artifact(task.artifacts.get_or_insert_default(), &artifact, append);
            let update = ArtifactUpdate { task_id, context_id, artifact, append, last_chunk };
            StreamResponse::ArtifactUpdate(update)
        }
    }
}

fn put_artifact(artifacts: &mut Vec<Artifact>, artifact: &Artifact, append: bool) {
    let known = artifacts.iter_mut().find(|it| it.artifact_id == artifact.artifact_id);
    match known {
        Some(known) if append => known.parts.extend(artifact.parts.iter().cloned()),
        Some(known) => known.clone_from(artifact),
        None => artifacts.push(artifact.clone()),
    }
}

/// A message from the agent.
pub(crate) fn agent_message(task_id: &str, context_id: &str, parts: Vec<Part>) -> Message {
    Message {
        message_id: stamp::fresh_id(),
        context_id: Some(context_id.to_owned()),
        task_id: (!task_id.is_empty()).then(|| task_id.to_owned()),
        role: Role::Agent,
        parts,
        metadata: None,
        extensions: None,
        reference_task_ids: None,
    }
}

impl TaskUpdater {
    pub(crate) fn new(live: Arc<LiveTask>, context: TaskContext, run: Arc<dyn TaskRun>) -> Self {
        Self { live, context, run }
    }

    /// Cancelled when the client cancels the task.
    pub(crate) fn cancel(&self) -> CancellationToken {
        self.live.cancel.child_token()
    }

    /// Stores the changes, then publishes them. A task that was ended elsewhere is not changed.
    pub(crate) async fn change(&self, changes: Vec<Change>) {
        let mut record = self.live.record();
        if record.state().is_terminal() {
            return;
        }
        let replaces = record.version;
        let events = self.context.apply(&mut record, changes);
        match self.store_version(&record, replaces, &serialize_events(&events)).await {
            Ok(true) => {
                self.context.push.wake();
                self.live.publish(record, &events);
            }
            Ok(false) => self.stop_following().await,
            Err(fault) => self.give_up(&fault),
        }
    }

    async fn store_version(
        &self,
        record: &TaskRecord,
        replaces: i64,
        events: &[String],
    ) -> Result<bool, Fault> {
        let mut tries = 1;
        loop {
            match self.run.put(record, replaces, events).await {
                Err(fault) if tries < WRITE_ATTEMPTS_MAX => {
                    tracing::debug!(%fault, "a task could not be stored yet");
                    sleep(WRITE_RETRY_WAIT * tries).await;
                    tries += 1;
                }
                answer => return answer,
            }
        }
    }

    /// The task was ended elsewhere or another process runs it now. Subscribers here get its stored
    /// version; while it still runs they go on reading the store.
    async fn stop_following(&self) {
        self.live.stop();
        let record = self.live.record();
        let (agent, owner, id) = (&record.agent, &record.owner, &record.task.id);
        match self.context.store.get(agent, owner, id).await {
            Ok(Some(stored)) => self.live.catch_up(stored),
            Ok(None) => self.publish_failed("the task was given up"),
            Err(fault) => self.give_up(&fault),
        }
    }

    /// Publishes a failure that could not be stored. The run ends without a result, so the stored
    /// task is lost and is failed by the next reader.
    fn give_up(&self, fault: &Fault) {
        let cause = std::error::Error::source(fault).map(ToString::to_string);
        tracing::error!(cause, "a task's outcome could not be stored: {fault}");
        self.publish_failed("the task's outcome could not be kept");
    }

    fn publish_failed(&self, why: &str) {
        let mut record = self.live.record();
        let version = record.version;
        let events = self.context.apply(&mut record, vec![failed(why)]);
        record.version = version;
        self.live.publish(record, &events);
    }

    /// Publishes the tool's progress as status updates, which are not stored.
    pub(crate) fn progress(&self) -> Progress {
        let (live, now) = (Arc::clone(&self.live), Arc::clone(&self.context.now));
        Progress::to(move |done, total, message| {
            let timestamp = stamp::format_ms(now());
            live.report(|record| {
                if !record.state().is_running() {
                    return None;
                }
                let (task_id, context_id) = (&record.task.id, &record.task.context_id);
                let parts = (!message.is_empty()).then(|| vec![Part::text(message)]);
                let message = parts.map(|parts| agent_message(task_id, context_id, parts));
                let status = TaskStatus { state: TaskState::Working, message, timestamp };
                record.task.status = status.clone();
                let mut metadata = Map::new();
                metadata.insert("progress".to_owned(), json!(done));
                if let Some(total) = total {
                    metadata.insert("total".to_owned(), json!(total));
                }
                Some(StatusUpdate {
                    task_id: record.task.id.clone(),
                    context_id: record.task.context_id.clone(),
                    status,
                    metadata: Some(metadata),
                })
            });
        })
    }

    /// Runs the agent until it ends, the task is cancelled or lost to another process, or the server
    /// stops.
    pub(crate) async fn run(self, agent_run: AgentRun) {
        let mut working = Box::pin(AssertUnwindSafe(agent_run(self.clone())).catch_unwind());
        let end = tokio::select! {
            biased;
            () = self.live.cancel.cancelled() => {
                Some(Change::Status(TaskState::Canceled, None))
            }
            ended = &mut working => Some(match ended {
                Ok(()) => failed("the agent gave no answer"),
                Err(_) => failed("an internal error occurred; it has been logged"),
            }),
            () = self.context.stop.cancelled() => {
                Some(failed("the server stopped while the task was under way"))
            }
            () = self.run.stopped() => None,
        };
        // Dropped before the next write, because the agent may hold SQLite's only writer.
        drop(working);
        // An agent that reported its end, or that waits for the client, needs no further change.
        if self.live.record().state().is_running() {
            match end {
                Some(end) => self.change(vec![end]).await,
                None => self.stop_following().await,
            }
        }
        self.live.stop();
    }
}

fn failed(why: &str) -> Change {
    Change::Status(TaskState::Failed, Some(vec![Part::text(why)]))
}
