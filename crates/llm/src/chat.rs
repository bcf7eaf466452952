//! Messages, tools and replies, independent of any provider's wire format.

use fault::Fault;
use serde_json::{Map, Value};

use crate::{Budget, SizeLimits};

/// The longest tool name that both providers accept.
const TOOL_NAME_CHARS_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub enum ChatMessage {
    System(String),
    User(String),
    Assistant {
        text: String,
        tool_calls: Vec<ToolCall>,
    },
    /// The result of a tool call that the assistant made.
    ToolResult {
        call_id: String,
        content: String,
        failed: bool,
    },
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// A JSON schema of an object.
    pub schema: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// An object that may not match the tool's schema.
    pub arguments: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    #[default]
    Auto,
    /// The model must call a tool.
    Required,
    /// The model must not call a tool.
    None,
    Named(String),
}

#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub messages: Vec<ChatMessage>,
    pub tools: Vec<Tool>,
    pub tool_choice: ToolChoice,
    /// The provider's default where absent; some models accept no other value.
    pub temperature: Option<f32>,
    pub output_tokens_max: u32,
    /// Clones share one budget.
    pub budget: Budget,
}

impl ModelRequest {
    pub fn new(messages: Vec<ChatMessage>, budget: &Budget) -> Self {
        Self {
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            temperature: None,
            output_tokens_max: 4_096,
            budget: budget.clone(),
        }
    }

    #[must_use]
    pub fn tools(mut self, tools: Vec<Tool>) -> Self {
        self.tools = tools;
        self
    }

    pub(crate) fn check(&self, bounds: &SizeLimits) -> Result<(), Fault> {
        let refuse = |field: String, expected: &str| {
            Err(Fault::invalid("llm_bad_request", "the request to the model is not valid")
                .problem(field, expected))
        };
        if !self.messages.iter().any(|it| !matches!(it, ChatMessage::System(_))) {
            return refuse("messages".to_owned(), "at least one that is not a system message");
        }
        if self.output_tokens_max == 0 {
            return refuse("output_tokens_max".to_owned(), "at least 1");
        }
        if self.temperature.is_some_and(|it| !(0.0..=2.0).contains(&it)) {
            return refuse("temperature".to_owned(), "a number from 0 to 2");
        }
        for (at, tool) in self.tools.iter().enumerate() {
            let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
            let length = tool.name.len();
            if length == 0 || length > TOOL_NAME_CHARS_MAX || !tool.name.chars().all(plain) {
                return refuse(
                    format!("tools[{at}].name"),
                    "1 to 64 letters, digits, underscores and hyphens",
                );
            }
        }
        if self.bytes() > bounds.request_bytes_max {
            let expected = format!("at most {} bytes of text", bounds.request_bytes_max);
            return refuse("messages".to_owned(), &expected);
        }
        Ok(())
    }

    /// The approximate size of the text; schemas and arguments count as JSON.
    pub(crate) fn bytes(&self) -> usize {
        let calls = |calls: &[ToolCall]| -> usize {
            calls.iter().map(|it| it.name.len() + written(&it.arguments)).sum()
        };
        let messages = self.messages.iter().map(|message| match message {
            ChatMessage::System(text) | ChatMessage::User(text) => text.len(),
            ChatMessage::Assistant { text, tool_calls } => text.len() + calls(tool_calls),
            ChatMessage::ToolResult { content, .. } => content.len(),
        });
        let tools = self
            .tools
            .iter()
            .map(|it| it.name.len() + it.description.len() + it.schema.to_string().len());
        messages.chain(tools).sum()
    }
}

fn written(arguments: &Map<String, Value>) -> usize {
    serde_json::to_string(arguments).map_or(0, |it| it.len())
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The model finished its answer.
    End,
    /// The model waits for the results of its tool calls.
    ToolCalls,
    /// The model reached a limit; the text is cut off.
    Length,
    /// The model or its provider refused to answer.
    Refused,
    /// An unknown reason, as the provider wrote it; empty where it gave none.
    Other(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The provider sent no counts, so these are our estimate.
    pub estimated: bool,
}

impl TokenUsage {
    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    pub text: String,
    pub tool_calls: Vec<ToolCall>,
    pub stop: StopReason,
    pub usage: TokenUsage,
}

impl ModelReply {
    /// The reply as the next request repeats it to the model.
    pub fn into_message(self) -> ChatMessage {
        ChatMessage::Assistant { text: self.text, tool_calls: self.tool_calls }
    }
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    Text(String),
    /// A complete call; its pieces are joined before the event is emitted.
    ToolCall(ToolCall),
    /// The end, with the whole reply repeated.
    Done(ModelReply),
}
