//! An answer of these contracts: a JSON object with a text that is useful without it.

use contract::Reply;
use serde_json::Value;

pub(crate) struct JsonReply {
    json: Value,
    text: String,
    job: Option<String>,
}

impl JsonReply {
    pub(crate) fn new(json: Value, text: impl Into<String>) -> Self {
        Self { json, text: text.into(), job: None }
    }

    /// Of an answer that a job goes on behind.
    pub(crate) fn begun(self, job: &str) -> Self {
        Self { job: Some(job.to_owned()), ..self }
    }
}

impl Reply for JsonReply {
    fn result(&self) -> Value {
        self.json.clone()
    }

    fn text(&self) -> String {
        self.text.clone()
    }

    fn job(&self) -> Option<&str> {
        self.job.as_deref()
    }
}
