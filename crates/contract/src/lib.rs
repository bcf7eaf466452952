//! What is promised, and the one path every call takes to have it kept.
//!
//! Contract files (`contracts/<service>/*.json`) are the only source of schemas. A service binds
//! its handlers to them in a [`Tools`] table, a [`Catalog`] holds the tables, and the [`Pipeline`]
//! carries a call through them. Transports and services meet here and nowhere else.

mod access;
mod address;
mod agent;
mod call;
mod catalog;
mod download;
mod envelope;
mod files;
mod ledger;
mod pipeline;
mod reply;
mod schema;
mod spec;
mod standing;
mod stream;
mod table;
mod task;
#[cfg(test)]
mod tests;
mod transfer;
mod turns;
mod upload;

pub use access::AccessRules;
pub use address::path_parameters;
pub use agent::{AgentSkill, AgentSpec};
pub use call::{Call, Caller, Credential, Cx, GrantLimits, Progress, RequestMeta, Scope};
pub use catalog::{Catalog, Listed, View, host_safe};
pub use download::Download;
pub use envelope::{Envelope, Failure, FailureContext};
pub use files::{ContractError, paths, text};
pub use ledger::Ledger;
pub use pipeline::{Authenticator, CallRecord, Meter, Opened, Outcome, Pipeline, StreamInput};
pub use reply::{HttpReply, Reply};
pub use schema::Schema;
pub use spec::{
    Contract, Document, ErrorRow, ErrorTable, HttpBinding, ResourceSpec, SseBinding, StreamSpec,
    ToolSpec,
};
pub use stream::{Event, EventFeed, Subscription};
pub use table::{DownloadRow, Service, StreamRow, ToolRow, Tools, UploadRow};
pub use task::{Followed, Stage, Task, TaskAsk, TaskRules, TaskStage};
pub use transfer::{DownloadSpec, UploadSpec};
pub use turns::Concurrency;
pub use upload::{FilePart, MemoryParts, Part, PartHead, PartSource, Upload};
