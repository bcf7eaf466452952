//! The operations of the protocol, for both bindings. Each one authenticates its caller first and
//! reaches only the caller's own tasks.

mod list;
mod push_configs;
mod run;
mod send;

use std::sync::Arc;
use std::time::Duration;

use contract::{Authenticator, Caller, RequestMeta};
use http::HeaderMap;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::task::TaskTracker;

pub(crate) use run::{PreparedRuns, RunDispatcher};

use crate::agent::Agent;
use crate::card::CardBuilder;
use crate::error::{A2aError, ErrorReason};
use crate::limiter::TaskLimiter;
use crate::live_tasks::{LiveTask, LiveTasks, StreamEvent};
use crate::push::{PushSender, serialize_events};
use crate::store::TaskRecord;
use crate::updater::{Change, TaskContext};
use crate::wire::{Message, Task, TaskParams, TaskState};

const NAME_CHARS_MAX: usize = 256;
/// How often a task that does not run in this process is read from the store.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Lost tasks that one sweep fails.
const SWEEP_MAX: usize = 100;
/// How often a cancellation is tried while the task changes.
const CANCEL_ATTEMPTS_MAX: usize = 3;
/// How long a cancelled task may take to stop.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// The limits of each caller.
#[derive(Debug, Clone, Copy)]
pub struct TaskLimits {
    /// Tasks kept for one owner; the oldest make room.
    pub tasks_max: usize,
    /// Tasks of one owner that run at once in this process.
    pub running_max: usize,
    /// Tasks of all owners that run at once in this process.
    pub running_all_max: usize,
    /// Messages kept with one task; the oldest make room.
    pub history_max: usize,
    /// The size of one message as JSON.
    pub message_bytes_max: usize,
    pub webhooks_max: usize,
    /// How long a task is kept after its last change.
    pub age_max: Duration,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            tasks_max: 1_000,
            running_max: 16,
            running_all_max: 64,
            history_max: 100,
            message_bytes_max: 128 * 1024,
            webhooks_max: 10,
            age_max: Duration::from_secs(30 * 24 * 3600),
        }
    }
}

impl TaskLimits {
    fn shown(&self) -> Map<String, Value> {
        let json = json!({ "tasksMax": self.tasks_max, "runningMax": self.running_max,
            "runningAllMax": self.running_all_max,
            "historyMax": self.history_max, "messageBytesMax": self.message_bytes_max,
            "webhooksMax": self.webhooks_max, "ageMaxSeconds": self.age_max.as_secs() });
        json.as_object().cloned().unwrap_or_default()
    }
}

/// One agent behind its operations.
pub(crate) struct RequestHandler {
    pub(crate) agent: Box<dyn Agent>,
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) card: CardBuilder,
    pub(crate) limits: TaskLimits,
    pub(crate) push_sender: Arc<dyn PushSender>,
    pub(crate) context: TaskContext,
    pub(crate) tasks: TaskTracker,
    pub(crate) live_tasks: LiveTasks,
    pub(crate) limiter: TaskLimiter,
    /// Runs that were submitted here and not started yet.
    pub(crate) prepared: PreparedRuns,
}

/// A caller whose credential and scope were checked.
pub(crate) struct AuthenticatedCaller {
    pub(crate) owner: String,
    pub(crate) caller: Caller,
    pub(crate) meta: RequestMeta,
}

/// The first result of a message.
pub(crate) enum SendOutcome {
    Message(Box<Message>),
    Task(Box<TaskSubscription>),
}

/// A task and its later events.
pub(crate) struct TaskSubscription {
    pub(crate) live: Arc<LiveTask>,
    pub(crate) task: Task,
    pub(crate) events: broadcast::Receiver<Arc<StreamEvent>>,
}

impl RequestHandler {
    /// The name under which the store holds this agent's tasks.
    pub(crate) fn name(&self) -> &str {
        self.agent.service()
    }

    pub(crate) async fn enter(&self, meta: RequestMeta) -> Result<AuthenticatedCaller, A2aError> {
        let caller =
            self.authenticator.authenticate(&meta.credential, self.agent.service()).await?;
        let scope = self.agent.scope();
        if !caller.may(scope) {
            let message = format!(
                "this agent needs the scope {:?}, which this credential does not have",
                scope.as_str()
            );
            return Err(A2aError::new(ErrorReason::Forbidden, message));
        }
        Ok(AuthenticatedCaller { owner: caller.subject.to_string(), caller, meta })
    }

    pub(crate) fn extended_card(&self, headers: &HeaderMap) -> Value {
        self.card.extended(&*self.agent, headers, self.limits.shown())
    }

    /// The newest version of a task: from the run in this process, else from the store.
    async fn find(&self, owner: &str, id: &str) -> Result<TaskRecord, A2aError> {
        if !is_name(id) {
            return Err(A2aError::task_not_found(id));
        }
        let live = self.live_tasks.find(owner, id);
        if let Some(live) = live.filter(|live| live.is_running()) {
            return Ok(live.record());
        }
        let stored = self.context.store.get(self.name(), owner, id).await?;
        let stored = stored.ok_or_else(|| A2aError::task_not_found(id))?;
        match stored.lost {
            true => Ok(self.context.fail_lost(stored).await?),
            false => Ok(stored),
        }
    }

    /// The newest version of a caller's task. A caller with an invalid token is anonymous here, and
    /// gets the token's fault instead: the task may be that of the token's subject.
    async fn find_of(
        &self,
        caller: &AuthenticatedCaller,
        id: &str,
    ) -> Result<TaskRecord, A2aError> {
        let found = self.find(&caller.owner, id).await;
        if found.is_err() && caller.meta.credential.token().is_some() {
            self.authenticator.verify(&caller.meta.credential).await?;
        }
        found
    }

