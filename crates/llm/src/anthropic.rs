//! Anthropic's wire format: Messages with blocks of content, whole or as a stream that ends with
//! `message_stop`.
//!
//! A piece of a stream:
//! `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::{AttemptFailure, ProviderError};
use crate::reply_builder::{ReplyBuilder, other};
use crate::{ChatMessage, ModelRequest, StopReason, Tool, ToolChoice};

pub(crate) const VERSION: &str = "2023-06-01";

pub(crate) fn body(request: &ModelRequest, model: &str, output: u32, stream: bool) -> Value {
    let (system, messages) = messages(&request.messages);
    let mut body = json!({"model": model, "max_tokens": output, "messages": messages});
    if !system.is_empty() {
        body["system"] = json!(system);
    }
    if let Some(temperature) = request.temperature {
        // Anthropic's range of temperatures ends at 1, that of other providers at 2.
        body["temperature"] = json!(temperature.min(1.0));
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        body["tool_choice"] = match &request.tool_choice {
            ToolChoice::Auto => json!({"type": "auto"}),
            ToolChoice::Required => json!({"type": "any"}),
            ToolChoice::None => json!({"type": "none"}),
            ToolChoice::Named(name) => json!({"type": "tool", "name": name}),
        };
    }
    if stream {
        body["stream"] = json!(true);
    }
    body
}

fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema})
}

/// System texts are a field of their own, and roles must alternate, so the results of one turn's
/// calls form one message.
fn messages(messages: &[ChatMessage]) -> (String, Vec<Value>) {
    let mut system: Vec<&str> = Vec::new();
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            ChatMessage::System(text) => {
                system.push(text);
                continue;
            }
            ChatMessage::User(text) => ("user", text_block(text)),
            ChatMessage::Assistant { text, tool_calls } => {
                let mut blocks = text_block(text);
                blocks.extend(tool_calls.iter().map(|it| {
                    json!({"type": "tool_use", "id": it.id, "name": it.name, "input": it.arguments})
                }));
                ("assistant", blocks)
            }
            ChatMessage::ToolResult { call_id, content, failed } => {
                let mut block =
                    json!({"type": "tool_result", "tool_use_id": call_id, "content": content});
                if *failed {
                    block["is_error"] = json!(true);
                }
                ("user", vec![block])
            }
        };
        match turns.last_mut() {
            Some((last, earlier)) if *last == role => earlier.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    let turns = turns.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    let turns = turns.map(|(role, blocks)| json!({"role": role, "content": blocks})).collect();
    (system.join("\n\n"), turns)
}

/// The API refuses empty blocks.
fn text_block(text: &str) -> Vec<Value> {
    if text.trim().is_empty() { Vec::new() } else { vec![json!({"type": "text", "text": text})] }
}

#[derive(Debug, Deserialize)]
struct MessageBody {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    content: Vec<ContentBlock>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Option<TokenCounts>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentBlock {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Default, Deserialize)]
struct TokenCounts {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece {
    MessageStart {
        message: Start,
    },
    ContentBlockStart {
        index: u64,
        content_block: ContentBlock,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        delta: End,
        #[serde(default)]
        usage: Option<TokenCounts>,
    },
    MessageStop,
    Error {
        error: ProviderError,
    },
    /// Pings, and event types added later.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Start {
    #[serde(default)]
    usage: Option<TokenCounts>,
}

#[derive(Debug, Deserialize)]
struct End {
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: String },
    #[serde(other)]
    Other,
}

/// A whole answer.
pub(crate) fn read(body: &[u8], builder: &mut ReplyBuilder) -> Result<(), AttemptFailure> {
    let answer: MessageBody = serde_json::from_slice(body).map_err(|_| not_understood())?;
    match answer.kind.as_str() {
        "message" => {}
        "error" => return Err(ProviderError::from_body(body).amid_success(builder.key.as_ref())),
        _ => return Err(not_understood()),
    }
    for (index, block) in answer.content.into_iter().enumerate() {
        open(index as u64, block, builder)?;
        builder.close(index as u64)?;
    }
    count(answer.usage, builder);
    builder.stop = answer.stop_reason.as_deref().map(stop);
    builder.ended = true;
    Ok(())
}

/// The data of one event.
pub(crate) fn event(data: &str, builder: &mut ReplyBuilder) -> Result<(), AttemptFailure> {
    match serde_json::from_str(data).map_err(|_| not_understood())? {
        Piece::MessageStart { message } => count(message.usage, builder),
        Piece::ContentBlockStart { index, content_block } => open(index, content_block, builder)?,
        Piece::ContentBlockDelta { index, delta } => match delta {
            Delta::Text { text } => builder.add_text(&text)?,
            Delta::Input { partial_json } => {
                builder.call(Some(index), None, None, &partial_json)?;
            }
            Delta::Other => {}
        },
        Piece::ContentBlockStop { index } => builder.close(index)?,
        Piece::MessageDelta { delta, usage } => {
            count(usage, builder);
            if let Some(reason) = delta.stop_reason {
                builder.stop = Some(stop(&reason));
            }
        }
        Piece::MessageStop => builder.ended = true,
        Piece::Error { error } => return Err(error.amid_success(builder.key.as_ref())),
        Piece::Other => {}
    }
    Ok(())
}

fn not_understood() -> AttemptFailure {
    AttemptFailure::bad("it is not a message")
}

fn open(index: u64, block: ContentBlock, builder: &mut ReplyBuilder) -> Result<(), AttemptFailure> {
    match block {
        ContentBlock::Text { text } => builder.add_text(&text),
        ContentBlock::ToolUse { id, name, input } => {
            // A stream opens with an empty object and sends the real one in pieces.
            let empty = input.is_null() || input.as_object().is_some_and(serde_json::Map::is_empty);
            let arguments = if empty { String::new() } else { input.to_string() };
            builder.call(Some(index), Some(&id), Some(&name), &arguments)
        }
        ContentBlock::Other => Ok(()),
    }
}

/// The counts cover the whole message so far; a count that is left out keeps its value.
fn count(usage: Option<TokenCounts>, builder: &mut ReplyBuilder) {
    let Some(usage) = usage else { return };
    if let Some(input) = usage.input_tokens {
        let cached = [usage.cache_creation_input_tokens, usage.cache_read_input_tokens];
        let cached = cached.into_iter().flatten().fold(0_u64, u64::saturating_add);
        builder.input_tokens = Some(input.saturating_add(cached));
    }
    builder.output_tokens = usage.output_tokens.or(builder.output_tokens);
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::End,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refused,
        word => other(word),
    }
}
