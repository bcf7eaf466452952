//! Fixtures that send messages while they run: logs, and requests to an older client.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateMessageRequestParams, ElicitRequestParams, LoggingLevel, LoggingMessageNotificationParam,
    SamplingMessage,
};
use rmcp::service::RequestContext as Cx;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

/// The suite checks that messages arrive before the tool ends.
const STEP: Duration = Duration::from_millis(50);

pub(super) fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text.into())])
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn argument<'a>(request: &'a CallToolRequestParams, name: &str) -> &'a str {
    let arguments = request.arguments.as_ref();
    arguments.and_then(|it| it.get(name)).and_then(Value::as_str).unwrap_or_default()
}

pub(super) async fn log(cx: &Cx<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let modern = cx.protocol_version().is_some_and(|version| !version.has_initialize());
    // A newer client gets log messages only for a request that asks for them.
    let wanted = !modern || cx.meta.log_level().is_some();
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        if wanted {
            let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
            cx.peer.notify_logging_message(message).await.map_err(failed)?;
        }
        tokio::time::sleep(STEP).await;
    }
    Ok(text("The work is done.").into())
}

pub(super) async fn sample(
    request: &CallToolRequestParams,
    cx: &Cx<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let prompt = SamplingMessage::user_text(argument(request, "prompt"));
    let asked = CreateMessageRequestParams::new(vec![prompt], 100);
    let answer = cx.peer.create_message(asked).await.map_err(failed)?;
    let response = serde_json::to_value(&answer).map_err(failed)?;
    let text_received =
        response.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
    Ok(text(format!("LLM response: {text_received}")).into())
}

pub(super) async fn elicit(
    mut form: ElicitRequestParams,
    request: &CallToolRequestParams,
    cx: &Cx<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let own = argument(request, "message");
    if let ElicitRequestParams::FormElicitationParams { message, .. } = &mut form
        && !own.is_empty()
    {
        own.clone_into(message);
    }
    let answer = cx.peer.create_elicitation(form).await.map_err(failed)?;
    let response = serde_json::to_string(&answer).map_err(failed)?;
    Ok(text(format!("User response: {response}")).into())
}

pub(super) fn needs_sampling(cx: &Cx<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    if cx.client_capabilities().is_some_and(|declared| declared.sampling.is_some()) {
        return Ok(text("The client offers sampling.").into());
    }
    let needed = ClientCapabilities::builder().enable_sampling().build();
    Err(ErrorData::missing_required_client_capability(needed))
}
