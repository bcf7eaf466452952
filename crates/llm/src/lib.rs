//! Language models behind one port: what is asked, what is answered, and a client that speaks the
//! OpenAI-compatible chat API and Anthropic's Messages API.
//!
//! It carries words and tool calls. What to ask, and whether an answer is true, is for the caller.

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

/// A reply as it is made. The last event is [`ModelEvent::Done`] or a fault; dropping the stream stops
/// the work.
pub type ModelEvents = BoxStream<'static, Result<ModelEvent, Fault>>;

/// Something that answers messages with text or tool calls.
#[async_trait]
pub trait Model: Send + Sync + std::fmt::Debug {
    /// What answers say they come from.
    fn name(&self) -> &str;

    /// The whole reply. Dropping the future stops the work.
    async fn complete(&self, request: ModelRequest) -> Result<ModelReply, Fault>;

    /// The reply piece by piece. What goes wrong is told in the stream.
    fn stream(&self, request: ModelRequest) -> ModelEvents;
}
