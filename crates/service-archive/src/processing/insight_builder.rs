//! Turns drafts into insights that name the passages they come from.

use archive_documents::{FileRecord, PageRecord};
use archive_drafts::Draft;
use archive_insights::{InsightSource, NewInsight};
use archive_text::Passage;

/// `sourceLLM` of insights made by rules.
pub(crate) const BY_RULES: &str = "local";

pub(crate) struct InsightBuilder<'a> {
    pub(crate) file: &'a FileRecord,
    pub(crate) job_id: &'a str,
    /// The caller's own categories, which become tags.
    pub(crate) categories: &'a [String],
    /// All pages of the file, in order.
    pub(crate) pages: &'a [PageRecord],
}

impl InsightBuilder<'_> {
    pub(crate) fn insight(&self, draft: Draft) -> NewInsight {
        let mut tags = draft.tags;
        for category in self.categories {
            if !tags.contains(category) {
                tags.push(category.clone());
            }
        }
        NewInsight {
            owner: self.file.owner.clone(),
            case_id: self.file.case_id.clone(),
            file_id: self.file.id.clone(),
            title: draft.title,
            content: draft.content,
            source_llm: BY_RULES.to_owned(),
            category: Some(draft.category.word().to_owned()),
            tags,
            entities: draft.entities,
            citations: draft.citations,
            confidence: draft.confidence,
            confidence_meaning: Some(draft.meaning.into_owned()),
            page: draft.passages.first().map(|it| it.page),
            sources: draft.passages.into_iter().map(|it| self.source(it)).collect(),
            sources_total: draft.passages_total,
            job_id: Some(self.job_id.to_owned()),
            correction: None,
        }
    }

    fn source(&self, passage: Passage) -> InsightSource {
        let page =
            usize::try_from(passage.page).ok().and_then(|it| self.pages.get(it.wrapping_sub(1)));
        let part = page.map(|it| it.part.clone()).filter(|it| !it.is_empty());
        InsightSource { file_hash: self.file.hash.clone(), passage, part }
    }
}
