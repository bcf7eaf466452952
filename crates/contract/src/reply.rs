//! A handler's reply, which each transport asks for its own form.

use serde_json::{Map, Value};

use crate::call::Credential;

/// A successful result. Transports ask only for the form they send, so no other is built.
pub trait Reply: Send + Sync {
    /// The tool result; it matches the contract's output schema.
    fn result(&self) -> Value;

    /// A text for clients that show no structured content. It is not the JSON again, and has at most
    /// about 8,000 tokens.
    fn text(&self) -> String;

    /// The text of a tool result, if a contract wants another one than `text`.
    fn tool_text(&self) -> String {
        self.text()
    }

    /// The MCP content blocks of a tool result, if it has others than a text.
    fn content(&self) -> Option<Vec<Value>> {
        None
    }

    /// MCP content blocks of pictures, which follow the text.
    fn images(&self) -> Vec<Value> {
        Vec::new()
    }

    /// The `_meta` of a tool result: freshness and provenance, which a closed schema has no room for.
    fn meta(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The id of the job that continues after this reply, if the tool's calls may become tasks.
    fn job(&self) -> Option<&str> {
        None
    }

    /// What the reply changes about who the session of the call speaks for.
    fn login(&self) -> Option<LoginChange> {
        None
    }

    /// The readable text in a session that keeps the login of this reply, if it differs: it has no
    /// token, because the session sends it by itself.
    fn session_text(&self) -> Option<&str> {
        None
    }

    /// About how many JSON values the result has, if it may have thousands. Transports write a large
    /// result beside the async workers.
    fn values(&self) -> usize {
        0
    }

    /// The HTTP response.
    fn http(&self) -> HttpReply {
        HttpReply { status: 200, body: self.result(), max_age_s: None, headers: Vec::new() }
    }
}

/// A change of who a session speaks for, at the service of the tool that replied.
#[derive(Debug, Clone)]
pub enum LoginChange {
    /// The session speaks with this token.
    LoggedIn(Credential),
    /// The session speaks with no token of its own any more.
    LoggedOut,
}

/// A reply as an HTTP response.
#[derive(Debug, Clone)]
pub struct HttpReply {
    /// The status.
    pub status: u16,
    /// The body, as JSON.
    pub body: Value,
    /// `Cache-Control: max-age` in seconds; `None` for `no-store`.
    pub max_age_s: Option<u32>,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
}
