//! The tool table over the Model Context Protocol: streamable HTTP and stdio, both eras of it.
//!
//! One handler serves any [`contract::Catalog`] through the [`contract::Pipeline`]; nothing here
//! knows a service. Listening, TLS, rate counting and reading the environment are the server's.

mod answer;
mod completion;
pub mod conformance;
mod context;
mod cursor;
mod http;
mod keepalive;
mod line_transport;
mod listing;
mod progress;
mod resource_templates;
mod resources;
mod server;
mod sessions;
mod stdio;
mod strangers;
mod subscriptions;
mod tasks;

pub use http::{HttpOptions, router};
/// Standard input and output as pipes that can be waited for: the ordinary ones read on a thread
/// that nothing can wake, so a process that is told to stop would wait for one more line.
pub use rmcp::transport::stdio_pipes;
pub use server::{McpServer, ServerOptions};
pub use stdio::{LINE_BYTES_MAX, serve_stdio};
pub use strangers::is_for_strangers;
