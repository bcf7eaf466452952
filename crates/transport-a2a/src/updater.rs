//! Where a task is worked at: every change is kept before it is told, under the task's version, so
//! that a task which was ended elsewhere stays ended.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use contract::Progress;
use fault::Fault;
use futures_util::FutureExt as _;
use serde_json::{Map, json};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use crate::agent::AgentRun;
use crate::live_tasks::LiveTask;
use crate::push::{PushWaker, serialize_events};
use crate::stamp;
use crate::store::{Lease, TaskRecord, TaskStore};
use crate::wire::{
    Artifact, ArtifactUpdate, Message, Part, Role, StatusUpdate, StreamResponse, Task, TaskState,
    TaskStatus,
};

/// How long a task is believed to be worked at without another word from its runner.
pub(crate) const LEASE_MS: i64 = 15_000;
const RENEW_EVERY: Duration = Duration::from_secs(4);
/// A store that does not answer is asked again so often before a change is given up.
const KEEP_TRIES: u32 = 5;
const KEEP_WAIT: Duration = Duration::from_millis(200);

/// The time, in milliseconds since 1970.
pub(crate) type Now = Arc<dyn Fn() -> i64 + Send + Sync>;

/// What a bench is made of, the same for all tasks of an agent.
#[derive(Clone)]
pub(crate) struct TaskContext {
    pub(crate) store: Arc<dyn TaskStore>,
    pub(crate) push: PushWaker,
    pub(crate) now: Now,
    /// Names this process among those that share the store.
    pub(crate) runner: Arc<str>,
    pub(crate) stop: CancellationToken,
}

/// One thing that happened to a task.
pub(crate) enum Change {
    Status(TaskState, Option<Vec<Part>>),
    Artifact { artifact: Artifact, append: bool, last_chunk: bool },
}

#[derive(Clone)]
pub(crate) struct TaskUpdater {
    live: Arc<LiveTask>,
    tools: TaskContext,
}

impl TaskContext {
    pub(crate) fn lease(&self) -> Lease {
        Lease { runner: self.runner.to_string(), until_ms: (self.now)() + LEASE_MS }
    }

    /// Writes changes into a record and says them as the protocol does.
    pub(crate) fn apply(
        &self,
        record: &mut TaskRecord,
        changes: Vec<Change>,
    ) -> Vec<StreamResponse> {
        let now_ms = (self.now)();
        let events = changes.into_iter().map(|it| happen(&mut record.task, it, now_ms)).collect();
        record.version += 1;
        record.updated_ms = now_ms;
        record.lease = record.state().is_running().then(|| self.lease());
        events
    }

    /// The status of a task as news.
    pub(crate) fn status(record: &TaskRecord) -> StreamResponse {
        StreamResponse::StatusUpdate(StatusUpdate {
            task_id: record.task.id.clone(),
            context_id: record.task.context_id.clone(),
            status: record.task.status.clone(),
            metadata: None,
        })
    }

    /// Marks a task whose runner is gone as failed. The newest version is returned, whoever wrote
    /// it.
    pub(crate) async fn settle(&self, mut record: TaskRecord) -> Result<TaskRecord, Fault> {
        let replaces = record.version;
        let parts = vec![Part::text("the server stopped while the task was under way")];
        let failed = vec![Change::Status(TaskState::Failed, Some(parts))];
        let events = self.apply(&mut record, failed);
        if self.store.put(&record, Some(replaces), &serialize_events(&events)).await? {
            self.push.wake();
            return Ok(record);
        }
        let (agent, owner, id) = (&record.agent, &record.owner, &record.task.id);
        Ok(self.store.get(agent, owner, id).await?.unwrap_or(record))
    }
}

fn happen(task: &mut Task, change: Change, now_ms: i64) -> StreamResponse {
    let (task_id, context_id) = (task.id.clone(), task.context_id.clone());
    match change {
        Change::Status(state, parts) => {
            let message = parts.map(|parts| spoken(&task_id, &context_id, parts));
            let status = TaskStatus { state, message, timestamp: stamp::written(now_ms) };
            task.status = status.clone();
            let update = StatusUpdate { task_id, context_id, status, metadata: None };
            StreamResponse::StatusUpdate(update)
        }
        Change::Artifact { artifact, append, last_chunk } => {
            keep(task.artifacts.get_or_insert_default(), &artifact, append);
            let update = ArtifactUpdate { task_id, context_id, artifact, append, last_chunk };
            StreamResponse::ArtifactUpdate(update)
        }
    }
}

fn keep(artifacts: &mut Vec<Artifact>, artifact: &Artifact, append: bool) {
    let known = artifacts.iter_mut().find(|it| it.artifact_id == artifact.artifact_id);
    match known {
        Some(known) if append => known.parts.extend(artifact.parts.iter().cloned()),
        Some(known) => known.clone_from(artifact),
        None => artifacts.push(artifact.clone()),
    }
}

