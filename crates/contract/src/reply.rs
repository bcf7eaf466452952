//! What a handler answers with, seen from each side: as a tool result and as an HTTP body.

use serde_json::{Map, Value};

/// A successful answer. Transports ask only for the side they send, so nothing is built twice.
pub trait Reply: Send + Sync {
    /// The tool result, fitting the contract's output schema.
    fn result(&self) -> Value;

    /// A text that is useful alone, for clients that show no structured content. It does not
    /// repeat the JSON, and stays within about 8,000 tokens.
    fn text(&self) -> String;

    /// The text of a tool result, where a contract wants another one than `text`.
    fn tool_text(&self) -> String {
        self.text()
    }

    /// What has no room in a closed schema: freshness and provenance.
    fn meta(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The job that goes on after this answer, where its tool may become a task.
    fn job(&self) -> Option<&str> {
        None
    }

    fn http(&self) -> HttpReply {
        HttpReply { status: 200, body: self.result(), max_age_s: None, headers: Vec::new() }
    }
}

#[derive(Debug, Clone)]
pub struct HttpReply {
    pub status: u16,
    pub body: Value,
    /// How long a cache may serve it without asking; `None` for answers that must not be kept.
    pub max_age_s: Option<u32>,
    pub headers: Vec<(&'static str, String)>,
}
