//! The record of one file.

use clock::Millis;

/// Problems stored for one file; the rest are counted.
const PROBLEMS_MAX: usize = 200;
/// Characters stored of one problem or error.
const PROBLEM_CHARS_MAX: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    Uploaded,
    Processing,
    Processed,
    Failed,
}

impl FileStatus {
    pub const ALL: [Self; 4] = [Self::Uploaded, Self::Processing, Self::Processed, Self::Failed];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Uploaded => "uploaded",
            Self::Processing => "processing",
            Self::Processed => "processed",
            Self::Failed => "failed",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecord {
    pub id: String,
    pub owner: String,
    pub case_id: Option<String>,
    /// The name the sender gave, cleaned; for display only, never a path.
    pub name: String,
    pub size: u64,
    /// Detected from the content.
    pub mime: String,
    /// SHA-256 of the content, in lower-case hex.
    pub hash: String,
    pub tags: Vec<String>,
    pub description: Option<String>,
    pub uploaded_at: Millis,
    pub status: FileStatus,
    /// The job that processes the file, or processed it last.
    pub job_id: Option<String>,
    /// Why the last processing failed.
    pub error: Option<String>,
    /// Of the last successful processing, like the two fields below.
    pub page_count: Option<u64>,
    pub word_count: Option<u64>,
    /// What could not be extracted, page by page.
    pub problems: Vec<String>,
}

/// Filters of a list; an absent filter matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileFilter {
    /// A case by its id, not by its name.
    pub case_id: Option<String>,
    pub status: Option<FileStatus>,
    pub hash: Option<String>,
    /// A part of the name.
    pub name: Option<String>,
    pub tag: Option<String>,
}

/// The result of a successful extraction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtractionResult {
    pub page_count: u64,
    pub word_count: u64,
    pub problems: Vec<String>,
}

/// Bounded in number and length, without characters that an engine cannot store.
pub(crate) fn bounded(problems: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = problems.iter().take(PROBLEMS_MAX).map(|it| short(it)).collect();
    if problems.len() > PROBLEMS_MAX {
        kept.push(format!("and {} more", problems.len() - PROBLEMS_MAX));
    }
    kept
}

pub(crate) fn short(text: &str) -> String {
    text.chars().filter(|it| *it != '\0').take(PROBLEM_CHARS_MAX).collect()
}
