//! What is promised, and the one path every call takes to have it kept.
//!
//! Contract files (`contracts/<service>/*.json`) are the only source of schemas. A service binds
//! its handlers to them in a [`Tools`] table, a [`Catalog`] holds the tables, and the [`Pipeline`]
//! carries a call through them. Transports and services meet here and nowhere else.

mod access;
mod agent;
mod call;
mod catalog;
mod envelope;
mod files;
mod pipeline;
mod reply;
mod schema;
mod spec;
mod standing;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod turns;

pub use access::AccessRules;
pub use agent::{AgentSkill, AgentSpec};
pub use call::{Arrival, Call, Caller, Credential, Cx, Progress, Reach, Scope};
pub use catalog::{Catalog, Listed, View, host_safe};
pub use envelope::{Envelope, Failure, FailureContext};
pub use files::{ContractError, paths, text};
pub use pipeline::{CallRecord, Gate, Meter, Opened, Outcome, Pipeline, StreamInput};
pub use reply::{HttpReply, Reply};
pub use schema::Schema;
pub use spec::{
    Contract, Document, ErrorRow, ErrorTable, HttpBinding, ResourceSpec, SseBinding, StreamSpec,
    ToolSpec,
};
pub use stream::{Event, EventFeed, Subscription};
pub use table::{Service, StreamRow, ToolRow, Tools};
pub use turns::Concurrency;
