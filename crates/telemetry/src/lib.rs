//! What operators see: logs on stderr with secrets masked, request ids, W3C trace context and
//! Prometheus metrics.
//!
//! It depends on nothing of ours, reads no configuration and never writes to stdout, which belongs
//! to the MCP stdio transport.

mod ids;
mod logs;
mod metrics;
mod process;
mod redact;

pub use ids::{RequestId, TraceContext};
pub use logs::{Guard, LogConfig, LogError, LogFormat, init};
pub use metrics::{
    BuildInfo, Held, Level, METRICS_CONTENT_TYPE, Metrics, OpenStream, RouteMeter, ToolMeter,
    UpstreamMeter,
};
pub use redact::redact;
