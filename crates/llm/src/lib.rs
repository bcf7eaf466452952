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
mod draft;
mod failure;
mod live;
mod look;
mod openai;
mod sse;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use fault::Fault;
use futures_util::stream::BoxStream;

pub use budget::Budget;
pub use chat::{Event, Message, Reply, Request, Stop, Tool, ToolCall, ToolChoice, Usage};
pub use client::Client;
pub use config::{Api, ApiKey, Bounds, Config, Timeouts};
pub use look::Presence;

/// A reply as it is made. The last event is [`Event::Done`] or a fault; dropping the stream stops
/// the work.
pub type Events = BoxStream<'static, Result<Event, Fault>>;

/// Something that answers messages with text or tool calls.
#[async_trait]
pub trait Model: Send + Sync + std::fmt::Debug {
    /// What answers say they come from.
    fn name(&self) -> &str;

    /// The whole reply. Dropping the future stops the work.
    async fn complete(&self, request: Request) -> Result<Reply, Fault>;

    /// The reply piece by piece. What goes wrong is told in the stream.
    fn stream(&self, request: Request) -> Events;
}
