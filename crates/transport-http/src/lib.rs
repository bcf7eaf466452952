//! HTTP: REST tools, uploads, downloads, server-sent events, WebSocket, the operators' pages, and the
//! edge that every request passes, MCP's included.
//!
//! Routes come from the contracts' HTTP bindings; no service adds a route by hand.

mod addresses;
mod admission;
mod arrival;
mod asyncapi;
mod body;
mod connection_slots;
mod disabled;
mod docs;
mod download;
mod encode;
mod hosts;
mod openapi;
mod overload;
mod path;
mod query;
mod refusal;
mod rest;
mod router;
mod serve;
mod socket_handoff;
mod stream;
mod system;
mod upload;

pub use connection_slots::ConnectionCount;
pub use disabled::disabled_routes;
pub use hosts::AllowedHosts;
pub use router::{Edge, EdgeConfig, router, with_edge};
pub use serve::{Limits, serve};
pub use stream::{ClientLimits, StreamOptions, WsLimits};
pub use system::{ServerHealth, ServerHealthProbe, SystemPages};
pub use upload::paths as upload_paths;
