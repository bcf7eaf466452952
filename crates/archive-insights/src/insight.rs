//! An insight and its sources.

use std::ops::Deref;

use archive_text::Passage;
use clock::Millis;
use fault::Fault;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::SqlRow;

use crate::scope;

/// A passage of a file that an insight rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsightSource {
    pub file_hash: String,
    #[serde(flatten)]
    pub passage: Passage,
    /// The attachment that the page is of; `None` for the file itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// An insight before it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewInsight {
    pub owner: String,
    pub case_id: Option<String>,
    pub file_id: String,
    pub title: String,
    pub content: String,
    pub source_llm: String,
    pub category: Option<String>,
    pub tags: Vec<String>,
    pub entities: Map<String, Value>,
    pub citations: Vec<String>,
    /// From 0 to 1.
    pub confidence: f64,
    /// What the confidence measures.
    pub confidence_meaning: Option<String>,
    pub page: Option<u32>,
    pub sources: Vec<InsightSource>,
    /// How many sources there are; `sources` may be only the first of them.
    pub sources_total: u32,
    /// The job that made it; `None` if a caller stored or corrected it.
    pub job_id: Option<String>,
    /// Its last correction by a caller.
    pub correction: Option<Correction>,
}

/// Who corrected an insight, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// The name of the user, or the subject of the token.
    pub by: String,
    /// In milliseconds, as [`Millis`].
    pub at_ms: i64,
    /// Whether the insight is marked as wrong. Queries do not find it unless they ask for such.
    pub is_rejected: bool,
    /// The title under which a job found it; processing the file again does not find it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_as: Option<String>,
}

impl NewInsight {
    pub fn is_rejected(&self) -> bool {
        self.correction.as_ref().is_some_and(|it| it.is_rejected)
    }

    /// The scope that its words are indexed in.
    pub(crate) fn scope(&self) -> i64 {
        let scope = scope::scope_of(&self.owner, self.case_id.as_deref());
        if self.is_rejected() { scope::rejected(scope) } else { scope }
    }
}

/// A stored insight; dereferences to its fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Insight {
    pub id: String,
    pub created_at: Millis,
    pub fields: NewInsight,
}

impl Deref for Insight {
    type Target = NewInsight;

    fn deref(&self) -> &NewInsight {
        &self.fields
    }
}

/// The fields no statement filters by, stored as one JSON text. The names in the JSON are older
/// than the names of the fields.
#[derive(Serialize, Deserialize)]
struct StoredFields {
    owner: String,
    case_id: Option<String>,
    file_id: String,
    source_llm: String,
    category: Option<String>,
    tags: Vec<String>,
    entities: Map<String, Value>,
    citations: Vec<String>,
    #[serde(rename = "meaning")]
    confidence_meaning: Option<String>,
    page: Option<u32>,
    #[serde(rename = "places")]
    sources: Vec<InsightSource>,
    #[serde(rename = "places_total")]
    sources_total: u32,
    #[serde(rename = "made_by")]
    job_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    correction: Option<Correction>,
}

/// The columns that [`Insight::read`] reads, in its order.
pub(crate) const COLUMNS: &str = "b.id, b.created_at, b.confidence, b.title, b.content, b.rest";

impl NewInsight {
    pub(crate) fn check(&self) -> Result<(), Fault> {
        if (0.0..=1.0).contains(&self.confidence) {
            return Ok(());
        }
        let message =
            format!("a confidence lies between 0 and 1, and {} does not", self.confidence);
        Err(Fault::invalid("invalid_confidence", message)
            .problem("confidence", "a number from 0 to 1"))
    }

    pub(crate) fn rest(&self) -> Result<String, Fault> {
        let rest = StoredFields {
            owner: self.owner.clone(),
            case_id: self.case_id.clone(),
            file_id: self.file_id.clone(),
            source_llm: self.source_llm.clone(),
            category: self.category.clone(),
            tags: self.tags.clone(),
            entities: self.entities.clone(),
            citations: self.citations.clone(),
            confidence_meaning: self.confidence_meaning.clone(),
            page: self.page,
            sources: self.sources.clone(),
            sources_total: self.sources_total,
            job_id: self.job_id.clone(),
            correction: self.correction.clone(),
        };
        serde_json::to_string(&rest).map_err(Fault::internal)
    }
}

impl Insight {
    /// Reads [`COLUMNS`], the first of them at `at`.
    pub(crate) fn read(row: &SqlRow, at: usize) -> Result<Self, Fault> {
        let rest: StoredFields =
            serde_json::from_str(row.text_ref(at + 5)?).map_err(Fault::internal)?;
        let fields = NewInsight {
            owner: rest.owner,
            case_id: rest.case_id,
            file_id: rest.file_id,
            title: row.text(at + 3)?,
            content: row.text(at + 4)?,
            source_llm: rest.source_llm,
            category: rest.category,
            tags: rest.tags,
            entities: rest.entities,
            citations: rest.citations,
            confidence: row.real(at + 2)?,
            confidence_meaning: rest.confidence_meaning,
            page: rest.page,
            sources: rest.sources,
            sources_total: rest.sources_total,
            job_id: rest.job_id,
            correction: rest.correction,
        };
        Ok(Self { id: row.text(at)?, created_at: Millis(row.int(at + 1)?), fields })
    }
}
