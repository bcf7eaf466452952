//! What may be asked where all services are by somebody whose credential does not hold: enough to
//! come to the tools that need none, such as the one that gives out tokens.

use contract::Pipeline;
use fault::Fault;
use serde_json::Value;

/// Whether a message may be heard from somebody who was refused for `fault`. A call that shows a
/// credential of its own is for its contract to judge.
pub fn is_for_strangers(pipeline: &Pipeline, fault: &Fault, message: &[u8]) -> bool {
    let Ok(message) = serde_json::from_slice::<Value>(message) else { return false };
    let params = &message["params"];
    let shows = params["_meta"]["auth"].get("token").is_some();
    match message["method"].as_str().unwrap_or_default() {
        "server/discover" | "tools/list" | "ping" | "notifications/initialized" => true,
        // A new session may take the place of another, so it is for those alone who had a token.
        "initialize" => fault.code() == "token_expired",
        "tools/call" => shows || needs_none(pipeline, params),
        "tasks/get" | "tasks/update" | "tasks/cancel" => shows,
        _ => false,
    }
}

/// Whether a call is of a tool that is for anybody, or has its credential among its arguments.
fn needs_none(pipeline: &Pipeline, params: &Value) -> bool {
    let name = params["name"].as_str().unwrap_or_default();
    let called = pipeline.catalog().find(None, name);
    let argument = called.and_then(|(service, _)| service.access.credential_argument.as_ref());
    let given = argument.is_some_and(|it| params["arguments"].get(it).is_some());
    given || pipeline.is_for_anybody(None, name)
}
