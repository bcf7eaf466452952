//! Encodes outcomes of calls, resources and tasks in the protocol's form.

use contract::{CallFailure, Reply, Schema};
use fault::{Fault, Kind};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, MetaObject};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Our own error codes lie outside -32768..-32000, which JSON-RPC reserves; they equal HTTP statuses.
pub(crate) const RATE_LIMITED: ErrorCode = ErrorCode(429);
const CANCELLED: ErrorCode = ErrorCode(499);
const UNAVAILABLE: ErrorCode = ErrorCode(503);

/// Which text a tool result has beside its structured content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// What the contract promises, which may be the JSON again.
    Exact,
    /// The readable text for models, of bounded size.
    Compact,
}

/// What else the text of a tool result depends on.
#[derive(Debug)]
pub(crate) struct TextOptions {
    pub(crate) form: TextForm,
    /// The same call with a smaller page, for a text that has to be cut.
    pub(crate) smaller_call: Option<String>,
    /// Whether the session keeps a login of this reply, so that its text need not show the token.
    pub(crate) keeps_login: bool,
}

impl From<TextForm> for TextOptions {
    fn from(form: TextForm) -> Self {
        Self { form, smaller_call: None, keeps_login: false }
    }
}

/// The call of a tool with half of its `limit`; `None` for a tool without one. The argument that
/// carries a credential is left out.
pub(crate) fn smaller_call(
    name: &str,
    input: &Value,
    args: Option<&Map<String, Value>>,
    credential: Option<&str>,
) -> Option<String> {
    let rule = input["properties"].get("limit")?;
    let given = args.and_then(|args| args.get("limit")).or_else(|| rule.get("default"));
    let half = given?.as_u64()? / 2;
    let mut args = args.cloned().unwrap_or_default();
    credential.and_then(|name| args.shift_remove(name));
    args.insert("limit".to_owned(), Value::from(half));
    (half > 0).then(|| contract::next_step(name, &Value::Object(args)))
}

/// The name in `_meta` of where data come from.
const SOURCE: &str = "stoa/source";
/// The longest text of a result beside its structured content: about 7,750 tokens of four bytes.
const TEXT_BYTES_MAX: usize = 31_000;

/// The result of a tool call; `output` is the exact schema of the tool.
pub(crate) fn of(
    outcome: Result<CallToolResult, CallFailure>,
    output: &Schema,
) -> Result<CallToolResult, ErrorData> {
    match outcome {
        Ok(result) => Ok(result),
        // The protocol library drops responses to cancelled requests.
        Err(failure) if failure.kind == Kind::Cancelled => Err(cancelled()),
        Err(failure) => Ok(refusal(&failure, output)),
    }
}

pub(crate) fn cancelled() -> ErrorData {
    ErrorData::new(CANCELLED, "the request was cancelled", None)
}

pub(crate) fn success(reply: &dyn Reply, options: &TextOptions) -> CallToolResult {
    let meta = reply.meta();
    let mut blocks = content(reply).unwrap_or_else(|| {
        let text = match (options.form, reply.session_text().filter(|_| options.keeps_login)) {
            (TextForm::Exact, _) => reply.tool_text(),
            (TextForm::Compact, Some(text)) => text.to_owned(),
            (TextForm::Compact, None) => shortened(reply.text(), options.smaller_call.as_deref()),
        };
        vec![ContentBlock::text(text)]
    });
    blocks.extend(reply.images().into_iter().filter_map(|it| serde_json::from_value(it).ok()));
    let mut result = CallToolResult::success(blocks);
    result.structured_content = Some(reply.result());
    result.meta = (!meta.is_empty()).then(|| MetaObject(meta));
    result
}

/// The reply's own content blocks; `None` if it has none, or one that is no block of the protocol.
fn content(reply: &dyn Reply) -> Option<Vec<ContentBlock>> {
    let blocks = reply.content()?.into_iter().map(serde_json::from_value);
    blocks.collect::<Result<_, _>>().ok()
}

/// A text of at most [`TEXT_BYTES_MAX`] bytes and a note, cut at the end of a line. The note names the
/// call that returns a smaller part, if there is one.
fn shortened(text: String, smaller_call: Option<&str>) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let kept = text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or_default();
    let kept = kept.rsplit_once('\n').map_or(kept, |(lines, _)| lines);
    format!(
        "{kept}\n… {} of {} bytes; the rest is in the structured content of this answer{}",
        kept.len(),
        text.len(),
        smaller_call.unwrap_or_default()
    )
}

