//! HTTP: the tools, streams and files that contracts bind to paths, the operators' pages, and the
//! edge that every request of every mounted transport passes.
//!
//! Routes come from the contracts' HTTP bindings; no service adds one by hand.

mod addresses;
mod asyncapi;
mod body;
mod connection_slots;
mod disabled;
mod docs;
mod download;
mod edge;
mod encode;
mod hosts;
mod mounted;
mod openapi;
mod overload;
mod path;
mod query;
mod rate_limit;
mod refusal;
mod request_meta;
mod rest;
mod router;
mod serve;
mod socket_handoff;
mod stream;
mod system;
mod upload;

pub use body::BodyLimits;
pub use connection_slots::ConnectionCount;
pub use disabled::disabled_routes;
pub use edge::{EdgeConfig, with_edge};
pub use hosts::AllowedHosts;
pub use mounted::{BodyHandling, EdgeRoute, MountedRoutes, RateLimitRefusal, RateLimitResponder};
pub use refusal::Refusal;
pub use request_meta::{fresh_request_id, request_meta};
pub use router::router;
pub use serve::{Limits, serve};
pub use stream::{ClientLimits, StreamOptions, WsLimits};
pub use system::{ServerHealth, ServerHealthProbe, SystemPages};
