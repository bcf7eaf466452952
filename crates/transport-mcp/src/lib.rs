//! The tool table over the Model Context Protocol: streamable HTTP and stdio, both eras of it.
//!
//! One handler serves any [`contract::Catalog`] through the [`contract::Pipeline`]; nothing here
//! knows a service. Listening, TLS, rate counting and reading the environment are the server's.

mod answer;
pub mod conformance;
mod context;
mod cursor;
mod http;
mod lines;
mod listing;
mod progress;
mod server;
mod sessions;
mod stdio;

pub use context::RequestContext;
pub use http::{HttpOptions, router};
pub use server::{McpServer, ServerOptions};
pub use stdio::{LINE_BYTES_MAX, serve_stdio};