    pub(crate) async fn get(
        &self,
        caller: &AuthenticatedCaller,
        params: &TaskParams,
    ) -> Result<Task, A2aError> {
        let length = history_length(params.history_length)?;
        Ok(self.find_of(caller, &params.id).await?.task.with_history(length))
    }

    /// Follows a task that is not over yet.
    pub(crate) async fn subscribe(
        &self,
        caller: &AuthenticatedCaller,
        id: &str,
    ) -> Result<TaskSubscription, A2aError> {
        let record = self.find_of(caller, id).await?;
        let live = self.live_tasks.enter(&record);
        live.catch_up(record);
        let (task, events) = live.join();
        if task.status.state.is_terminal() {
            let message = "the task is over; there is nothing to follow";
            return Err(A2aError::new(ErrorReason::UnsupportedOperation, message).about_task(id));
        }
        Ok(TaskSubscription { live, task, events })
    }

    pub(crate) async fn cancel(
        &self,
        caller: &AuthenticatedCaller,
        id: &str,
    ) -> Result<Task, A2aError> {
        let over = || {
            let message = "the task is over and cannot be cancelled";
            A2aError::new(ErrorReason::TaskNotCancelable, message).about_task(id)
        };
        // A queued task may change its version by starting to run between the reading and the write.
        for _ in 0..CANCEL_ATTEMPTS_MAX {
            let record = self.find_of(caller, id).await?;
            if record.state().is_terminal() {
                return Err(over());
            }
            let live = self.live_tasks.enter(&record);
            if live.is_running() {
                return self.cancel_running(live).await?.ok_or_else(over);
            }
            if let Some(task) = self.cancel_stored(&live, record).await? {
                return Ok(task);
            }
        }
        Err(over())
    }

    /// Cancels a task that runs in this process. `None` where it ended otherwise.
    async fn cancel_running(&self, live: Arc<LiveTask>) -> Result<Option<Task>, A2aError> {
        let (task, events) = live.join();
        live.cancel.cancel();
        let settled = TaskSubscription { live, task, events }.settled(self);
        let task = tokio::time::timeout(CANCEL_TIMEOUT, settled).await.map_err(|_| {
            A2aError::new(ErrorReason::Unavailable, "the task does not stop; ask again shortly")
        })?;
        Ok((task.status.state == TaskState::Canceled).then_some(task))
    }

    /// Cancels a task that is queued, waits for the client or runs in another process; that process
    /// finds that its run is stopped. `None` where the task has changed.
    async fn cancel_stored(
        &self,
        live: &LiveTask,
        mut record: TaskRecord,
    ) -> Result<Option<Task>, A2aError> {
        let replaces = record.version;
        let canceled = vec![Change::Status(TaskState::Canceled, None)];
        let events = self.context.apply(&mut record, canceled);
        if !self.context.store.put(&record, replaces, &serialize_events(&events)).await? {
            return Ok(None);
        }
        self.prepared.remove(&record.task.id);
        self.context.push.wake();
        live.publish(record.clone(), &events);
        Ok(Some(record.task))
    }

    /// Reads a task that does not run in this process and publishes its changes.
    pub(crate) async fn refresh(&self, live: &LiveTask) {
        let known = live.record();
        match self.find(&known.owner, &known.task.id).await {
            Ok(stored) => live.catch_up(stored),
            Err(error) => tracing::debug!(?error, "a followed task could not be read"),
        }
    }

    /// Fails lost tasks and, where `delete_old` says so, deletes tasks older than the limit.
    pub(crate) async fn sweep(&self, delete_old: bool) {
        let lost = self.context.store.lost(self.name(), None, SWEEP_MAX).await;
        let lost = lost.unwrap_or_else(|fault| {
            tracing::warn!(%fault, "lost tasks could not be read");
            Vec::new()
        });
        for record in lost {
            if let Err(fault) = self.context.fail_lost(record).await {
                tracing::warn!(%fault, "a lost task could not be failed");
            }
        }
        self.drop_prepared_elsewhere().await;
        if delete_old {
            let age_ms = i64::try_from(self.limits.age_max.as_millis()).unwrap_or(i64::MAX);
            let before = (self.context.now)().saturating_sub(age_ms);
            if let Err(fault) = self.context.store.delete_older(self.name(), before).await {
                tracing::warn!(%fault, "old tasks could not be deleted");
            }
        }
    }
}

impl TaskSubscription {
    /// Waits until the task is over or waits for the client. A task that does not run in this
    /// process is read from the store every second.
    pub(crate) async fn settled(mut self, handler: &RequestHandler) -> Task {
        loop {
            let record = self.live.record();
            if !record.state().is_running() {
                return record.task;
            }
            tokio::select! {
                event = self.events.recv() => if matches!(event, Err(RecvError::Closed)) {
                    return self.live.record().task;
                },
                () = tokio::time::sleep(POLL_INTERVAL) => if !self.live.is_running() {
                    handler.refresh(&self.live).await;
                },
            }
        }
    }
}

/// Whether a text can be an id; a database accepts no control characters.
pub(crate) fn is_name(text: &str) -> bool {
    text.chars().count() <= NAME_CHARS_MAX && !text.chars().any(char::is_control)
}

/// `historyLength` as a number of messages.
pub(crate) fn history_length(params: Option<i64>) -> Result<Option<usize>, A2aError> {
    params
        .map(|length| {
            usize::try_from(length).map_err(|_| A2aError::params("historyLength", "zero or more"))
        })
        .transpose()
}
