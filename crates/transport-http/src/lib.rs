//! HTTP: the tools and streams that have an address of their own, operators' pages, and the layers
//! that every request passes, MCP's included.
//!
//! Routes come from the contracts' HTTP bindings, so a service adds none by hand. What a tool does
//! is not known here.

mod addresses;
mod admission;
mod arrival;
mod asyncapi;
mod body;
mod docs;
mod download;
mod encode;
mod hosts;
mod off;
mod openapi;
mod outflow;
mod path;
mod patient;
mod place;
mod query;
mod refusal;
mod rest;
mod router;
mod serve;
mod stream;
mod system;
mod turned_away;
mod upload;

pub use hosts::AllowedHosts;
pub use off::switched_off;
pub use place::Connections;
pub use router::{Edge, EdgeConfig, router, with_edge};
pub use serve::{Limits, serve};
pub use stream::{ClientLimits, StreamOptions, WsLimits};
pub use system::{ServerHealth, ServerHealthProbe, SystemPages};
pub use upload::paths as upload_paths;
