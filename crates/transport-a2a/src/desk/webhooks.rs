//! The addresses where a client wants to be told of its task.

use super::{Desk, Visitor, is_name};
use crate::problem::{Problem, Reason};
use crate::stamp;
use crate::wire::{PushConfig, PushParams};

const TEXT_CHARS_MAX: usize = 4_096;

impl Desk {
    pub(super) fn check_webhook(&self, push: &PushConfig) -> Result<(), Problem> {
        self.courier.accepts(&push.url)?;
        let secrets = push.authentication.as_ref();
        if !is_name(&push.id) {
            return Err(Problem::params("id", "up to 256 characters"));
        }
        let texts = [
            ("token", push.token.as_ref()),
            ("authentication.scheme", secrets.map(|it| &it.scheme)),
            ("authentication.credentials", secrets.map(|it| &it.credentials)),
        ];
        for (field, text) in texts {
            // What does not fit a header could never be sent.
            let fits = |text: &&String| {
                text.chars().count() <= TEXT_CHARS_MAX && !text.chars().any(char::is_control)
            };
            if text.is_some_and(|text| !fits(&text)) {
                return Err(Problem::params(field, "a line of up to 4096 characters"));
            }
        }
        if secrets.is_some_and(|it| it.scheme.is_empty()) {
            return Err(Problem::params("authentication.scheme", "the name of a scheme"));
        }
        Ok(())
    }

    pub(super) async fn keep_webhook(
        &self,
        owner: &str,
        mut push: PushConfig,
    ) -> Result<PushConfig, Problem> {
        if push.id.is_empty() {
            push.id = stamp::fresh_id();
        }
        let store = &self.tools.store;
        let known = store.pushes(self.name(), owner, &push.task_id).await?;
        let fresh = !known.iter().any(|it| it.id == push.id);
        if fresh && known.len() >= self.limits.webhooks_max {
            let most = self.limits.webhooks_max;
            let message = format!("{most} webhooks are kept for this task already; delete one");
            return Err(Problem::new(Reason::UnsupportedOperation, message));
        }
        store.put_push(self.name(), owner, &push).await?;
        Ok(push)
    }

    pub(crate) async fn create_webhook(
        &self,
        visitor: &Visitor,
        push: PushConfig,
    ) -> Result<PushConfig, Problem> {
        self.find(&visitor.owner, &push.task_id).await?;
        self.check_webhook(&push)?;
        self.keep_webhook(&visitor.owner, push).await
    }

    pub(crate) async fn webhooks(
        &self,
        visitor: &Visitor,
        task: &str,
    ) -> Result<Vec<PushConfig>, Problem> {
        self.find(&visitor.owner, task).await?;
        Ok(self.tools.store.pushes(self.name(), &visitor.owner, task).await?)
    }

    pub(crate) async fn webhook(
        &self,
        visitor: &Visitor,
        asked: &PushParams,
    ) -> Result<PushConfig, Problem> {
        let all = self.webhooks(visitor, &asked.task_id).await?;
        let found = all.into_iter().find(|push| push.id == asked.id);
        found.ok_or_else(|| {
            let message = "the task has no such webhook";
            Problem::new(Reason::TaskNotFound, message).about_task(&asked.task_id)
        })
    }

    /// Deleting what is not there is as good as deleting it.
    pub(crate) async fn delete_webhook(
        &self,
        visitor: &Visitor,
        asked: &PushParams,
    ) -> Result<(), Problem> {
        self.find(&visitor.owner, &asked.task_id).await?;
        if !is_name(&asked.id) {
            return Ok(());
        }
        let (owner, store) = (&visitor.owner, &self.tools.store);
        Ok(store.delete_push(self.name(), owner, &asked.task_id, &asked.id).await?)
    }
}
