//! Integrity tests: checks insights against their sources by rules, and asks a model for a second
//! opinion where the caller names one.

pub(crate) mod job;
mod model_judgement;
mod parameters;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod selection;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use parameters::Parameters;
pub(crate) use report::results_text;

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
    /// Set when the test ran inside the call and the job only stores the results.
    #[serde(default)]
    pub(crate) results: Option<Value>,
}
