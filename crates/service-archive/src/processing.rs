//! The job that processes a file: extraction in a child process, then drafts, then one transaction
//! with pages, insights and the end of the job.

pub(crate) mod analysis;
mod conflicts;
mod insight_builder;
pub(crate) mod job;
pub(crate) mod job_passwords;
mod page_collector;
pub(crate) mod page_problems;
pub(crate) mod scratch;
pub(crate) mod settings;
mod summary;

use serde::{Deserialize, Serialize};

use settings::ProcessingSettings;

/// The payload of a processing job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessPayload {
    pub(crate) file_id: String,
    pub(crate) settings: ProcessingSettings,
    /// Whether a password came with the call; `job_passwords` has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_password: bool,
}

/// The result of a processing job, without its insights.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessSummary {
    pub(crate) page_count: u64,
    pub(crate) word_count: u64,
    /// Seconds.
    pub(crate) processing_time: f64,
    pub(crate) extractors_used: Vec<String>,
    pub(crate) processors_used: Vec<String>,
    pub(crate) extraction_mode: String,
    pub(crate) pages_read: u64,
    pub(crate) ocr_pages: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<String>,
    pub(crate) insights: u64,
}
