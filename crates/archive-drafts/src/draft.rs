//! The drafts of a document with their passages, and the options of reading it.

use std::borrow::Cow;

use archive_text::Passage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Drafts of one document.
pub const DRAFTS_MAX: usize = 2_000;
/// Citations of one document that are read; the job says when the document has more.
pub const CITATIONS_MAX: usize = 200_000;
/// Passages that are listed of one draft; all are counted.
pub const PASSAGES_MAX: usize = 20;

/// How much is extracted. The caller chooses which pages are read.
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

/// What is extracted. The summary is always made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftOptions {
    pub mode: DraftMode,
    pub citations: bool,
    pub entities: bool,
    pub timeline: bool,
}

impl DraftOptions {
    /// Everything that a mode has.
    #[must_use]
    pub fn all(mode: DraftMode) -> Self {
        Self { mode, citations: true, entities: true, timeline: true }
    }
}

/// What a draft is about, in the order in which drafts are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Category {
    Summary,
    Party,
    Attorney,
    Judge,
    Court,
    CaseNumber,
    Citation,
    Deadline,
    Conflict,
    Event,
    Money,
    Organisation,
}

impl Category {
    pub const ALL: [Self; 12] = [
        Self::Summary,
        Self::Party,
        Self::Attorney,
        Self::Judge,
        Self::Court,
        Self::CaseNumber,
        Self::Citation,
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
    /// At least this share of such drafts is right.
    pub confidence: f64,
    /// The same in words.
    pub meaning: Cow<'static, str>,
    /// In the order of the document, at most [`PASSAGES_MAX`]; never empty.
    pub passages: Vec<Passage>,
    /// How many passages there are, with those left out.
    pub passages_total: u32,
}

/// All drafts of one document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DocumentDrafts {
    /// By category, and within one in the order of the document.
    pub drafts: Vec<Draft>,
    pub words: u64,
    /// What ran: `summary`, `citations`, `entities`, `timeline`.
    pub processors: Vec<Cow<'static, str>>,
    /// There was more of something than is given.
    pub truncated: bool,
    /// There are more than [`CITATIONS_MAX`] citations, and the rest were not read.
    pub citations_cut: bool,
}
