//! The port behind which tasks are stored and queued, and the types that pass through it.
//!
//! Every operation names the owner of the task, so a caller reaches only its own tasks.

use std::sync::Arc;

use async_trait::async_trait;
use fault::Fault;
use tokio_util::sync::CancellationToken;

use crate::wire::{PushConfig, Task, TaskState};

/// A task as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRecord {
    /// The caller who sent the message.
    pub owner: String,
    /// The agent that runs the task; several agents may share a store.
    pub agent: String,
    /// When the task was created, in milliseconds since 1970.
    pub created_ms: i64,
    /// When the stored status last changed.
    pub updated_ms: i64,
    /// Rises by one with every write; a write names the version it replaces.
    pub version: i64,
    /// Set by the store on reading: the status says that the task runs, but no run is queued or
    /// leased, so nothing will finish it.
    pub lost: bool,
    /// The task in the protocol's form.
    pub task: Task,
}

impl TaskRecord {
    /// The state in the task's status.
    pub fn state(&self) -> TaskState {
        self.task.status.state
    }

    /// Sets [`TaskRecord::lost`]; `has_run` says whether a run of the task is queued or leased.
    #[must_use]
    pub fn with_run(self, has_run: bool) -> Self {
        Self { lost: self.state().is_running() && !has_run, ..self }
    }

    /// Whether `new` notifications may be stored for this owner beside the `waiting` ones; a refusal
    /// is logged.
    pub fn has_room_for_notifications(&self, waiting: u64, new: u64) -> bool {
        let has_room = waiting + new <= PENDING_NOTIFICATIONS_MAX as u64;
        if !has_room {
            let task = &self.task.id;
            tracing::warn!(task, waiting, "too many notifications wait; an event was not queued");
        }
        has_room
    }
}

/// How often a run is started before its task counts as lost, if each process that held it died.
pub const RUN_ATTEMPTS_MAX: u32 = 3;

/// What is queued with a task that is to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunRequest {
    /// JSON from which another process can repeat the run. A run without it is started once: if its
    /// process dies, the task fails.
    pub resume: Option<String>,
    /// A webhook that is stored with the task, so that it is notified of the first change.
    pub push: Option<PushConfig>,
}

/// One attempt to run a task. It holds the task's lease; the store renews it.
#[async_trait]
pub trait TaskRun: Send + Sync {
    /// The agent that the task belongs to.
    fn agent(&self) -> &str;

    /// The owner of the task.
    fn owner(&self) -> &str;

    /// The id of the task.
    fn task_id(&self) -> &str;

    /// See [`RunRequest::resume`].
    fn resume(&self) -> Option<&str>;

    /// Replaces the version `replaces` of the task and queues the events for its webhooks, in one
    /// transaction. A record that no longer runs ends the run in the same transaction. False where
    /// this attempt has lost its lease or the stored version is another; nothing is written then.
    async fn put(
        &self,
        record: &TaskRecord,
        replaces: i64,
        events: &[String],
    ) -> Result<bool, Fault>;

    /// Resolves when the run must stop: the task was ended elsewhere, or the lease is lost.
    async fn stopped(&self);
}

/// Runs tasks that the store hands out.
#[async_trait]
pub trait TaskRunner: Send + Sync {
    /// Runs one attempt to its end.
    async fn run(&self, run: Arc<dyn TaskRun>);
}

/// Selects tasks of an owner; the newest status comes first.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    /// Only tasks of this conversation.
    pub context_id: Option<String>,
    /// Only tasks in this state.
    pub state: Option<TaskState>,
    /// Only tasks whose status changed at this time or later.
    pub since_ms: Option<i64>,
    /// The last task of the previous page.
    pub after: Option<TaskCursor>,
    /// The size of the page.
    pub limit: usize,
}

/// The position of a task in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskCursor {
    /// [`TaskRecord::updated_ms`] of the task.
    pub updated_ms: i64,
    /// The id of the task.
    pub id: String,
}

/// One page of a list of tasks.
#[derive(Debug, Default)]
pub struct TaskPage {
    /// The tasks of the page.
    pub tasks: Vec<TaskRecord>,
    /// The number of tasks on all pages.
    pub total: u64,
}

/// Undelivered notifications of one owner; further ones are not stored.
pub const PENDING_NOTIFICATIONS_MAX: usize = 1_000;