/// The contract's envelope as text, and also as structured content if it matches the tool's listed
/// output schema: the protocol forbids structured content that does not match.
fn refusal(failure: &CallFailure, output: &Schema) -> CallToolResult {
    let envelope = &failure.tool_error;
    let mut result = CallToolResult::error(vec![ContentBlock::text(envelope.to_string())]);
    let fits = output.check(envelope).is_ok();
    result.structured_content = fits.then(|| envelope.clone());
    let source = failure.source.as_deref();
    let meta = source.map(|source| (SOURCE.to_owned(), Value::from(source)));
    result.meta = meta.map(|meta| MetaObject(Map::from_iter([meta])));
    result
}

pub(crate) fn unknown_tool<'a>(name: &str, near: impl Iterator<Item = &'a str>) -> ErrorData {
    let shown: String = name.chars().take(64).collect();
    let near: Vec<&str> = near.collect();
    let hint = if near.is_empty() { "; see tools/list".to_owned() } else { did_you_mean(&near) };
    ErrorData::invalid_params(format!("unknown tool {shown:?}{hint}"), None)
}

fn did_you_mean(near: &[&str]) -> String {
    format!("; did you mean {}?", near.join(" or "))
}

pub(crate) fn unknown_resource(uri: &str) -> ErrorData {
    let shown: String = uri.chars().take(256).collect();
    let message = format!("there is no resource {shown:?}; see resources/list");
    ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
}

/// A resource that could not be read: the protocol's code, with the contract's envelope as data.
pub(crate) fn failed_resource(uri: &str, failure: &CallFailure) -> ErrorData {
    let shown: String = uri.chars().take(256).collect();
    let code = failure.code;
    let mut data = json!({ "uri": uri, "error": failure.tool_error });
    if let Some(wait) = failure.retry_after {
        data["retry_after_s"] = json!(whole_seconds(wait));
    }
    if let Some(source) = &failure.source {
        data["source"] = json!(source);
    }
    match failure.kind {
        Kind::Invalid | Kind::NotFound => {
            let message = format!("there is no resource {shown:?}: {code}");
            ErrorData::resource_not_found(message, Some(data))
        }
        Kind::Internal => {
            ErrorData::internal_error(format!("the resource {shown:?} failed"), Some(data))
        }
        Kind::Cancelled => cancelled(),
        _ => {
            let message = format!("the resource {shown:?} cannot be had now: {code}");
            ErrorData::new(ErrorCode(i32::from(failure.http_status)), message, Some(data))
        }
    }
}

/// A task that does not exist or belongs to another caller: the error does not tell which, so that
/// guessing ids reveals nothing.
pub(crate) fn unknown_task(id: &str) -> ErrorData {
    let shown: String = id.chars().take(128).collect();
    ErrorData::invalid_params(format!("there is no task {shown:?}"), None)
}

/// A task whose state could not be reported: the protocol's code, with the contract's envelope as
/// data.
pub(crate) fn failed_task(id: &str, failure: Option<&CallFailure>) -> ErrorData {
    let Some(failure) = failure else { return unknown_task(id) };
    let shown: String = id.chars().take(128).collect();
    let data = Some(json!({ "error": failure.tool_error }));
    match (failure.kind, failure.retry_after) {
        _ if failure.code == "task_expired" => {
            ErrorData::invalid_params(format!("the task {shown:?} has expired"), None)
        }
        (Kind::NotFound, _) => unknown_task(id),
        (Kind::RateLimited, Some(wait)) => rate_limited(wait),
        (Kind::Cancelled, _) => cancelled(),
        (Kind::Internal, _) => {
            ErrorData::internal_error(format!("the task {shown:?} cannot be told of"), data)
        }
        _ => {
            let message = format!("the task {shown:?} cannot be told of: {}", failure.code);
            ErrorData::new(ErrorCode(i32::from(failure.http_status)), message, data)
        }
    }
}

pub(crate) fn too_many_subscriptions(max: usize) -> ErrorData {
    let message = format!("{max} resources are subscribed to already; give one up first");
    ErrorData::new(RATE_LIMITED, message, None)
}

/// Whole seconds, rounded up: a client that comes back early is refused again.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

