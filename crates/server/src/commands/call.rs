//! `stoa call` and `stoa ask`: one tool call from the command line, through the same pipeline as the
//! calls of clients.

mod arguments;

use std::io::Read as _;

use contract::{Call, CallFailure, Reply, ToolRef};
use fault::Kind;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::cli::{AskArgs, CallArgs};
use crate::commands::{names, print};
use crate::config::Config;
use crate::exit::CommandError;

/// The most bytes of arguments or of a question on stdin.
const STDIN_BYTES_MAX: u64 = 16 << 20;
const ANALYST: &str = "ask_market_analyst";

pub(crate) async fn run(args: CallArgs, config: Config) -> Result<(), CommandError> {
    let stdin = match args.arguments.iter().any(|word| word == "-") {
        true => Some(read_stdin()?),
        false => None,
    };
    let app = App::start(&config).await?;
    let reply = match resolve_call(&app, &args, stdin.as_deref()) {
        Ok((tool, arguments)) => call(&app, &config, &tool, arguments, args.text).await,
        Err(error) => Err(error),
    };
    app.stop().await;
    let reply = reply?;
    match args.text {
        true => print(&reply.text()),
        false => print(&pretty(&reply.result())),
    }
}

pub(crate) async fn ask(args: AskArgs, config: Config) -> Result<(), CommandError> {
    let question = match args.question.as_slice() {
        [dash] if dash == "-" => read_stdin()?,
        words => words.join(" "),
    };
    let message = json!({ "role": "user", "content": question.trim() });
    let arguments = json!({ "input": { "messages": [message] } });
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let app = App::start(&config).await?;
    let reply = match find_tool(&app, ANALYST) {
        Ok(tool) => call(&app, &config, &tool, arguments, !args.json).await,
        Err(error) => Err(error),
    };
    app.stop().await;
    let reply = reply?;
    match args.json {
        true => print(&pretty(&reply.result())),
        false => print(&reply.text()),
    }
}

/// The tool, and its arguments from the words of the command line.
fn resolve_call(
    app: &App,
    args: &CallArgs,
    stdin: Option<&str>,
) -> Result<(ToolRef, Map<String, Value>), CommandError> {
    let tool = find_tool(app, &args.tool)?;
    let arguments = arguments::parse(&args.arguments, tool.input().json(), stdin);
    let arguments = arguments.map_err(|error| {
        CommandError::usage(format!("{error}; `stoa tools {}` shows its arguments", args.tool))
    })?;
    Ok((tool, arguments))
}

fn find_tool(app: &App, name: &str) -> Result<ToolRef, CommandError> {
    let catalog = app.pipeline.catalog();
    catalog.find(None, name).cloned().ok_or_else(|| names::no_tool(name, catalog))
}

async fn call(
    app: &App,
    config: &Config,
    tool: &ToolRef,
    arguments: Map<String, Value>,
    as_text: bool,
) -> Result<Box<dyn Reply>, CommandError> {
    let mut call = Call::new(arguments);
    call.meta.is_local = true;
    call.meta.credential = app.own_credential(config).await;
    let outcome = app.pipeline.call(tool, call).await;
    outcome.map_err(|failure| match as_text {
        true => CommandError::of_kind(failure.kind, failure_sentence(&failure)),
        false => CommandError::json(failure.kind, pretty(&failure.tool_error)),
    })
}

/// One sentence on a failed call: the contract's message, the wrong fields that the message does not
/// name, and what to do.
fn failure_sentence(failure: &CallFailure) -> String {
    let mut text = error_message(&failure.tool_error);
    let error = &failure.tool_error;
    let details = error.pointer("/error/details").or_else(|| error.get("details"));
    for detail in details.and_then(Value::as_array).into_iter().flatten() {
        if let (Some(field), Some(expected)) =
            (detail["field"].as_str(), detail["expected"].as_str())
            && !text.contains(field)
        {
            text.push_str(&format!("; {field}: expected {expected}"));
        }
    }
    if failure.kind == Kind::Unavailable && !text.contains("stoa doctor") {
        text.push_str("; `stoa doctor` finds the cause");
    }
    text.replace('\n', " ")
}

/// The message in the envelope of a failed call, wherever the contract puts it.
pub(crate) fn error_message(error: &Value) -> String {
    let found = error.get("message").or_else(|| error.get("error")?.get("message"));
    let found = found.or_else(|| error.get("error"));
    found.and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned)
}

fn read_stdin() -> Result<String, CommandError> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(STDIN_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| CommandError::usage(format!("stdin cannot be read: {error}")))?;
    if text.len() as u64 > STDIN_BYTES_MAX {
        let mib_max = STDIN_BYTES_MAX >> 20;
        return Err(CommandError::usage(format!("stdin has more than {mib_max} MiB")));
    }
    Ok(text)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_found_in_every_envelope() {
        for (error, expected) in [
            (json!({ "type": "X", "message": "no" }), "no"),
            (json!({ "error": { "message": "no" } }), "no"),
            (json!({ "ok": false, "error": "no" }), "no"),
            (json!({ "other": 1 }), "{\"other\":1}"),
        ] {
            assert_eq!(error_message(&error), expected);
        }
    }

    #[test]
    fn a_failed_call_is_one_sentence_with_its_fields_and_what_to_do() {
        let failure = |kind: Kind, tool_error: Value| CallFailure {
            kind,
            code: "x",
            http_status: 400,
            retry_after: None,
            http_body: tool_error.clone(),
            tool_error,
            source: None,
        };
        let details = json!([
            { "field": "a", "expected": "a date" }, { "field": "sku", "expected": "text" },
        ]);
        let error = json!({ "error": { "message": "sku: expected\ntext", "details": details } });
        assert_eq!(
            failure_sentence(&failure(Kind::Invalid, error)),
            "sku: expected text; a: expected a date"
        );
        let error = json!({ "message": "the exchange could not be reached" });
        assert_eq!(
            failure_sentence(&failure(Kind::Unavailable, error)),
            "the exchange could not be reached; `stoa doctor` finds the cause"
        );
    }
}
