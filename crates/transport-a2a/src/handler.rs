//! The protocol's operations, whatever binding they came by. Every one of them begins at the authenticator
//! and reaches only the caller's own tasks.

mod list;
mod push_configs;
mod send;

use std::sync::Arc;
use std::time::Duration;

use contract::{Authenticator, RequestMeta};
use http::HeaderMap;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::task::TaskTracker;

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
/// How long a cancelled task may take to stop.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// How much is kept and taken for each caller.
#[derive(Debug, Clone, Copy)]
pub struct TaskLimits {
    /// Tasks kept for one owner; the oldest make room.
    pub tasks_max: usize,
    /// Tasks of one owner that are worked at at once, in this process.
    pub running_max: usize,
    /// Tasks of all owners that are worked at at once, in this process.
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
    pub(crate) tools: TaskContext,
    pub(crate) tasks: TaskTracker,
    pub(crate) live_tasks: LiveTasks,
    pub(crate) limiter: TaskLimiter,
}

/// Somebody who came through the authenticator.
pub(crate) struct AuthenticatedCaller {
    pub(crate) owner: String,
    pub(crate) meta: RequestMeta,
}

/// What a message came to at first.
pub(crate) enum SendOutcome {
    Message(Box<Message>),
    Task(Box<TaskSubscription>),
}

/// A task and all that happens to it from here on.
pub(crate) struct TaskSubscription {
    pub(crate) live: Arc<LiveTask>,
    pub(crate) task: Task,
    pub(crate) events: broadcast::Receiver<Arc<StreamEvent>>,
}

impl RequestHandler {
    /// The name under which the store keeps this agent's tasks.
    fn name(&self) -> &str {
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
        Ok(AuthenticatedCaller { owner: caller.subject.to_string(), meta })
    }

    pub(crate) fn extended_card(&self, headers: &HeaderMap) -> Value {
        self.card.extended(&*self.agent, headers, self.limits.shown())
    }

    /// A task as it is: from those who work at it here, else from the store.
    async fn find(&self, owner: &str, id: &str) -> Result<TaskRecord, A2aError> {
        if !is_name(id) {
            return Err(A2aError::task_not_found(id));
        }
        let live = self.live_tasks.find(owner, id);
        if let Some(live) = live.filter(|live| live.is_running()) {
            return Ok(live.record());
        }
        let kept = self.tools.store.get(self.name(), owner, id).await?;
        let kept = kept.ok_or_else(|| A2aError::task_not_found(id))?;
        match kept.is_abandoned((self.tools.now)()) {
            true => Ok(self.tools.settle(kept).await?),
            false => Ok(kept),
        }
    }

    pub(crate) async fn get(
        &self,
        caller: &AuthenticatedCaller,
        params: &TaskParams,
    ) -> Result<Task, A2aError> {
        let length = history_length(params.history_length)?;
        Ok(self.find(&caller.owner, &params.id).await?.task.with_history(length))
    }

    /// Follows a task that is not over yet.
    pub(crate) async fn subscribe(
        &self,
        caller: &AuthenticatedCaller,
        id: &str,
    ) -> Result<TaskSubscription, A2aError> {
        let record = self.find(&caller.owner, id).await?;
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
        let mut record = self.find(&caller.owner, id).await?;
        let over = || {
            let message = "the task is over and cannot be cancelled";
            A2aError::new(ErrorReason::TaskNotCancelable, message).about_task(id)
        };
        if record.state().is_terminal() {
            return Err(over());
        }
        let live = self.live_tasks.enter(&record);
        if live.is_running() {
            let (task, events) = live.join();
            live.cancel.cancel();
            let settled = TaskSubscription { live, task, events }.settled();
            let task = tokio::time::timeout(CANCEL_TIMEOUT, settled).await.map_err(|_| {
                A2aError::new(ErrorReason::Unavailable, "the task does not stop; ask again shortly")
            })?;
            return match task.status.state {
                TaskState::Canceled => Ok(task),
                _ => Err(over()),
            };
        }
        // Nobody works at it here: whoever does elsewhere finds its version gone.
        let replaces = record.version;
        let canceled = vec![Change::Status(TaskState::Canceled, None)];
        let events = self.tools.apply(&mut record, canceled);
        if !self.tools.store.put(&record, Some(replaces), &serialize_events(&events)).await? {
            return Err(over());
        }
        self.tools.push.wake();
        live.tell(record.clone(), &events);
        Ok(record.task)
    }

    /// Looks whether a task that is worked at elsewhere has changed.
    pub(crate) async fn refresh(&self, live: &LiveTask) {
        let known = live.record();
        match self.find(&known.owner, &known.task.id).await {
            Ok(kept) => live.catch_up(kept),
            Err(error) => tracing::debug!(?error, "a followed task could not be read"),
        }
    }

    /// Settles what others left behind, and forgets what is old.
    pub(crate) async fn sweep(&self, and_forget: bool) {
        const AT_ONCE: usize = 100;
        let now_ms = (self.tools.now)();
        let found = self.tools.store.abandoned(self.name(), None, now_ms, AT_ONCE).await;
        let found = found.unwrap_or_else(|fault| {
            tracing::warn!(%fault, "abandoned tasks could not be looked for");
            Vec::new()
        });
        for record in found {
            if let Err(fault) = self.tools.settle(record).await {
                tracing::warn!(%fault, "an abandoned task could not be settled");
            }
        }
        if and_forget {
            let age_ms = i64::try_from(self.limits.age_max.as_millis()).unwrap_or(i64::MAX);
            let before = now_ms.saturating_sub(age_ms);
            if let Err(fault) = self.tools.store.delete_older(self.name(), before).await {
                tracing::warn!(%fault, "old tasks could not be forgotten");
            }
        }
    }
}

impl TaskSubscription {
    /// Waits until the work is over or waits for the client.
    pub(crate) async fn settled(mut self) -> Task {
        loop {
            if !self.live.record().state().is_running() {
                return self.live.record().task;
            }
            match self.events.recv().await {
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return self.live.record().task,
            }
        }
    }
}

/// Whether a text can be the name of anything here; a database takes no control characters.
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
