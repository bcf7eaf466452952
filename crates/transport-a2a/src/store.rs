//! Where tasks are kept: the port, and what passes through it.
//!
//! A task belongs to whoever asked for it, and every question names the owner, so that nobody can
//! ask for another's. What a task means is not known here.

use async_trait::async_trait;
use fault::Fault;

use crate::wire::{PushConfig, Task, TaskState};

/// A task with what is known about it beside the protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRecord {
    pub owner: String,
    /// The agent it was given to; several may share a store.
    pub agent: String,
    /// When it was asked for, in milliseconds since 1970.
    pub created_ms: i64,
    /// When its status last changed and was kept.
    pub updated_ms: i64,
    /// Counts the times it was kept; who writes says which version it has seen.
    pub version: i64,
    /// Who works at it, and until when that is to be believed without another word.
    pub lease: Option<Lease>,
    pub task: Task,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub runner: String,
    pub until_ms: i64,
}

impl TaskRecord {
    pub fn state(&self) -> TaskState {
        self.task.status.state
    }

    /// Whether whoever worked at it is gone.
    pub(crate) fn is_abandoned(&self, now_ms: i64) -> bool {
        self.state().is_running() && self.lease.as_ref().is_none_or(|it| it.until_ms < now_ms)
    }
}

/// Which tasks of an owner are asked for, newest status first.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    pub context_id: Option<String>,
    pub state: Option<TaskState>,
    /// No older status than this.
    pub since_ms: Option<i64>,
    /// The last task of the page before.
    pub after: Option<TaskCursor>,
    pub limit: usize,
}

/// A task's place in the order of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskCursor {
    pub updated_ms: i64,
    pub id: String,
}

#[derive(Debug, Default)]
pub struct TaskPage {
    pub tasks: Vec<TaskRecord>,
    /// How many fit the filter, whatever the page.
    pub total: u64,
}

/// Notices of one owner that may wait; more are not kept.
pub const PENDING_NOTIFICATIONS_MAX: usize = 1_000;

/// Something that a webhook has not been told yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PushNotification {
    pub agent: String,
    pub owner: String,
    /// Whom to tell, as it is set now.
    pub push: PushConfig,
    /// The version of the task that it came with, and its place in that change.
    pub version: i64,
    pub part: i64,
    pub json: String,
    /// How often it was tried in vain.
    pub tries: u32,
}

/// What a look for notices finds.
#[derive(Debug, Clone, PartialEq)]
pub enum NextNotification {
    /// This one is ours until the lease ends.
    Due(Box<PushNotification>),
    /// None yet; the next one may be brought at this time.
    Later(i64),
    Nothing,
}

/// Keeps tasks and the addresses where their owners want to be told of them.
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// Keeps a task, in place of the version `replaces`, or as a new one. False where the store has
    /// another version by now. Once this returns, the task survives a crash, and with it the news
    /// for each of its webhooks, unless [`PENDING_NOTIFICATIONS_MAX`] of the owner's wait already.
    async fn put(
        &self,
        record: &TaskRecord,
        replaces: Option<i64>,
        events: &[String],
    ) -> Result<bool, Fault>;

    async fn get(&self, agent: &str, owner: &str, id: &str) -> Result<Option<TaskRecord>, Fault>;

    async fn list(&self, agent: &str, owner: &str, filter: &TaskFilter) -> Result<TaskPage, Fault>;

    /// Says that the task is still worked at. False where the store no longer has that version.
    async fn renew(&self, record: &TaskRecord, lease: &Lease) -> Result<bool, Fault>;

    /// Running tasks whose lease ended before `now_ms`, of one owner or of all.
    async fn abandoned(
        &self,
        agent: &str,
        owner: Option<&str>,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, Fault>;

    /// Forgets the oldest tasks of an owner until `keep` are left. Running ones stay.
    async fn delete_oldest(&self, agent: &str, owner: &str, keep: usize) -> Result<(), Fault>;

    /// Forgets every task whose status is older, unless somebody works at it.
    async fn delete_older(&self, agent: &str, updated_ms: i64) -> Result<(), Fault>;

    /// Adds or replaces one configuration of a task of the owner's.
    async fn put_push_config(
        &self,
        agent: &str,
        owner: &str,
        push: &PushConfig,
    ) -> Result<(), Fault>;

    /// The configurations of a task, in the order of their ids.
    async fn push_configs(
        &self,
        agent: &str,
        owner: &str,
        task: &str,
    ) -> Result<Vec<PushConfig>, Fault>;

    async fn delete_push_config(
        &self,
        agent: &str,
        owner: &str,
        task: &str,
        id: &str,
    ) -> Result<(), Fault>;

    /// The notice that has waited longest, taken until `lease_ms`. Notices of one task to one
    /// webhook come in their order, each when the one before is done. Owners who are busy wait.
    async fn next_notification(
        &self,
        now_ms: i64,
        lease_ms: i64,
        busy: &[String],
    ) -> Result<NextNotification, Fault>;

    /// It has been told.
    async fn notification_delivered(&self, notification: &PushNotification) -> Result<(), Fault>;

    /// It was tried in vain, and is due again at `due_ms`.
    async fn notification_failed(
        &self,
        notification: &PushNotification,
        due_ms: i64,
    ) -> Result<(), Fault>;

    /// Forgets everything that waits for the notice's task and webhook, and says how much it was.
    async fn drop_notifications(&self, notification: &PushNotification) -> Result<u64, Fault>;
}
