//! Contracts, and the pipeline that every call of every transport takes.
//!
//! Contract files (`contracts/<service>/*.json`) are the only source of schemas. A service binds
//! its handlers to them in a [`Tools`] table, a [`Catalog`] holds the services, and the [`Pipeline`]
//! runs calls. Transports and services depend on this crate and not on each other.

#![warn(missing_docs)]

mod access;
mod address;
mod agent;
mod authenticator;
mod call;
mod catalog;
mod concurrency;
mod cpu_pool;
mod credential_monitor;
mod download;
mod envelope;
mod errors;
mod files;
mod host;
mod host_schema;
mod json_reply;
mod meter;
mod next_step;
mod pipeline;
mod prompt;
mod reply;
mod resource_uri;
mod row_ref;
mod schema;
mod spec;
mod stream;
mod stream_metrics;
mod table;
mod task;
#[cfg(test)]
mod tests;
mod time_fields;
mod transfer;
mod upload;

pub use access::AccessRules;
pub use address::path_parameters;
pub use agent::{AgentSkill, AgentSpec};
pub use authenticator::Authenticator;
pub use call::{
    Call, Caller, Credential, Cx, GrantLimits, Progress, RequestMeta, Scope, VerifiedToken,
};
pub use catalog::{Catalog, ToolRef, View, VisibleTool, host_safe};
pub use concurrency::Concurrency;
pub use cpu_pool::{CpuPool, POOLED_VALUES_MIN};
pub use credential_monitor::ConnectionCredential;
pub use download::Download;
pub use envelope::{CallFailure, Envelope, FailureContext};
pub use errors::{ErrorRow, ErrorTable};
pub use files::{ContractError, file_paths, file_text};
pub use host::{HostSpec, HostTool};
pub use json_reply::JsonReply;
pub use meter::{CallRecord, Meter};
pub use next_step::next_step;
pub use pipeline::{CallOutcome, Pipeline, StreamInput, StreamOutcome};
pub use prompt::{PromptArgumentSpec, PromptSpec};
pub use reply::{HttpReply, LoginChange, Reply};
pub use row_ref::{DownloadRef, RowRef, StreamRef, UploadRef};
pub use schema::Schema;
pub use spec::{
    Contract, ContractDocument, HttpBinding, ResourceSpec, SseBinding, StreamSpec, ToolSpec,
};
pub use stream::{EventFeed, StreamEvent, Subscription};
pub use stream_metrics::StreamMetrics;
pub use table::{DownloadRow, Service, StreamRow, ToolRow, Tools, UploadRow};
pub use task::{JobPhase, JobQuery, JobReport, TaskPhase, TaskReport, TaskSpec};
pub use time_fields::time_ms;
pub use transfer::{DownloadSpec, UploadSpec};
pub use upload::{FilePart, MemoryParts, PartHead, PartSource, Upload, UploadPart};
