//! The Model Context Protocol over streamable HTTP and stdio, versions 2025-11-25 and 2026-07-28.
//!
//! One handler serves any [`contract::Catalog`] through the [`contract::Pipeline`]. Over HTTP the
//! edge of `transport-http` stands in front: it checks host and rate, and this crate authenticates.

mod anonymous;
mod answer;
mod authentication;
mod call_log;
mod completion;
mod confirmation;
#[cfg(feature = "conformance")]
mod conformance;
mod context;
mod cursor;
mod extension;
mod http;
mod keepalive;
mod large_call;
mod line_transport;
mod listing;
mod progress;
mod prompts;
mod resource_templates;
mod resources;
mod server;
mod session_login;
mod session_requests;
mod sessions;
mod stdio;
mod subscriptions;
mod tasks;

use axum::Router;

pub use http::{HttpOptions, router};
/// Standard input and output as cancellable pipes: tokio's own read on a thread that cannot be
/// woken, so a stopping process would wait for one more line.
pub use rmcp::transport::stdio_pipes;
pub use server::{McpServer, ServerOptions};
pub use stdio::{LINE_BYTES_MAX, serve_stdio};

/// The fixtures of the conformance suite at `/mcp`; `None` without the feature `conformance`.
pub fn conformance_fixtures(
    options: &HttpOptions,
) -> Result<Option<Router>, Box<dyn std::error::Error + Send + Sync>> {
    #[cfg(feature = "conformance")]
    return conformance::router(options).map(Some);
    #[cfg(not(feature = "conformance"))]
    {
        _ = options;
        Ok(None)
    }
}
