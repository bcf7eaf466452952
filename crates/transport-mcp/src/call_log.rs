//! Log messages about a client's own calls, for clients that ask for them: by `logging/setLevel` in a
//! session of the older protocol, by `_meta` of a request in the newer one.
#![allow(deprecated, reason = "the newer protocol discourages logging, and clients still use it")]

use std::time::Duration;

use contract::CallOutcome;
use fault::Kind;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestMethod, SetLevelRequestParams,
};
use rmcp::service::RequestContext as Cx;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::server::McpServer;

impl McpServer {
    /// `logging/setLevel`, for the rest of the session.
    pub(crate) fn set_log_level(
        &self,
        request: &SetLevelRequestParams,
        cx: &Cx<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_modern(cx) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.log_level.lock() = Some(request.level);
        Ok(())
    }

    /// The least severe level that a request's client wants; `None` if it wants no messages.
    fn wanted_level(&self, cx: &Cx<RoleServer>) -> Option<LoggingLevel> {
        if is_modern(cx) { cx.meta.log_level() } else { *self.log_level.lock() }
    }

    /// Sends a message about the end of a call: what was called, how it ended and how long it took.
    /// Arguments and results are not in it.
    pub(crate) async fn log_call(
        &self,
        tool: &str,
        outcome: &CallOutcome,
        took: Duration,
        cx: &Cx<RoleServer>,
    ) {
        let Some(least) = self.wanted_level(cx) else { return };
        let (level, message) = described(tool, outcome, took);
        if severity(level) < severity(least) {
            return;
        }
        let message = LoggingMessageNotificationParam::new(level, message).with_logger("stoa");
        if let Err(error) = cx.peer.notify_logging_message(message).await {
            tracing::trace!(%error, "a log message could not be sent");
        }
    }
}

/// Whether the request is of the 2026 protocol, which has no sessions.
fn is_modern(cx: &Cx<RoleServer>) -> bool {
    cx.protocol_version().is_some_and(|version| !version.has_initialize())
}

fn described(tool: &str, outcome: &CallOutcome, took: Duration) -> (LoggingLevel, Value) {
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    match outcome {
        Ok(_) => (
            LoggingLevel::Info,
            json!({ "tool": tool, "outcome": "ok", "duration_ms": duration_ms }),
        ),
        Err(failure) => {
            let level = match failure.kind {
                Kind::Internal => LoggingLevel::Error,
                Kind::Cancelled => LoggingLevel::Info,
                _ => LoggingLevel::Warning,
            };
            let message = json!({ "tool": tool, "outcome": failure.code,
                "duration_ms": duration_ms,
                "retry_after_s": failure.retry_after.map(|wait| wait.as_secs_f64()) });
            (level, message)
        }
    }
}

const fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
