//! Which JSON-RPC messages a client without a valid credential may send to `/mcp`: calls of tools
//! that need no token (such as `auth`) or carry their own. A client whose token has expired may also
//! begin, so that it can ask for a new one.

use contract::{Pipeline, Scope, ToolRef};
use fault::Fault;
use serde_json::Value;

/// Whether a message is allowed although its credential was refused with `fault`. A call that
/// carries a credential of its own is allowed, because its contract checks that one.
pub(crate) fn is_allowed(pipeline: &Pipeline, fault: &Fault, message: &[u8]) -> bool {
    let Ok(message) = serde_json::from_slice::<Value>(message) else { return false };
    let params = &message["params"];
    let has_token = params["_meta"]["auth"].get("token").is_some();
    match message["method"].as_str().unwrap_or_default() {
        "ping" | "notifications/initialized" => true,
        // A host asks its user to sign in when discovery is refused, not when a call is. A new
        // session may evict another, so only a client whose token has expired may open one.
        "server/discover" | "tools/list" | "initialize" => fault.code() == "token_expired",
        "tools/call" => has_token || needs_no_header(pipeline, params),
        "tasks/get" | "tasks/update" | "tasks/cancel" => has_token,
        _ => false,
    }
}

/// The tool that a message calls with the credential of its request; `None` for every other message
/// and for a tool that needs no credential.
pub(crate) fn called_tool<'a>(
    pipeline: &'a Pipeline,
    service: Option<&str>,
    message: &[u8],
) -> Option<&'a ToolRef> {
    let message: Value = serde_json::from_slice(message).ok()?;
    let params = &message["params"];
    if message["method"] != "tools/call" || params["_meta"]["auth"].get("token").is_some() {
        return None;
    }
    let tool = pipeline.catalog().find(service, params["name"].as_str()?)?;
    let argument = tool.service().access.credential_argument.as_ref();
    let is_given = argument.is_some_and(|name| params["arguments"].get(name).is_some());
    (!is_given && tool.row().scope != Scope::Open).then_some(tool)
}

/// Whether a call is of an open tool, or carries its credential in an argument.
fn needs_no_header(pipeline: &Pipeline, params: &Value) -> bool {
    let name = params["name"].as_str().unwrap_or_default();
    let Some(tool) = pipeline.catalog().find(None, name) else { return false };
    let argument = tool.service().access.credential_argument.as_ref();
    let is_given = argument.is_some_and(|name| params["arguments"].get(name).is_some());
    is_given || tool.row().scope == Scope::Open
}