/// An event that is to be delivered to a webhook.
#[derive(Debug, Clone, PartialEq)]
pub struct PushNotification {
    /// The agent of the task.
    pub agent: String,
    /// The owner of the task.
    pub owner: String,
    /// The webhook as it is configured now.
    pub push: PushConfig,
    /// The version of the task that the event belongs to.
    pub version: i64,
    /// The position of the event among those of its version.
    pub part: i64,
    /// The body of the request.
    pub json: String,
    /// Failed deliveries so far.
    pub tries: u32,
}

/// The result of [`TaskStore::next_notification`].
#[derive(Debug, Clone, PartialEq)]
pub enum NextNotification {
    /// Deliver this one; no other process takes it before the lease ends.
    Due(Box<PushNotification>),
    /// No notification is due before this time.
    Later(i64),
    /// No notification waits.
    Nothing,
}

/// Stores tasks, their webhooks and undelivered notifications, and queues the runs of tasks.
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// Stores a task that is to run, as a new one or in place of the version `replaces`, and queues
    /// its run, in one transaction. False where the stored version is another.
    async fn submit(
        &self,
        record: &TaskRecord,
        replaces: Option<i64>,
        run: &RunRequest,
    ) -> Result<bool, Fault>;

    /// Hands the queued runs of these agents to the runner, at most `concurrency` at once, until
    /// `stop`. A run whose process died is handed out again, [`RUN_ATTEMPTS_MAX`] times at most.
    async fn run_tasks(
        &self,
        agents: &[String],
        runner: Arc<dyn TaskRunner>,
        concurrency: usize,
        stop: CancellationToken,
    );

    /// Replaces the version `replaces` of a task by one that does not run, ends its run if there is
    /// one, and queues the events for each of its webhooks, unless [`PENDING_NOTIFICATIONS_MAX`] of
    /// the owner's wait already. False where the stored version is another.
    async fn put(
        &self,
        record: &TaskRecord,
        replaces: i64,
        events: &[String],
    ) -> Result<bool, Fault>;

    /// One task of an owner.
    async fn get(&self, agent: &str, owner: &str, id: &str) -> Result<Option<TaskRecord>, Fault>;

    /// One page of the tasks of an owner.
    async fn list(&self, agent: &str, owner: &str, filter: &TaskFilter) -> Result<TaskPage, Fault>;

    /// Tasks with [`TaskRecord::lost`], of one owner or of all, at most `limit`.
    async fn lost(
        &self,
        agent: &str,
        owner: Option<&str>,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, Fault>;

    /// Deletes the oldest tasks of an owner until `keep` are left. Running tasks stay.
    async fn delete_oldest(&self, agent: &str, owner: &str, keep: usize) -> Result<(), Fault>;

    /// Deletes every task whose status is older than `updated_ms` and that does not run.
    async fn delete_older(&self, agent: &str, updated_ms: i64) -> Result<(), Fault>;

    /// Adds or replaces one webhook of a task.
    async fn put_push_config(
        &self,
        agent: &str,
        owner: &str,
        push: &PushConfig,
    ) -> Result<(), Fault>;

    /// The webhooks of a task, ordered by id.
    async fn push_configs(
        &self,
        agent: &str,
        owner: &str,
        task: &str,
    ) -> Result<Vec<PushConfig>, Fault>;

    /// Deletes a configuration and its notifications, if they exist.
    async fn delete_push_config(
        &self,
        agent: &str,
        owner: &str,
        task: &str,
        id: &str,
    ) -> Result<(), Fault>;

    /// Takes the notification that has waited longest, until `lease_ms`. Notifications of one task
    /// to one webhook are taken in order, each after the previous one was delivered. Notifications
    /// of the owners in `busy` are passed over.
    async fn next_notification(
        &self,
        now_ms: i64,
        lease_ms: i64,
        busy: &[String],
    ) -> Result<NextNotification, Fault>;

    /// Deletes a notification that was delivered.
    async fn notification_delivered(&self, notification: &PushNotification) -> Result<(), Fault>;

    /// Counts a failed delivery; the notification is due again at `due_ms`.
    async fn notification_failed(
        &self,
        notification: &PushNotification,
        due_ms: i64,
    ) -> Result<(), Fault>;

    /// Deletes all notifications of the same task and webhook and returns their number.
    async fn drop_notifications(&self, notification: &PushNotification) -> Result<u64, Fault>;
}
