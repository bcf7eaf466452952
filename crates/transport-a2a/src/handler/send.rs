//! From a message to a queued run: the message is checked, a task is created or continued, and stored
//! with its run.

use std::sync::Arc;

use super::run::SubmittedRun;
use super::{
    AuthenticatedCaller, RequestHandler, SendOutcome, TaskSubscription, history_length, is_name,
};
use crate::agent::{AgentRequest, PreparedRun};
use crate::error::{A2aError, ErrorReason};
use crate::limiter::TaskPermit;
use crate::stamp;
use crate::store::{RunRequest, TaskFilter, TaskRecord};
use crate::updater::{Change, agent_message};
use crate::wire::{Message, Part, PushConfig, Role, SendParams, Task, TaskState, TaskStatus};

const PARTS_MAX: usize = 64;
/// The most earlier tasks of a conversation that an agent is given.
const EARLIER_MAX: usize = 10;

/// A task that is about to be stored: new, or in place of a version of itself.
struct PreparedTask {
    record: TaskRecord,
    replaces: Option<i64>,
}

impl RequestHandler {
    /// Accepts a message. The subscription begins before the run does.
    pub(crate) async fn send(
        self: &Arc<Self>,
        caller: &AuthenticatedCaller,
        params: SendParams,
    ) -> Result<SendOutcome, A2aError> {
        let SendParams { mut message, configuration, metadata } = params;
        let configuration = configuration.unwrap_or_default();
        drop_empty_names(&mut message);
        self.check(&message)?;
        history_length(configuration.history_length)?;
        let push = configuration.task_push_notification_config;
        if let Some(push) = &push {
            self.check_push_config(push)?;
        }
        if let Some(parts) = self.agent.direct_reply(&message) {
            let context = message.context_id.unwrap_or_else(stamp::fresh_id);
            return Ok(SendOutcome::Message(Box::new(agent_message("", &context, parts))));
        }
        let permit = self.limiter.take(&caller.owner)?;
        let mut ready = self.ready(caller, &message).await?;
        let earlier = self.earlier(caller, &ready.record.task).await?;
        let run = self.agent.prepare(&AgentRequest {
            message: &message,
            metadata: metadata.as_ref(),
            output_modes: configuration.accepted_output_modes.as_deref().unwrap_or_default(),
            earlier: &earlier,
            caller: &caller.caller,
            meta: &caller.meta,
        })?;
        self.remember(&mut ready.record, message);
        // Spawned, so that a client that disconnects now does not interrupt the submission.
        let handler = Arc::clone(self);
        let submitted =
            self.tasks.spawn(async move { handler.submit(ready, run, push, permit).await });
        let stopped = |_| A2aError::new(ErrorReason::Unavailable, "the server is stopping");
        Ok(SendOutcome::Task(Box::new(submitted.await.map_err(stopped)??)))
    }

    fn check(&self, message: &Message) -> Result<(), A2aError> {
        if message.role != Role::User {
            return Err(A2aError::params("message.role", "ROLE_USER"));
        }
        let id = &message.message_id;
        if id.is_empty() || !is_name(id) {
            return Err(A2aError::params("message.messageId", "1 to 256 characters"));
        }
        let context = message.context_id.as_deref().unwrap_or_default();
        if !is_name(context) {
            return Err(A2aError::params("message.contextId", "up to 256 characters"));
        }
        if message.parts.is_empty() || message.parts.len() > PARTS_MAX {
            return Err(A2aError::params("message.parts", "1 to 64 parts"));
        }
        for (at, part) in message.parts.iter().enumerate() {
            if contents(part) != 1 {
                let field = format!("message.parts[{at}]");
                return Err(A2aError::params(&field, "exactly one of text, raw, url and data"));
            }
        }
        let size = serde_json::to_vec(message).map_or(usize::MAX, |json| json.len());
        if size > self.limits.message_bytes_max {
            let most = self.limits.message_bytes_max;
            return Err(A2aError::params("message", format!("at most {most} bytes of JSON")));
        }
        Ok(())
    }

