//! Records of the archive as the contract's JSON. A case is told by its name, which is what the
//! caller knows it by.

use archive_accounts::Visibility;
use archive_documents::FileRecord;
use archive_insights::{Insight, InsightSource};
use serde_json::{Value, json};

pub(crate) fn insight(it: &Insight, snippet: Option<&str>, visibility: &Visibility) -> Value {
    let mut json = json!({
        "insightId": it.id,
        "fileId": it.file_id,
        "title": it.title,
        "content": it.content,
        "sourceLLM": it.source_llm,
        "tags": it.tags,
        "entities": it.entities,
        "citations": it.citations,
        "confidence": it.confidence,
        "createdAt": it.created_at.to_rfc3339_millis(),
    });
    put(&mut json, "caseId", case_name(visibility, it.case_id.as_deref()));
    put(&mut json, "category", it.category.as_deref());
    put(&mut json, "confidenceMeaning", it.confidence_meaning.as_deref());
    put(&mut json, "pageNumber", it.page);
    if !it.sources.is_empty() {
        json["sources"] = it.sources.iter().map(source).collect();
        json["sourcesTotal"] = Value::from(it.sources_total);
    }
    put(&mut json, "snippet", snippet);
    json
}

pub(crate) fn source(it: &InsightSource) -> Value {
    let passage = &it.passage;
    let mut json = json!({ "fileHash": it.file_hash, "page": passage.page,
        "start": passage.start, "end": passage.end, "quote": passage.quote });
    put(&mut json, "part", it.part.as_deref());
    json
}

pub(crate) fn file(it: &FileRecord, visibility: &Visibility) -> Value {
    let mut json = json!({
        "fileId": it.id,
        "fileName": it.name,
        "fileSize": it.size,
        "mimeType": it.mime,
        "uploadedAt": it.uploaded_at.to_rfc3339_millis(),
        "status": it.status.word(),
        "sha256": it.hash,
        "tags": it.tags,
    });
    put(&mut json, "processingJobId", it.job_id.as_deref());
    put(&mut json, "error", it.error.as_deref());
    put(&mut json, "caseId", case_name(visibility, it.case_id.as_deref()));
    put(&mut json, "description", it.description.as_deref());
    put(&mut json, "pageCount", it.page_count);
    put(&mut json, "wordCount", it.word_count);
    if !it.problems.is_empty() {
        json["problems"] = Value::from(it.problems.clone());
    }
    json
}

/// The name by which the caller knows a case; none where they do not see it.
pub(crate) fn case_name<'a>(visibility: &'a Visibility, id: Option<&str>) -> Option<&'a str> {
    visibility.case(id?).map(|case| case.name.as_str())
}

/// A field that is there only when there is something to say.
pub(crate) fn put(json: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        json[name] = value.into();
    }
}

/// `limit`, `offset` and whether there is more.
pub(crate) fn pagination(limit: u32, offset: u64, shown: usize, total: u64) -> Value {
    let has_more = offset.saturating_add(shown as u64) < total && shown > 0;
    json!({ "limit": limit, "offset": offset, "hasMore": has_more })
}
