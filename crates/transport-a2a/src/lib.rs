//! Agents over the A2A protocol 1.0: cards, messages, tasks, streams and webhooks, as
//! JSON-RPC and as HTTP+JSON.
//!
//! An agent is a tool of a contract that has an `agent` section. A message becomes a call of the
//! tool through the [`contract::Pipeline`]; nothing here knows a service. Tasks are kept behind
//! [`TaskStore`]; listening, rate counting and reading bodies are the server's.

mod agent;
mod bench;
mod card;
pub mod conformance;
mod courier;
mod desk;
mod door;
mod live;
mod memory;
mod problem;
mod push;
mod rest;
mod router;
mod rpc;
mod seats;
mod sse;
mod stamp;
mod store;
mod tool;
mod wire;

pub use courier::HttpCourier;
pub use desk::Limits;
pub use memory::MemoryTasks;
pub use push::Courier;
pub use router::{Options, router};
pub use store::{
    Lease, NOTICES_MAX, Next, Notice, Place, TaskFilter, TaskPage, TaskRecord, TaskStore,
};
pub use wire::{
    Artifact, Message, Part, PushAuthentication, PushConfig, Role, Task, TaskState, TaskStatus,
};
