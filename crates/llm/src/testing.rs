//! Models for tests: one at a loopback port that serves both APIs and can misbehave, and one in the
//! process that replies from a script.

mod loopback;
mod scripted;
mod wire_format;

pub use loopback::{LoopbackProvider, ReceivedRequest};
pub use scripted::ScriptedModel;
use serde_json::{Map, Value};

use crate::{ModelReply, StopReason, TokenUsage, ToolCall};

/// The loopback model's response to one request.
#[derive(Debug, Clone)]
pub enum ScriptedResponse {
    /// A valid reply, whole or as a stream, in the API of the request.
    Reply(ModelReply),
    /// A refusal with the provider's error body and this code.
    Fail { status: u16, code: String, message: String, retry_after: Option<String> },
    /// Exactly these bytes.
    Raw { status: u16, content_type: String, body: Vec<u8> },
    /// Reads the request and never answers.
    Silent,
    /// Sends this many bytes of a good answer and then nothing more.
    Stall(ModelReply, usize),
    /// Sends this many bytes of a good answer and drops the connection.
    Cut(ModelReply, usize),
}

impl ScriptedResponse {
    pub fn text(text: &str) -> Self {
        Self::Reply(reply(text, Vec::new()))
    }

    /// Calls tools, each with its arguments, which must be an object.
    pub fn tool_calls(calls: &[(&str, Value)]) -> Self {
        Self::Reply(reply("", tool_calls(calls)))
    }

    pub fn error(status: u16, code: &str) -> Self {
        let message = format!("no luck: {code}");
        Self::Fail { status, code: code.to_owned(), message, retry_after: None }
    }
}

/// A reply with plausible token counts.
pub fn reply(text: &str, tool_calls: Vec<ToolCall>) -> ModelReply {
    let stop = if tool_calls.is_empty() { StopReason::End } else { StopReason::ToolCalls };
    let usage = TokenUsage { input_tokens: 11, output_tokens: 7, estimated: false };
    ModelReply { text: text.to_owned(), tool_calls, stop, usage }
}

/// Calls with ids `call_0`, `call_1` and so on. Arguments that are no object become an empty one.
pub fn tool_calls(calls: &[(&str, Value)]) -> Vec<ToolCall> {
    let call = |(at, (name, arguments)): (usize, &(&str, Value))| ToolCall {
        id: format!("call_{at}"),
        name: (*name).to_owned(),
        arguments: arguments.as_object().cloned().unwrap_or_else(Map::new),
    };
    calls.iter().enumerate().map(call).collect()
}