    /// The task that a message names, or a new one.
    async fn ready(
        &self,
        caller: &AuthenticatedCaller,
        message: &Message,
    ) -> Result<PreparedTask, A2aError> {
        let Some(id) = &message.task_id else {
            return Ok(PreparedTask { record: self.new_task(caller, message), replaces: None });
        };
        let mut record = self.find_of(caller, id).await?;
        let context = message.context_id.as_ref();
        if context.is_some_and(|context| *context != record.task.context_id) {
            return Err(A2aError::params("message.contextId", "the context of the task"));
        }
        let cannot =
            |why: &str| Err(A2aError::new(ErrorReason::UnsupportedOperation, why).about_task(id));
        match record.state() {
            state if state.is_terminal() => {
                cannot("the task is over and takes no more messages; begin another in its context")
            }
            state if state.is_running() => cannot("the task is under way; wait until it is over"),
            _ => {
                let replaces = Some(record.version);
                self.context.apply(&mut record, vec![Change::Status(TaskState::Submitted, None)]);
                Ok(PreparedTask { record, replaces })
            }
        }
    }

    fn new_task(&self, caller: &AuthenticatedCaller, message: &Message) -> TaskRecord {
        let now_ms = (self.context.now)();
        let context = message.context_id.clone().unwrap_or_else(stamp::fresh_id);
        let timestamp = stamp::format_ms(now_ms);
        let status = TaskStatus { state: TaskState::Submitted, message: None, timestamp };
        TaskRecord {
            owner: caller.owner.clone(),
            agent: self.name().to_owned(),
            created_ms: now_ms,
            updated_ms: now_ms,
            version: 1,
            lost: false,
            task: Task {
                id: stamp::fresh_id(),
                context_id: context,
                status,
                artifacts: None,
                history: None,
            },
        }
    }

    /// Earlier tasks of the conversation, oldest first, and the task itself where it goes on.
    async fn earlier(
        &self,
        caller: &AuthenticatedCaller,
        task: &Task,
    ) -> Result<Vec<Task>, A2aError> {
        if !self.agent.uses_conversation() {
            return Ok(Vec::new());
        }
        let filter = TaskFilter {
            context_id: Some(task.context_id.clone()),
            limit: EARLIER_MAX,
            ..TaskFilter::default()
        };
        let page = self.context.store.list(self.name(), &caller.owner, &filter).await?;
        let mut tasks: Vec<Task> = page.tasks.into_iter().map(|record| record.task).collect();
        tasks.reverse();
        Ok(tasks)
    }

    fn remember(&self, record: &mut TaskRecord, mut message: Message) {
        message.task_id = Some(record.task.id.clone());
        message.context_id = Some(record.task.context_id.clone());
        let history = record.task.history.get_or_insert_default();
        history.push(message);
        history.drain(..history.len().saturating_sub(self.limits.history_max));
    }

    /// Stores the task with its run and its webhook, and subscribes to it.
    async fn submit(
        &self,
        ready: PreparedTask,
        run: PreparedRun,
        push: Option<PushConfig>,
        permit: TaskPermit,
    ) -> Result<TaskSubscription, A2aError> {
        let PreparedTask { record, replaces } = ready;
        let id = record.task.id.clone();
        let push = match push {
            Some(push) => {
                let push = PushConfig { task_id: id.clone(), ..push };
                Some(self.numbered_push_config(&record.owner, push).await?)
            }
            None => None,
        };
        let live = self.live_tasks.enter(&record);
        live.keep_permit(permit);
        // A new task is shown as it was submitted, even if its run starts at once.
        let first = replaces.is_none().then(|| live.join());
        // Inserted before the task is stored, because its run may start as soon as it is.
        let PreparedRun { run, resume } = run;
        let version = record.version;
        self.prepared
            .insert(&id, SubmittedRun { run, live: Arc::clone(&live), version, swept: false });
        let request = RunRequest { resume, push };
        let stored = self.context.store.submit(&record, replaces, &request).await;
        if !matches!(stored, Ok(true)) {
            self.prepared.remove(&id);
            live.stop();
        }
        if !stored? {
            let message = "the task has changed meanwhile; look at it and try again";
            let error = A2aError::new(ErrorReason::UnsupportedOperation, message);
            return Err(error.about_task(&id));
        }
        if replaces.is_none() {
            let keep = self.limits.tasks_max;
            self.context.store.delete_oldest(self.name(), &record.owner, keep).await?;
        }
        live.catch_up(record);
        let (task, events) = first.unwrap_or_else(|| live.join());
        Ok(TaskSubscription { live, task, events })
    }
}

/// Protobuf writes an absent name as an empty one.
fn drop_empty_names(message: &mut Message) {
    message.context_id.take_if(|it| it.is_empty());
    message.task_id.take_if(|it| it.is_empty());
}

fn contents(part: &Part) -> usize {
    usize::from(part.text.is_some())
        + usize::from(part.raw.is_some())
        + usize::from(part.url.is_some())
        + usize::from(part.data.is_some())
}
