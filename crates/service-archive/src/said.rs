//! An answer of this contract: a JSON object with a text that is useful without it.

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

    /// The contract's tools answer with JSON, and its clients parse the text.
    fn tool_text(&self) -> String {
        self.json.to_string()
    }

    fn job(&self) -> Option<&str> {
        self.job.as_deref()
    }
}

/// A text of at most so many characters, with a mark where it was cut.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_letters_and_says_so() {
        assert_eq!(clipped("стоа", 4), "стоа");
        assert_eq!(clipped("стоа и", 5), "стоа…");
        assert_eq!(clipped("", 0), "");
    }
}
