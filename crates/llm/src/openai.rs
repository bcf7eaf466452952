//! The OpenAI-compatible wire format: chat completions with tools, whole or as a stream that ends
//! with `data: [DONE]`.
//!
//! A piece of a stream:
//! `{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],"usage":null}`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::{AttemptFailure, ProviderError};
use crate::reply_builder::{ReplyBuilder, other};
use crate::{ChatMessage, ModelRequest, StopReason, Tool, ToolCall, ToolChoice};

pub(crate) fn body(
    request: &ModelRequest,
    model: &str,
    host: &str,
    output: u32,
    stream: bool,
) -> Value {
    let mut body = json!({
        "model": model,
        "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
    });
    // Some OpenAI models accept only the newer field, which other servers do not know.
    let limit = if host == "api.openai.com" { "max_completion_tokens" } else { "max_tokens" };
    body[limit] = json!(output);
    if let Some(temperature) = request.temperature {
        body["temperature"] = json!(temperature);
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        body["tool_choice"] = match &request.tool_choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::Required => json!("required"),
            ToolChoice::None => json!("none"),
            ToolChoice::Named(name) => json!({"type": "function", "function": {"name": name}}),
        };
    }
    if stream {
        body["stream"] = json!(true);
        body["stream_options"] = json!({"include_usage": true});
    }
    body
}

fn message(message: &ChatMessage) -> Value {
    match message {
        ChatMessage::System(text) => json!({"role": "system", "content": text}),
        ChatMessage::User(text) => json!({"role": "user", "content": text}),
        ChatMessage::Assistant { text, tool_calls } if tool_calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        ChatMessage::Assistant { text, tool_calls } => {
            let content = (!text.is_empty()).then_some(text);
            let calls: Vec<Value> = tool_calls.iter().map(call).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        ChatMessage::ToolResult { call_id, content, failed } => {
            // The API has no error field, so the text says that the call failed.
            let content = if *failed { format!("error: {content}") } else { content.clone() };
            json!({"role": "tool", "tool_call_id": call_id, "content": content})
        }
    }
}

fn call(call: &ToolCall) -> Value {
    let arguments = Value::Object(call.arguments.clone()).to_string();
    let function = json!({"name": call.name, "arguments": arguments});
    json!({"id": call.id, "type": "function", "function": function})
}

fn tool(tool: &Tool) -> Value {
    let function = json!({
        "name": tool.name, "description": tool.description, "parameters": tool.schema,
    });
    json!({"type": "function", "function": function})
}

/// An answer or a piece of one; they differ in `message` and `delta`.
#[derive(Debug, Deserialize)]
struct ChatCompletion {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<TokenCounts>,
    #[serde(default)]
    error: Option<ProviderError>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    #[serde(default)]
    index: u32,
    #[serde(default, alias = "delta")]
    message: Option<ChoiceMessage>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ChoiceMessage {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Debug, Deserialize)]
struct CallPiece {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<Function>,
}

#[derive(Debug, Deserialize)]
struct Function {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
}

#[derive(Debug, Deserialize)]
struct TokenCounts {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

/// A whole answer.
pub(crate) fn read(body: &[u8], builder: &mut ReplyBuilder) -> Result<(), AttemptFailure> {
    let answer: ChatCompletion = serde_json::from_slice(body).map_err(|_| not_understood())?;
    if answer.error.is_none() && answer.choices.as_ref().is_none_or(Vec::is_empty) {
        return Err(AttemptFailure::bad("it has no choices"));
    }
    take(answer, builder, true)?;
    builder.ended = true;
    Ok(())
}

/// The data of one event.
pub(crate) fn event(data: &str, builder: &mut ReplyBuilder) -> Result<(), AttemptFailure> {
    if data.trim() == "[DONE]" {
        builder.ended = true;
        return Ok(());
    }
    take(serde_json::from_str(data).map_err(|_| not_understood())?, builder, false)
}

fn not_understood() -> AttemptFailure {
    AttemptFailure::bad("it is not a chat completion")
}

fn take(
    answer: ChatCompletion,
    builder: &mut ReplyBuilder,
    whole: bool,
) -> Result<(), AttemptFailure> {
    if let Some(words) = answer.error {
        return Err(words.amid_success(builder.key.as_ref()));
    }
    if let Some(usage) = answer.usage {
        builder.input_tokens = Some(usage.prompt_tokens);
        builder.output_tokens = Some(usage.completion_tokens);
    }
    // The request asks for one choice; any other choice is ignored.
    for choice in answer.choices.unwrap_or_default().into_iter().filter(|it| it.index == 0) {
        let mut refused = false;
        if let Some(message) = choice.message {
            builder.add_text(message.content.as_deref().unwrap_or_default())?;
            if let Some(refusal) = message.refusal.filter(|it| !it.is_empty()) {
                refused = true;
                builder.add_text(&refusal)?;
            }
            for (at, piece) in message.tool_calls.unwrap_or_default().into_iter().enumerate() {
                let number = if whole { Some(at as u64) } else { piece.index };
                let (name, arguments) =
                    piece.function.map_or((None, None), |it| (it.name, it.arguments));
                let arguments = arguments.as_deref().unwrap_or_default();
                builder.call(number, piece.id.as_deref(), name.as_deref(), arguments)?;
            }
        }
        if refused {
            builder.stop = Some(StopReason::Refused);
        } else if let Some(reason) = choice.finish_reason
            && builder.stop != Some(StopReason::Refused)
        {
            builder.stop = Some(stop(&reason));
        }
    }
    Ok(())
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "stop" => StopReason::End,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "length" => StopReason::Length,
        "content_filter" => StopReason::Refused,
        word => other(word),
    }
}
