//! A query for insights and its result.

use clock::Millis;

use crate::insight::Insight;

/// The most insights of one result; a larger limit is lowered to this.
pub const RESULTS_MAX: u32 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortKey {
    CreatedAt,
    Confidence,
    /// How well the keywords match; by time of creation without keywords.
    Relevance,
}

/// All filters must match. Insights with equal sort keys are ordered by creation.
#[derive(Debug, Clone, PartialEq)]
pub struct InsightQuery {
    /// Words that must all occur, "phrases", and prefixes with a `*`.
    pub keywords: Option<String>,
    pub source_llm: Option<String>,
    /// An insight must have all of them.
    pub tags: Vec<String>,
    pub file_id: Option<String>,
    /// The id of a case, not its name.
    pub case_id: Option<String>,
    pub from: Option<Millis>,
    /// Inclusive, as `from` is.
    pub to: Option<Millis>,
    pub min_confidence: Option<f64>,
    pub category: Option<String>,
    /// Only insights that were rejected; otherwise none of them.
    pub rejected: bool,
    pub sort: SortKey,
    pub descending: bool,
    pub limit: u32,
    pub offset: u64,
}

impl Default for InsightQuery {
    fn default() -> Self {
        Self {
            keywords: None,
            source_llm: None,
            tags: Vec::new(),
            file_id: None,
            case_id: None,
            from: None,
            to: None,
            min_confidence: None,
            category: None,
            rejected: false,
            sort: SortKey::CreatedAt,
            descending: true,
            limit: 20,
            offset: 0,
        }
    }
}

impl InsightQuery {
    /// Whether there are keywords; blank ones do not count.
    pub fn has_keywords(&self) -> bool {
        self.keywords.as_ref().is_some_and(|it| !it.trim().is_empty())
    }
}

/// One page of results and the total, both of one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResults {
    /// Each with a snippet if the query had keywords.
    pub insights: Vec<(Insight, Option<String>)>,
    pub total: u64,
}
