//! The drafts of a document with their passages, and the options of reading it.

use std::borrow::Cow;

use archive_text::Passage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The most drafts of one document.
pub const DRAFTS_MAX: usize = 2_000;
/// The most citations that are read of one document; the job reports when there are more.
pub const CITATIONS_MAX: usize = 200_000;
/// The most passages that one draft lists; all passages are counted.
pub const PASSAGES_MAX: usize = 20;

/// How much is extracted from the pages that the caller passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DraftMode {
    /// Authorities by their full citations, parties, attorneys, judges, courts, case numbers and
    /// the summary.
    Fast,
    /// The same with organisations, sums, events, deadlines and conflicts.
    Standard,
    /// The same with short forms, `id.` and `supra` as places of their authority, and every
    /// mention of organisations and sums.
    Deep,
}

/// Which categories are extracted. The summary always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftOptions {
    pub mode: DraftMode,
    pub citations: bool,
    pub entities: bool,
    pub timeline: bool,
}

impl DraftOptions {
    /// All categories of a mode.
    #[must_use]
    pub fn all(mode: DraftMode) -> Self {
        Self { mode, citations: true, entities: true, timeline: true }
    }
}

/// The subject of a draft; drafts are sorted in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Category {
    Summary,
    Party,
    Attorney,
    Judge,
    Court,
    CaseNumber,
    Citation,
    Outcome,
    Deadline,
    Conflict,
    Event,
    Money,
    Organisation,
}

impl Category {
    pub const ALL: [Self; 13] = [
        Self::Summary,
        Self::Party,
        Self::Attorney,
        Self::Judge,
        Self::Court,
        Self::CaseNumber,
        Self::Citation,
        Self::Outcome,
        Self::Deadline,
        Self::Conflict,
        Self::Event,
        Self::Money,
        Self::Organisation,
    ];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Party => "party",
            Self::Attorney => "attorney",
            Self::Judge => "judge",
            Self::Court => "court",
            Self::CaseNumber => "case_number",
            Self::Citation => "citation",
            Self::Outcome => "outcome",
            Self::Deadline => "deadline",
            Self::Conflict => "conflict",
            Self::Event => "event",
            Self::Money => "money",
            Self::Organisation => "organisation",
        }
    }
}

/// An insight before it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    pub category: Category,
    pub title: String,
    pub content: String,
    pub tags: Vec<String>,
    pub entities: Map<String, Value>,
    /// Authorities in their standard form.
    pub citations: Vec<String>,
    /// The lower bound of the share of such drafts that are right.
    pub confidence: f64,
    /// The meaning of the confidence, in words.
    pub meaning: Cow<'static, str>,
    /// In the order of the document, at most [`PASSAGES_MAX`]; never empty.
    pub passages: Vec<Passage>,
    /// The number of all passages, listed or not.
    pub passages_total: u32,
}

/// All drafts of one document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DocumentDrafts {
    /// Sorted by category, then in the order of the document.
    pub drafts: Vec<Draft>,
    pub words: u64,
    /// The processors that ran: `summary`, `citations`, `entities`, `timeline`.
    pub processors: Vec<Cow<'static, str>>,
    /// Whether a limit left out drafts or facts.
    pub truncated: bool,
    /// Whether the document has more than [`CITATIONS_MAX`] citations; the rest were not read.
    pub citations_cut: bool,
}
