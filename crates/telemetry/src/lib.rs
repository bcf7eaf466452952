//! Logs on stderr with secrets masked, request ids, W3C trace context and Prometheus metrics.
//!
//! It depends on no other crate of the project, reads no configuration and never writes to stdout,
//! because the MCP stdio transport uses stdout.

mod ids;
mod logs;
mod metrics;
mod process;
mod redact;

pub use ids::{RequestId, TraceContext};
pub use logs::{LogConfig, LogError, LogFormat, LogGuard, init};
pub use metrics::{
    BuildInfo, GaugeGuard, GaugeHandle, Metrics, OpenStreamGuard, RouteMeter, ToolMeter,
    UpstreamMeter,
};
pub use redact::redact;
