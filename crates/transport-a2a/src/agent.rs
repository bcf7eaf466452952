//! What answers messages: the port between the protocol's tasks and whoever does the work.

use contract::{AgentSpec, RequestMeta, Scope};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use crate::error::A2aError;
use crate::updater::TaskUpdater;
use crate::wire::{Message, Part, Task};

/// A message that has been looked at and may become work.
pub(crate) struct AgentRequest<'a> {
    pub(crate) message: &'a Message,
    /// What came beside the message.
    pub(crate) metadata: Option<&'a Map<String, Value>>,
    /// The media types the client can read; empty where it does not say.
    pub(crate) output_modes: &'a [String],
    /// Earlier tasks of the same conversation, oldest first.
    pub(crate) earlier: &'a [Task],
    pub(crate) meta: &'a RequestMeta,
}

/// AgentRun that is ready to begin. It says at the bench what comes of it.
pub(crate) type AgentRun = Box<dyn FnOnce(TaskUpdater) -> BoxFuture<'static, ()> + Send>;

pub(crate) trait Agent: Send + Sync {
    fn spec(&self) -> &AgentSpec;

    /// The version of what it promises.
    fn version(&self) -> &str;

    /// The service whose authenticator its callers pass, and what they must be allowed to do.
    fn service(&self) -> &str;

    fn scope(&self) -> Scope;

    /// Whether the conversation so far matters to it.
    fn remembers(&self) -> bool;

    /// An answer for which no task is needed.
    fn at_once(&self, _message: &Message) -> Option<Vec<Part>> {
        None
    }

    /// Refuses what cannot be worked at, before a task is made of it.
    fn prepare(&self, ask: &AgentRequest<'_>) -> Result<AgentRun, A2aError>;
}
