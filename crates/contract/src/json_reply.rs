//! A reply that is one JSON object and a readable text, for contracts whose tools answer with JSON.

use serde_json::{Value, json};

use crate::reply::{LoginChange, Reply};

/// A JSON result with a text for clients that show no structured content.
#[derive(Debug)]
pub struct JsonReply {
    json: Value,
    text: String,
    job: Option<String>,
    login: Option<LoginChange>,
    session_text: Option<String>,
    has_json_tool_text: bool,
    images: Vec<Value>,
}

impl JsonReply {
    /// A finished reply: `json` is the tool result and `text` its readable form.
    pub fn new(json: Value, text: impl Into<String>) -> Self {
        Self {
            json,
            text: text.into(),
            job: None,
            login: None,
            session_text: None,
            has_json_tool_text: false,
            images: Vec::new(),
        }
    }

    /// Names the job that continues after this reply.
    #[must_use]
    pub fn with_job(self, job: &str) -> Self {
        Self { job: Some(job.to_owned()), ..self }
    }

    /// Changes the login of the session in which the call was made.
    #[must_use]
    pub fn with_login(self, login: LoginChange) -> Self {
        Self { login: Some(login), ..self }
    }

    /// Sets the text for a session that keeps the login of this reply.
    #[must_use]
    pub fn with_session_text(self, text: impl Into<String>) -> Self {
        Self { session_text: Some(text.into()), ..self }
    }

    /// Adds a picture in base64, for transports that can show one beside the text.
    #[must_use]
    pub fn with_image(mut self, media_type: &str, base64: String) -> Self {
        self.images.push(json!({ "type": "image", "mimeType": media_type, "data": base64 }));
        self
    }

    /// Sends the JSON as the tool text too, for contracts whose clients parse that text.
    #[must_use]
    pub fn with_json_tool_text(self) -> Self {
        Self { has_json_tool_text: true, ..self }
    }
}

impl Reply for JsonReply {
    fn result(&self) -> Value {
        self.json.clone()
    }

    fn text(&self) -> String {
        self.text.clone()
    }

    fn tool_text(&self) -> String {
        if self.has_json_tool_text { self.json.to_string() } else { self.text.clone() }
    }

    fn images(&self) -> Vec<Value> {
        self.images.clone()
    }

    fn job(&self) -> Option<&str> {
        self.job.as_deref()
    }

    fn login(&self) -> Option<LoginChange> {
        self.login.clone()
    }

    fn session_text(&self) -> Option<&str> {
        self.session_text.as_deref()
    }
}
