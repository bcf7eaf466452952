//! Records of the archive as the contract's JSON. A case appears under its name, never its id.

use archive_accounts::Visibility;
use archive_documents::FileRecord;
use archive_insights::{Insight, InsightSource};
use clock::Millis;
use contract::JsonReply;
use serde_json::{Value, json};

use crate::clip::clip;

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
    if let Some(correction) = &it.correction {
        json["correctedBy"] = Value::from(correction.by.as_str());
        json["correctedAt"] = Value::from(Millis(correction.at_ms).to_rfc3339_millis());
    }
    if it.is_rejected() {
        json["rejected"] = Value::from(true);
    }
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

/// One line about a file.
pub(crate) fn file_text(file: &FileRecord) -> String {
    let name = clip(&file.name, 100);
    let mut text = format!("{name} ({}, {} bytes): ", file.mime, file.size);
    text.push_str(file.status.word());
    if let Some(pages) = file.page_count {
        text.push_str(&format!(", {pages} pages"));
    }
    if let Some(error) = &file.error {
        text.push_str(&format!(", {}", clip(error, 200)));
    }
    if let Some((first, others)) = file.problems.split_first() {
        text.push_str(&format!(", problem: {}", clip(first, 200)));
        if !others.is_empty() {
            text.push_str(&format!(" (and {} more in problems)", others.len()));
        }
    }
    format!("{text}. File {}.", file.id)
}

/// The name of a case that the caller sees.
pub(crate) fn case_name<'a>(visibility: &'a Visibility, id: Option<&str>) -> Option<&'a str> {
    visibility.case(id?).map(|case| case.name.as_str())
}

/// The case that a caller names; a blank name is none.
pub(crate) fn given_case(name: Option<&str>) -> Option<&str> {
    name.filter(|it| !it.trim().is_empty())
}

/// A reply of this contract, whose clients parse the tool text as JSON.
pub(crate) fn reply(json: Value, text: impl Into<String>) -> JsonReply {
    JsonReply::new(json, text).with_json_tool_text()
}

/// Sets a field that is absent when there is no value.
pub(crate) fn put(json: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        json[name] = value.into();
    }
}

/// `limit`, `offset` and whether more follows.
pub(crate) fn pagination(limit: u32, offset: u64, shown: usize, total: u64) -> Value {
    let has_more = offset.saturating_add(shown as u64) < total && shown > 0;
    json!({ "limit": limit, "offset": offset, "hasMore": has_more })
}
