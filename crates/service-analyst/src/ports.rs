//! The port through which the analyst calls tools. Any other agent can call the same tools.

use async_trait::async_trait;
use contract::Caller;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A tool's answer: its result object and its metadata (freshness).
#[derive(Debug, Clone, Default)]
pub struct ToolAnswer {
    pub result: Value,
    pub meta: Map<String, Value>,
}

/// The reason why a tool gave no answer, safe to show to users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailure {
    pub code: String,
    pub message: String,
}

#[async_trait]
pub trait ToolCaller: Send + Sync {
    /// Calls a tool on behalf of the analyst's caller.
    async fn call(
        &self,
        caller: &Caller,
        tool: &str,
        args: Map<String, Value>,
        cancel: &CancellationToken,
        deadline: Instant,
    ) -> Result<ToolAnswer, ToolFailure>;
}
