//! HTTP: the tools, streams and files that contracts bind to paths, the operators' pages, and the
//! edge that every request of every mounted transport passes.
//!
//! Routes come from the contracts' HTTP bindings; no service adds one by hand.

mod addresses;
mod answer_memory;
mod asyncapi;
mod body;
mod challenge;
mod client_address;
mod connection_slots;
mod disabled;
mod docs;
mod download;
mod drain;
mod edge;
mod encode;
#[doc(hidden)]
pub mod fuzzing;
mod hosts;
mod json_scan;
mod large_answer;
mod mounted;
mod openapi;
mod origin;
mod overload;
mod path;
mod query;
mod rate_limit;
mod refusal;
mod request_memory;
mod request_meta;
mod rest;
mod router;
mod serve;
mod socket_handoff;
mod stream;
mod system;
#[cfg(test)]
mod test_server;
mod upload;

pub use body::{BodyLimits, IncomingBody};
pub use challenge::{AuthorizationChallenge, PROTECTED_RESOURCE_PATH, public_origin};
pub use client_address::TrustedProxies;
pub use connection_slots::ConnectionCount;
pub use disabled::disabled_routes;
pub use edge::{EdgeConfig, with_edge};
pub use hosts::{AllowedHosts, is_loopback};
pub use json_scan::find_string;
pub use mounted::{
    BodyHandling, EdgeRoute, MountedRoutes, OriginCheck, RefusalForm, RefusalResponder,
    ToolEndpoint,
};
pub use refusal::Refusal;
pub use request_memory::{
    HeldMemory, INLINE_PARSE_BYTES, JsonCost, RequestMemory, SMALL_BODY_BYTES,
};
pub use request_meta::{fresh_request_id, request_meta};
pub use router::router;
pub use serve::{Limits, serve};
pub use stream::{ClientLimits, StreamOptions, WsLimits};
pub use system::{MetricsFormat, ServerHealth, ServerHealthProbe, SystemPages};
