//! The port between the protocol's tasks and the agents that run them.

use contract::{AgentSpec, Caller, RequestMeta, Scope};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use crate::error::A2aError;
use crate::updater::TaskUpdater;
use crate::wire::{Message, Part, Task};

/// A checked message that is to become a run.
pub(crate) struct AgentRequest<'a> {
    pub(crate) message: &'a Message,
    /// The metadata beside the message.
    pub(crate) metadata: Option<&'a Map<String, Value>>,
    /// The media types the client can read; empty where the client names none.
    pub(crate) output_modes: &'a [String],
    /// Earlier tasks of the same conversation, oldest first.
    pub(crate) earlier: &'a [Task],
    pub(crate) caller: &'a Caller,
    pub(crate) meta: &'a RequestMeta,
}

/// A run that is ready to start. It reports its changes to the updater.
pub(crate) type AgentRun = Box<dyn FnOnce(TaskUpdater) -> BoxFuture<'static, ()> + Send>;

/// A run, and what another process needs to repeat it.
pub(crate) struct PreparedRun {
    pub(crate) run: AgentRun,
    /// JSON for [`Agent::resume`]; absent where the run must not be repeated.
    pub(crate) resume: Option<String>,
}

pub(crate) trait Agent: Send + Sync {
    fn spec(&self) -> &AgentSpec;

    /// The version of the agent's contract.
    fn version(&self) -> &str;

    /// The service whose authenticator checks the callers.
    fn service(&self) -> &str;

    /// The scope that callers need.
    fn scope(&self) -> Scope;

    /// Whether the agent reads the earlier tasks of a conversation.
    fn uses_conversation(&self) -> bool;

    /// A reply to a message that needs no task.
    fn direct_reply(&self, _message: &Message) -> Option<Vec<Part>> {
        None
    }

    /// Refuses a message that the agent cannot handle, before a task is made of it.
    fn prepare(&self, request: &AgentRequest<'_>) -> Result<PreparedRun, A2aError>;

    /// Repeats a run of a process that died. `None` where the agent cannot.
    fn resume(&self, _json: &str) -> Option<AgentRun> {
        None
    }
}