/// The endpoint has no room for another session.
pub(crate) fn sessions_full(wait: Duration) -> ErrorData {
    let seconds = whole_seconds(wait);
    let message = format!("all sessions are taken by other clients; come back in {seconds} s");
    ErrorData::new(UNAVAILABLE, message, Some(json!({ "retry_after_s": seconds })))
}

pub(crate) fn rate_limited(wait: Duration) -> ErrorData {
    let seconds = whole_seconds(wait);
    let message = format!("too many requests; come back in {seconds} s");
    ErrorData::new(RATE_LIMITED, message, Some(json!({ "retry_after_s": seconds })))
}

/// The error of a request that was refused before it reached a method; its code is the HTTP status.
pub(crate) fn refused(status: u16, fault: &Fault) -> ErrorData {
    let retry_after = fault.retry_wait().map(whole_seconds);
    let data = json!({ "code": fault.code(), "retry_after_s": retry_after });
    ErrorData::new(ErrorCode(i32::from(status)), fault.message().to_owned(), Some(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: Value, structured: bool) {
        let output = Schema::compile(output).unwrap();
        let envelope = json!({ "data": [], "error": { "message": "no" } });
        let failure = CallFailure {
            kind: Kind::NotFound,
            code: "unknown_symbol",
            http_status: 404,
            retry_after: None,
            tool_error: envelope.clone(),
            http_body: Value::Null,
            source: Some("simulated".into()),
        };
        let result = refusal(&failure, &output);
        assert_eq!(result.is_error, Some(true));
        assert_eq!(result.meta.unwrap().0["stoa/source"], "simulated");
        assert_eq!(result.structured_content, structured.then_some(envelope));
    }

    #[test]
    fn a_long_text_is_cut_at_a_line_and_says_so() {
        assert_eq!(shortened("short".to_owned(), None), "short");
        let long = "0123456789\n".repeat(TEXT_BYTES_MAX / 10);
        let cut = shortened(long, None);
        assert!(cut.len() < TEXT_BYTES_MAX + 200);
        assert!(cut.contains("0123456789\n… 30"), "{}", &cut[cut.len() - 200..]);
        assert!(shortened("я".repeat(TEXT_BYTES_MAX), None).len() < TEXT_BYTES_MAX + 200);
    }

    #[track_caller]
    fn check_smaller(args: Value, expected: Option<Value>) {
        let input = json!({ "properties": { "limit": { "default": 50 }, "sku": {} } });
        let call = smaller_call("list", &input, args.as_object(), Some("token"));
        let cut = shortened("line\n".repeat(TEXT_BYTES_MAX), call.as_deref());
        let named = cut.lines().find_map(|line| line.strip_prefix("next: list "));
        assert_eq!(named.map(|args| args.parse().unwrap()), expected);
    }

    #[test]
    fn a_text_that_is_cut_names_the_call_with_a_smaller_page() {
        check_smaller(Value::Null, Some(json!({ "limit": 25 })));
        check_smaller(json!({ "sku": "A", "limit": 9 }), Some(json!({ "sku": "A", "limit": 4 })));
        check_smaller(json!({ "token": "t", "limit": 3 }), Some(json!({ "limit": 1 })));
        check_smaller(json!({ "limit": 1 }), None);
        check_smaller(json!({ "limit": "many" }), None);
        assert_eq!(smaller_call("list", &json!({ "properties": {} }), None, None), None);
    }

    #[test]
    fn a_session_that_keeps_the_login_sees_no_token() {
        let reply =
            contract::JsonReply::new(json!({ "token": "t" }), "token t").with_session_text("in");
        for (form, keeps_login, expected) in [
            (TextForm::Compact, true, "in"),
            (TextForm::Compact, false, "token t"),
            (TextForm::Exact, true, "token t"),
        ] {
            let options = TextOptions { keeps_login, ..TextOptions::from(form) };
            let result = success(&reply, &options);
            assert_eq!(result.content[0].as_text().unwrap().text, expected, "{form:?}");
            assert_eq!(result.structured_content.unwrap()["token"], "t");
        }
    }

    #[test]
    fn an_error_is_structured_content_only_if_it_matches_the_output_schema() {
        check(json!({ "required": ["data"], "properties": { "data": { "type": "array" } } }), true);
        check(json!({ "required": ["quotes"] }), false);
        check(json!({ "properties": { "data": { "type": "object" } } }), false);
    }
}
