//! Agents over the A2A protocol 1.0: cards, messages, tasks, streams and webhooks, as
//! JSON-RPC and as HTTP+JSON.
//!
//! An agent is a tool of a contract that has an `agent` section. A message becomes a call of the
//! tool through the [`contract::Pipeline`]; this crate knows no service. [`TaskStore`] stores the tasks
//! and queues their runs; listening, rate limits and reading bodies are the server's.

mod agent;
mod card;
#[cfg(feature = "conformance")]
mod conformance;
mod edge_refusal;
mod error;
mod handler;
mod http_checks;
mod limiter;
mod live_tasks;
#[cfg(feature = "conformance")]
mod memory_store;
mod push;
mod push_sender;
mod rest;
mod router;
mod rpc;
mod sse;
mod stamp;
mod store;
mod tool_agent;
mod updater;
mod wire;

pub use edge_refusal::{rest_refused, rpc_refused};
pub use handler::TaskLimits;
#[cfg(feature = "conformance")]
pub use memory_store::MemoryTaskStore;
pub use push::PushSender;
pub use push_sender::HttpPushSender;
pub use router::{A2aOptions, router};
pub use store::{
    NextNotification, PENDING_NOTIFICATIONS_MAX, PushNotification, RUN_ATTEMPTS_MAX, RunRequest,
    TaskCursor, TaskFilter, TaskPage, TaskRecord, TaskRun, TaskRunner, TaskStore,
};
pub use wire::{
    Artifact, Message, Part, PushAuthentication, PushConfig, Role, Task, TaskState, TaskStatus,
};

/// The agent of the conformance suite; `None` without the feature `conformance`. It stores its tasks in
/// memory, not in the store of the options.
pub fn conformance_agent(options: A2aOptions) -> Result<Option<axum::Router>, fault::Fault> {
    #[cfg(feature = "conformance")]
    return conformance::router(options).map(Some);
    #[cfg(not(feature = "conformance"))]
    {
        drop(options);
        Ok(None)
    }
}
