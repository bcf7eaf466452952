//! Webhooks: the addresses to which the events of a task are delivered.

use super::{AuthenticatedCaller, RequestHandler, is_name};
use crate::error::{A2aError, ErrorReason};
use crate::stamp;
use crate::wire::{PushConfig, PushParams};

const TEXT_CHARS_MAX: usize = 4_096;

impl RequestHandler {
    pub(super) fn check_push_config(&self, push: &PushConfig) -> Result<(), A2aError> {
        self.push_sender.accepts(&push.url)?;
        let secrets = push.authentication.as_ref();
        if !is_name(&push.id) {
            return Err(A2aError::params("id", "up to 256 characters"));
        }
        let texts = [
            ("token", push.token.as_ref()),
            ("authentication.scheme", secrets.map(|it| &it.scheme)),
            ("authentication.credentials", secrets.map(|it| &it.credentials)),
        ];
        for (field, text) in texts {
            // A text that does not fit into a header cannot be sent.
            let fits = |text: &&String| {
                text.chars().count() <= TEXT_CHARS_MAX && !text.chars().any(char::is_control)
            };
            if text.is_some_and(|text| !fits(&text)) {
                return Err(A2aError::params(field, "a line of up to 4096 characters"));
            }
        }
        if secrets.is_some_and(|it| it.scheme.is_empty()) {
            return Err(A2aError::params("authentication.scheme", "the name of a scheme"));
        }
        Ok(())
    }

    /// Gives a webhook an id where it has none, and refuses one that exceeds the limit of its task.
    pub(super) async fn numbered_push_config(
        &self,
        owner: &str,
        mut push: PushConfig,
    ) -> Result<PushConfig, A2aError> {
        if push.id.is_empty() {
            push.id = stamp::fresh_id();
        }
        let known = self.context.store.push_configs(self.name(), owner, &push.task_id).await?;
        let is_new = !known.iter().any(|it| it.id == push.id);
        if is_new && known.len() >= self.limits.webhooks_max {
            let most = self.limits.webhooks_max;
            let message = format!("{most} webhooks are kept for this task already; delete one");
            return Err(A2aError::new(ErrorReason::UnsupportedOperation, message));
        }
        Ok(push)
    }

    pub(crate) async fn create_push_config(
        &self,
        caller: &AuthenticatedCaller,
        push: PushConfig,
    ) -> Result<PushConfig, A2aError> {
        self.find_of(caller, &push.task_id).await?;
        self.check_push_config(&push)?;
        let push = self.numbered_push_config(&caller.owner, push).await?;
        self.context.store.put_push_config(self.name(), &caller.owner, &push).await?;
        Ok(push)
    }

    /// The webhooks of a task without their secrets: all anonymous callers count as one caller, so a
    /// reader need not be the client that set them.
    pub(crate) async fn list_push_configs(
        &self,
        caller: &AuthenticatedCaller,
        task: &str,
    ) -> Result<Vec<PushConfig>, A2aError> {
        self.find_of(caller, task).await?;
        let all = self.context.store.push_configs(self.name(), &caller.owner, task).await?;
        Ok(all.into_iter().map(PushConfig::without_secrets).collect())
    }

    pub(crate) async fn get_push_config(
        &self,
        caller: &AuthenticatedCaller,
        params: &PushParams,
    ) -> Result<PushConfig, A2aError> {
        let all = self.list_push_configs(caller, &params.task_id).await?;
        let found = all.into_iter().find(|push| push.id == params.id);
        found.ok_or_else(|| {
            let message = "the task has no such webhook";
            A2aError::new(ErrorReason::TaskNotFound, message).about_task(&params.task_id)
        })
    }

    /// Deleting a webhook that does not exist succeeds.
    pub(crate) async fn delete_push_config(
        &self,
        caller: &AuthenticatedCaller,
        params: &PushParams,
    ) -> Result<(), A2aError> {
        self.find_of(caller, &params.task_id).await?;
        if !is_name(&params.id) {
            return Ok(());
        }
        let (owner, store) = (&caller.owner, &self.context.store);
        Ok(store.delete_push_config(self.name(), owner, &params.task_id, &params.id).await?)
    }
}
