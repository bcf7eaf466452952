//! The protocol's operations, whatever binding they came by. Every one of them begins at the authenticator
//! and reaches only the caller's own tasks.

mod begin;
mod list;
mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use contract::{Authenticator, RequestMeta};
use http::HeaderMap;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::task::TaskTracker;

use crate::agent::Agent;
use crate::bench::{Change, Tools};
use crate::card::Shop;
use crate::live::{Hub, Live, News};
use crate::problem::{Problem, Reason};
use crate::push::{Courier, news};
use crate::seats::Seats;
use crate::store::TaskRecord;
use crate::wire::{Message, Task, TaskParams, TaskState};

const NAME_CHARS_MAX: usize = 256;
/// How long a cancelled task may take to stop.
const CANCEL_PATIENCE: Duration = Duration::from_secs(5);

/// How much is kept and taken for each caller.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
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

impl Default for Limits {
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

impl Limits {
    fn shown(&self) -> Map<String, Value> {
        let json = json!({ "tasksMax": self.tasks_max, "runningMax": self.running_max,
            "runningAllMax": self.running_all_max,
            "historyMax": self.history_max, "messageBytesMax": self.message_bytes_max,
            "webhooksMax": self.webhooks_max, "ageMaxSeconds": self.age_max.as_secs() });
        json.as_object().cloned().unwrap_or_default()
    }
}

/// One agent behind its operations.
pub(crate) struct Desk {
    pub(crate) agent: Box<dyn Agent>,
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) shop: Shop,
    pub(crate) limits: Limits,
    pub(crate) courier: Arc<dyn Courier>,
    pub(crate) tools: Tools,
    pub(crate) tasks: TaskTracker,
    pub(crate) hub: Hub,
    pub(crate) seats: Seats,
}

/// Somebody who came through the authenticator.
pub(crate) struct Visitor {
    pub(crate) owner: String,
    pub(crate) arrival: RequestMeta,
}

/// What a message came to at first.
pub(crate) enum Begun {
    Message(Box<Message>),
    Task(Box<Watch>),
}

/// A task and all that happens to it from here on.
pub(crate) struct Watch {
    pub(crate) live: Arc<Live>,
    pub(crate) task: Task,
    pub(crate) news: broadcast::Receiver<Arc<News>>,
}

impl Desk {
    /// The name under which the store keeps this agent's tasks.
    fn name(&self) -> &str {
        self.agent.service()
    }

    pub(crate) async fn enter(&self, arrival: RequestMeta) -> Result<Visitor, Problem> {
        let caller =
            self.authenticator.authenticate(&arrival.credential, self.agent.service()).await?;
        if let Some(wait) = arrival.retry_after_rate {
            let message = "too many requests; wait before the next one";
            let mut problem = Problem::new(Reason::RateLimited, message);
            problem.retry_after = Some(wait);
            return Err(problem);
        }
        let scope = self.agent.scope();
        if !caller.may(scope) {
            let message = format!(
                "this agent needs the scope {:?}, which this credential does not have",
                scope.as_str()
            );
            return Err(Problem::new(Reason::Forbidden, message));
        }
        Ok(Visitor { owner: caller.subject.to_string(), arrival })
    }

    pub(crate) fn extended_card(&self, headers: &HeaderMap) -> Value {
        self.shop.extended(&*self.agent, headers, self.limits.shown())
    }

    /// A task as it is: from those who work at it here, else from the store.
    async fn find(&self, owner: &str, id: &str) -> Result<TaskRecord, Problem> {
        if !is_name(id) {
            return Err(Problem::task_not_found(id));
        }
        let live = self.hub.find(owner, id);
        if let Some(live) = live.filter(|live| live.is_running()) {
            return Ok(live.record());
        }
        let kept = self.tools.store.get(self.name(), owner, id).await?;
        let kept = kept.ok_or_else(|| Problem::task_not_found(id))?;
        match kept.is_abandoned((self.tools.now)()) {
            true => Ok(self.tools.settle(kept).await?),
            false => Ok(kept),
        }
    }

    pub(crate) async fn get(&self, visitor: &Visitor, asked: &TaskParams) -> Result<Task, Problem> {
        let length = history_length(asked.history_length)?;
        Ok(self.find(&visitor.owner, &asked.id).await?.task.with_history(length))
    }

    /// Follows a task that is not over yet.
    pub(crate) async fn subscribe(&self, visitor: &Visitor, id: &str) -> Result<Watch, Problem> {
        let record = self.find(&visitor.owner, id).await?;
        let live = self.hub.enter(&record);
        live.catch_up(record);
        let (task, news) = live.join();
        if task.status.state.is_terminal() {
            let message = "the task is over; there is nothing to follow";
            return Err(Problem::new(Reason::UnsupportedOperation, message).about_task(id));
        }
        Ok(Watch { live, task, news })
    }

    pub(crate) async fn cancel(&self, visitor: &Visitor, id: &str) -> Result<Task, Problem> {
        let mut record = self.find(&visitor.owner, id).await?;
        let over = || {
            let message = "the task is over and cannot be cancelled";
            Problem::new(Reason::TaskNotCancelable, message).about_task(id)
        };
        if record.state().is_terminal() {
            return Err(over());
        }
        let live = self.hub.enter(&record);
        if live.is_running() {
            let (task, news) = live.join();
            live.cancel.cancel();
            let settled = Watch { live, task, news }.settled();
            let task = tokio::time::timeout(CANCEL_PATIENCE, settled).await.map_err(|_| {
                Problem::new(Reason::Unavailable, "the task does not stop; ask again shortly")
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
        if !self.tools.store.put(&record, Some(replaces), &news(&events)).await? {
            return Err(over());
        }
        self.tools.push.wake();
        live.tell(record.clone(), &events);
        Ok(record.task)
    }

    /// Looks whether a task that is worked at elsewhere has changed.
    pub(crate) async fn refresh(&self, live: &Live) {
        let known = live.record();
        match self.find(&known.owner, &known.task.id).await {
            Ok(kept) => live.catch_up(kept),
            Err(problem) => tracing::debug!(?problem, "a followed task could not be read"),
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
            if let Err(fault) = self.tools.store.forget_before(self.name(), before).await {
                tracing::warn!(%fault, "old tasks could not be forgotten");
            }
        }
    }
}

impl Watch {
    /// Waits until the work is over or waits for the client.
    pub(crate) async fn settled(mut self) -> Task {
        loop {
            if !self.live.record().state().is_running() {
                return self.live.record().task;
            }
            match self.news.recv().await {
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
pub(crate) fn history_length(asked: Option<i64>) -> Result<Option<usize>, Problem> {
    asked
        .map(|length| {
            usize::try_from(length).map_err(|_| Problem::params("historyLength", "zero or more"))
        })
        .transpose()
}
