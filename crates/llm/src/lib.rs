//! Language models behind one port: requests, replies, and a client of the OpenAI-compatible chat
//! API and Anthropic's Messages API.
//!
//! The crate transports texts and tool calls. The caller writes the prompts and verifies the
//! answers.

mod anthropic;
mod attempt;
mod budget;
mod chat;
mod client;
mod config;
mod failure;
mod openai;
mod probe;
mod reply_builder;
mod reply_stream;
mod sse;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use fault::Fault;
use futures_util::stream::BoxStream;

pub use budget::Budget;
pub use chat::{
    ChatMessage, ModelEvent, ModelReply, ModelRequest, StopReason, TokenUsage, Tool, ToolCall,
    ToolChoice,
};
pub use client::ModelClient;
pub use config::{Api, ApiKey, ModelConfig, SizeLimits, Timeouts};
pub use probe::ModelPresence;

/// A reply as a stream. The last event is [`ModelEvent::Done`] or a fault; dropping the stream
/// cancels the request.
pub type ModelEvents = BoxStream<'static, Result<ModelEvent, Fault>>;

/// A model that answers messages with text or tool calls.
#[async_trait]
pub trait Model: Send + Sync + std::fmt::Debug {
    /// The model's name as answers report it.
    fn name(&self) -> &str;

    /// The whole reply. Dropping the future cancels the request.
    async fn complete(&self, request: ModelRequest) -> Result<ModelReply, Fault>;

    /// The reply piece by piece. A failure is the last item of the stream.
    fn stream(&self, request: ModelRequest) -> ModelEvents;
}
