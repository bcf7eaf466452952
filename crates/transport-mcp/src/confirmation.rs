//! Asks the user before a tool whose contract wants a confirmation, where the client can show the
//! question. A client that cannot is answered as if the tool asked nothing: its host asks by itself.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest,
    ElicitRequestParams, InputRequest, InputRequests, InputRequiredResult,
};
use rmcp::service::RequestContext as Cx;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::context::session_over;
use crate::listing::ListedTool;
use crate::server::McpServer;

/// How long a user of the older protocol has for the answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

/// The key of the question and of its answer.
const KEY: &str = "confirm";

impl McpServer {
    /// `None` if the call goes on; otherwise what it is answered with.
    pub(crate) async fn unconfirmed(
        &self,
        tool: &ListedTool,
        request: &CallToolRequestParams,
        cx: &Cx<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let question = tool.tool_ref.row().spec.host.confirm.as_deref()?;
        let able = cx.client_capabilities().is_some_and(|declared| declared.elicitation.is_some());
        if self.state.listing.is_exact || !able {
            return None;
        }
        let form = form(question, request)?;
        let is_modern = cx.protocol_version().is_some_and(|version| !version.has_initialize());
        let answer = if is_modern {
            let given = request.input_responses.as_ref().and_then(|given| given.get(KEY)).cloned();
            let Some(given) = given else {
                let asked = InputRequest::Elicitation(ElicitRequest::new(form));
                let requests = InputRequests::from_iter([(KEY.to_owned(), asked)]);
                return Some(Ok(InputRequiredResult::new(Some(requests), None).into()));
            };
            given
        } else {
            let asked = tokio::time::timeout(ANSWER_TIMEOUT, cx.peer.create_elicitation(form));
            let answer = tokio::select! {
                answer = asked => answer,
                () = cx.ct.cancelled() => return Some(Err(crate::answer::cancelled())),
                () = session_over(&cx.extensions) => return Some(Err(crate::answer::cancelled())),
            };
            match answer {
                Ok(Ok(answer)) => json!(answer),
                _ => Value::Null,
            }
        };
        (!is_yes(&answer)).then(|| Ok(declined().into()))
    }
}

/// A yes: the form was accepted, and its box was checked.
fn is_yes(answer: &Value) -> bool {
    answer["action"] == "accept" && answer["content"][KEY] == true
}

fn declined() -> CallToolResult {
    let text = "the user did not confirm, so nothing was changed; ask the user before trying again";
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// The question with the texts among the call's arguments, so that the user sees what is asked.
fn form(question: &str, request: &CallToolRequestParams) -> Option<ElicitRequestParams> {
    let mut message = question.to_owned();
    for (name, value) in request.arguments.iter().flatten() {
        let shown: String = value.as_str().unwrap_or_default().chars().take(100).collect();
        message = message.replace(&format!("{{{name}}}"), &shown);
    }
    let schema = json!({ "type": "object", "required": [KEY],
        "properties": { KEY: { "type": "boolean", "title": "Yes, do it" } } });
    serde_json::from_value(json!({ "message": message, "requestedSchema": schema })).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: Value, expected: bool) {
        assert_eq!(is_yes(&answer), expected, "{answer}");
    }

    #[test]
    fn only_an_accepted_and_checked_form_is_a_yes() {
        check(json!({ "action": "accept", "content": { "confirm": true } }), true);
        check(json!({ "action": "accept", "content": { "confirm": false } }), false);
        check(json!({ "action": "accept" }), false);
        check(json!({ "action": "decline", "content": { "confirm": true } }), false);
        check(json!({ "action": "cancel" }), false);
        check(Value::Null, false);
    }

    #[test]
    fn the_question_names_what_is_changed() {
        let request: CallToolRequestParams = serde_json::from_value(json!({ "name": "apply",
            "arguments": { "proposal_id": "p-1", "n": 5 } }))
        .unwrap();
        let form = json!(form("Apply {proposal_id}?", &request).unwrap());
        assert_eq!(form["message"], "Apply p-1?");
    }
}
