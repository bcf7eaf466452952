//! The OpenAI-compatible spelling: chat completions with tools, whole or as a stream that ends
//! with `data: [DONE]`.
//!
//! A piece of a stream:
//! `{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],"usage":null}`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::draft::{Draft, other};
use crate::failure::{ErrorWords, Failure};
use crate::{Message, Request, Stop, Tool, ToolCall, ToolChoice};

pub(crate) fn body(request: &Request, model: &str, host: &str, output: u32, stream: bool) -> Value {
    let mut body = json!({
        "model": model,
        "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
    });
    // The newer word is the only one some of its author's models take, and unknown elsewhere.
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

fn message(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant { text, tool_calls } if tool_calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, tool_calls } => {
            let content = (!text.is_empty()).then_some(text);
            let calls: Vec<Value> = tool_calls.iter().map(call).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::ToolResult { call_id, content, failed } => {
            // There is no field for it, so that the text has to say it.
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
struct Answer {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Option<ErrorWords>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    #[serde(default)]
    index: u32,
    #[serde(default, alias = "delta")]
    message: Option<Said>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Said {
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
struct Tokens {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

/// A whole answer.
pub(crate) fn read(body: &[u8], draft: &mut Draft) -> Result<(), Failure> {
    let answer: Answer = serde_json::from_slice(body).map_err(|_| not_understood())?;
    if answer.error.is_none() && answer.choices.as_ref().is_none_or(Vec::is_empty) {
        return Err(Failure::bad("it has no choices"));
    }
    take(answer, draft, true)?;
    draft.ended = true;
    Ok(())
}

/// The data of one event.
pub(crate) fn event(data: &str, draft: &mut Draft) -> Result<(), Failure> {
    if data.trim() == "[DONE]" {
        draft.ended = true;
        return Ok(());
    }
    take(serde_json::from_str(data).map_err(|_| not_understood())?, draft, false)
}

fn not_understood() -> Failure {
    Failure::bad("it is not a chat completion")
}

fn take(answer: Answer, draft: &mut Draft, whole: bool) -> Result<(), Failure> {
    if let Some(words) = answer.error {
        return Err(words.amid_success(draft.key.as_ref()));
    }
    if let Some(usage) = answer.usage {
        draft.input_tokens = Some(usage.prompt_tokens);
        draft.output_tokens = Some(usage.completion_tokens);
    }
    // One choice is asked for; whatever else comes is not mixed into it.
    for choice in answer.choices.unwrap_or_default().into_iter().filter(|it| it.index == 0) {
        let mut refused = false;
        if let Some(said) = choice.message {
            draft.say(said.content.as_deref().unwrap_or_default())?;
            if let Some(refusal) = said.refusal.filter(|it| !it.is_empty()) {
                refused = true;
                draft.say(&refusal)?;
            }
            for (at, piece) in said.tool_calls.unwrap_or_default().into_iter().enumerate() {
                let number = if whole { Some(at as u64) } else { piece.index };
                let (name, arguments) =
                    piece.function.map_or((None, None), |it| (it.name, it.arguments));
                let arguments = arguments.as_deref().unwrap_or_default();
                draft.call(number, piece.id.as_deref(), name.as_deref(), arguments)?;
            }
        }
        if refused {
            draft.stop = Some(Stop::Refused);
        } else if let Some(reason) = choice.finish_reason
            && draft.stop != Some(Stop::Refused)
        {
            draft.stop = Some(stop(&reason));
        }
    }
    Ok(())
}

fn stop(reason: &str) -> Stop {
    match reason {
        "stop" => Stop::End,
        "tool_calls" | "function_call" => Stop::ToolCalls,
        "length" => Stop::Length,
        "content_filter" => Stop::Refused,
        word => other(word),
    }
}
