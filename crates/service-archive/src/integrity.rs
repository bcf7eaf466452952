//! Integrity tests: checks insights against their sources by rules, and asks a model for a second
//! opinion where the caller names one.

pub(crate) mod job;
mod model_judgement;
mod parameters;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod selection;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use parameters::Parameters;
pub(crate) use report::results_text;
use selection::SelectedPart;

/// The name of the rules, which are always available.
pub(crate) const LOCAL: &str = "local";

/// The payload of an integrity test.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct TestPayload {
    pub(crate) file_id: String,
    pub(crate) test: String,
    pub(crate) insight_ids: Vec<String>,
    pub(crate) llm: String,
    #[serde(default)]
    pub(crate) parameters: Parameters,
    /// A sentence for the results: which insights were left out of the selection.
    #[serde(default)]
    pub(crate) note: Option<String>,
    /// Set if the test checks a part of all insights.
    #[serde(default)]
    pub(crate) part: Option<SelectedPart>,
    /// Whether `file_id` was named by the caller, and not taken from the first insight.
    #[serde(default)]
    pub(crate) of_file: bool,
    /// Set when the test ran inside the call and the job only stores the results.
    #[serde(default)]
    pub(crate) results: Option<Value>,
}

impl TestPayload {
    /// What the results say about the rest of the insights: their number, and the call that tests
    /// the next ones.
    pub(crate) fn rest(&self) -> Option<RestOfInsights> {
        let part = self.part.as_ref()?;
        let next = part.next.map(|offset| {
            let mut call = json!({ "testType": self.test, "llmSource": self.llm,
                "parameters": self.parameters.given(offset) });
            if self.of_file {
                call["fileId"] = Value::from(self.file_id.as_str());
            }
            format!("arkiver_integrity_test {call}")
        });
        Some(RestOfInsights { total: part.total, next })
    }
}

/// The insights that a test left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RestOfInsights {
    /// All insights, those that were tested included.
    pub(crate) total: u64,
    /// The call that tests the next ones; `None` after the last.
    pub(crate) next: Option<String>,
}