/// A message of the agent's.
pub(crate) fn spoken(task_id: &str, context_id: &str, parts: Vec<Part>) -> Message {
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
    pub(crate) fn new(live: Arc<LiveTask>, tools: TaskContext) -> Self {
        Self { live, tools }
    }

    /// Set when the client wants the work to stop.
    pub(crate) fn cancel(&self) -> CancellationToken {
        self.live.cancel.child_token()
    }

    /// Keeps the changes, then tells them. Whoever ended the task elsewhere has the last word.
    pub(crate) async fn change(&self, changes: Vec<Change>) {
        let mut record = self.live.record();
        if record.state().is_terminal() {
            return;
        }
        let replaces = record.version;
        let events = self.tools.apply(&mut record, changes);
        match self.kept(&record, replaces, &serialize_events(&events)).await {
            Ok(true) => {
                self.tools.push.wake();
                self.live.tell(record, &events);
            }
            Ok(false) => self.lost().await,
            Err(fault) => self.give_up(&fault),
        }
    }

    async fn kept(
        &self,
        record: &TaskRecord,
        replaces: i64,
        events: &[String],
    ) -> Result<bool, Fault> {
        let mut tries = 1;
        loop {
            match self.tools.store.put(record, Some(replaces), events).await {
                Err(fault) if tries < KEEP_TRIES => {
                    tracing::debug!(%fault, "a task could not be kept yet");
                    sleep(KEEP_WAIT * tries).await;
                    tries += 1;
                }
                answer => return answer,
            }
        }
    }

    /// The store has another version, so somebody else ended or forgot the task.
    async fn lost(&self) {
        self.live.rest();
        let record = self.live.record();
        let (agent, owner, id) = (&record.agent, &record.owner, &record.task.id);
        match self.tools.store.get(agent, owner, id).await {
            Ok(Some(kept)) if kept.version > record.version => self.live.catch_up(kept),
            Ok(_) => self.say_failed("the task was given up"),
            Err(fault) => self.give_up(&fault),
        }
    }

    /// What cannot be kept is not said to be done; the lease runs out and the task is settled.
    fn give_up(&self, fault: &Fault) {
        let cause = std::error::Error::source(fault).map(ToString::to_string);
        tracing::error!(cause, "a task's outcome could not be kept: {fault}");
        self.say_failed("the task's outcome could not be kept");
    }

    fn say_failed(&self, why: &str) {
        let mut record = self.live.record();
        let version = record.version;
        let failed = Change::Status(TaskState::Failed, Some(vec![Part::text(why)]));
        let events = self.tools.apply(&mut record, vec![failed]);
        record.version = version;
        self.live.tell(record, &events);
    }

    /// The tool's reports as status updates. They are told and not kept.
    pub(crate) fn progress(&self) -> Progress {
        let (live, now) = (Arc::clone(&self.live), Arc::clone(&self.tools.now));
        Progress::to(move |done, total, message| {
            let timestamp = stamp::written(now());
            live.report(|record| {
                if !record.state().is_running() {
                    return None;
                }
                let (task_id, context_id) = (&record.task.id, &record.task.context_id);
                let message_in = (!message.is_empty()).then(|| vec![Part::text(message)]);
                let message = message_in.map(|parts| spoken(task_id, context_id, parts));
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

    /// Does the work until it is done, cancelled, lost to another process, or the server stops.
    pub(crate) async fn run(self, work: AgentRun) {
        let mut renew = interval(RENEW_EVERY);
        renew.set_missed_tick_behavior(MissedTickBehavior::Delay);
        renew.tick().await;
        let failed = |why: &str| Change::Status(TaskState::Failed, Some(vec![Part::text(why)]));
        let mut renewing: Option<Pin<Box<dyn Future<Output = bool> + Send>>> = None;
        let mut working = Some(Box::pin(AssertUnwindSafe(work(self.clone())).catch_unwind()));
        let end = loop {
            tokio::select! {
                biased;
                () = self.live.cancel.cancelled() => break Change::Status(TaskState::Canceled, None),
                done = finished(&mut working) => break match done {
                    Ok(()) => failed("the agent gave no answer"),
                    Err(_) => failed("an internal error occurred; it has been logged"),
                },
                () = self.tools.stop.cancelled() => {
                    break failed("the server stopped while the task was under way");
                }
                // Not awaited here: work that is not driven on may hold what a renewal waits for.
                ours = ours(&mut renewing) => {
                    renewing = None;
                    if !ours {
                        drop(working.take());
                        self.lost().await;
                        break failed("the task was given up");
                    }
                }
                _ = renew.tick(), if renewing.is_none() => {
                    let updater = self.clone();
                    renewing = Some(Box::pin(async move { updater.still_ours().await }));
                }
            }
        };
        // Given up before anything is kept: it may hold the store's only writer.
        drop((working.take(), renewing.take()));
        // AgentRun that said how it ended, or that waits for the client, has nothing to add.
        if self.live.record().state().is_running() {
            self.change(vec![end]).await;
        }
        self.live.rest();
    }

    async fn still_ours(&self) -> bool {
        let record = self.live.record();
        let renewed = self.tools.store.renew(&record, &self.tools.lease()).await;
        renewed.unwrap_or_else(|fault| {
            tracing::warn!(%fault, "a task's lease could not be renewed");
            true
        })
    }
}

/// What the work came to; never, once it was given up.
async fn finished<F: Future + Unpin>(work: &mut Option<F>) -> F::Output {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

/// Whether a renewal under way found the task still ours.
async fn ours(renewing: &mut Option<Pin<Box<dyn Future<Output = bool> + Send>>>) -> bool {
    match renewing {
        Some(renewing) => renewing.await,
        None => std::future::pending().await,
    }
}
