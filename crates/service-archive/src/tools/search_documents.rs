//! `arkiver_search_documents`: searches the text of pages, and the names, tags and descriptions of
//! files. A filter on a case the caller may not see finds nothing.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use archive_accounts::Visibility;
use archive_documents::{ChunkAddress, FileRecord, PageRecord};
use archive_extract::Format;
use archive_search::{DayRange, PageHit, PageHits, PageQuery, Snippet, record_text};
use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::access::sees;
use crate::clip::clip;
use crate::file_facts;
use crate::processing::page_problems;
use crate::tools::query_insights::{DateRange, time_range};
use crate::wire::{self, put};

/// Characters of the text of an answer, about 5,000 tokens.
const TEXT_MAX: usize = 20_000;
const NAME_SHOWN: usize = 100;
const PROBLEM_SHOWN: usize = 200;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    pub(super) query: String,
    pub(super) case_id: Option<String>,
    pub(super) file_id: Option<String>,
    pub(super) file_type: Option<String>,
    pub(super) date_range: Option<DateRange>,
    pub(super) document_type: Option<String>,
    pub(super) document_date: Option<DateRange>,
    pub(super) event_date: Option<DateRange>,
    #[serde(default)]
    pub(super) tags: Vec<String>,
    pub(super) limit: usize,
    pub(super) offset: usize,
}

/// A hit with its file and, unless it is the file's record, its page.
struct Hit {
    hit: PageHit,
    file: FileRecord,
    page: Option<PageRecord>,
    snippet: Snippet,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    answer(&cx, args, ["dateRange.start", "dateRange.end"]).await
}

/// Answers a search; `times` are the names of the arguments with its first and last time.
pub(super) async fn answer(
    cx: &Cx<Archive>,
    args: Args,
    times: [&str; 2],
) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let (from, to) = time_range(args.date_range.as_ref(), times)?;
    let same = same_call(&args);
    let name = args.file_type.map(|it| format!("x.{it}"));
    let media_type = name.and_then(|it| Format::of_name(&it)).map(|it| it.media_type().to_owned());
    // An id that no case has, where the caller sees no case of this name.
    let id_of = |name: &str| visibility.case_named(name).map_or("", |it| &it.id).to_owned();
    let case_id = args.case_id.as_deref().map(id_of);
    let query = PageQuery {
        query: args.query,
        case_id,
        file_id: args.file_id,
        media_type,
        document_type: args.document_type,
        document_date: args.document_date.as_ref().and_then(day_range),
        event_date: args.event_date.as_ref().and_then(day_range),
        tags: args.tags,
        from,
        to,
        limit: args.limit,
        offset: args.offset,
    };
    let (found, hits) = archive.search_pages(&visibility, &query).await?;
    let listed: Vec<Value> = hits.iter().map(|it| hit_json(it, &visibility)).collect();
    let (limit, offset) = (u32::try_from(query.limit).unwrap_or(u32::MAX), query.offset as u64);
    let mut json = json!({ "success": true, "hits": listed, "total": found.total,
        "pagination": wire::pagination(limit, offset, hits.len(), found.total) });
    if !found.corrections.is_empty() {
        let corrections = found.corrections.iter();
        let corrections =
            corrections.map(|it| json!({ "typed": it.typed, "searched": it.searched }));
        json["corrections"] = corrections.collect();
    }
    let is_indexing = archive.is_indexing.load(Ordering::Relaxed);
    if is_indexing {
        json["indexing"] = Value::from(true);
    }
    Ok(wire::reply(json, text(&found, &hits, &query, is_indexing, same)))
}

/// The arguments of the same search, for the call that gets the next hits.
fn same_call(args: &Args) -> Value {
    let range = |it: &Option<DateRange>| {
        it.as_ref().map(|it| {
            let mut range = json!({});
            put(&mut range, "start", it.start.as_deref());
            put(&mut range, "end", it.end.as_deref());
            range
        })
    };
    json!({ "query": args.query, "caseId": args.case_id, "fileId": args.file_id,
        "fileType": args.file_type, "dateRange": range(&args.date_range),
        "documentType": args.document_type, "documentDate": range(&args.document_date),
        "eventDate": range(&args.event_date),
        "tags": Some(&args.tags).filter(|tags| !tags.is_empty()) })
}

/// The days of a range, whose form the schema has checked; `None` if it is open on both sides.
fn day_range(range: &DateRange) -> Option<DayRange> {
    let day = |it: &Option<String>| it.as_deref().and_then(file_facts::days);
    let (start, end) = (day(&range.start), day(&range.end));
    (start.is_some() || end.is_some()).then_some(DayRange {
        from: start.map_or(DayRange::ALL.from, |it| it.from),
        to: end.map_or(DayRange::ALL.to, |it| it.to),
    })
}

impl Archive {
    /// Total, hits, records and texts, all of one moment.
    async fn search_pages(
        &self,
        visibility: &Visibility,
        query: &PageQuery,
    ) -> Result<(PageHits, Vec<Hit>), Fault> {
        let mut tx = self.db.snapshot().await?;
        let mut found = self.search.query(&mut tx, visibility, query).await?;
        let mut ids: Vec<String> = found.hits.iter().map(|it| it.file_id.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        let files = self.documents.records(&mut tx, &ids).await?;
        let wanted: Vec<ChunkAddress> = found
            .hits
            .iter()
            .filter(|it| it.page > 0)
            .map(|it| ChunkAddress {
                file_id: it.file_id.clone(),
                page: it.page,
                chunk: it.first_chunk(),
            })
            .collect();
        let texts = self.documents.texts_at(&mut tx, &wanted).await?;
        tx.commit().await?;
        let files: HashMap<&str, &FileRecord> =
            files.iter().map(|it| (it.id.as_str(), it)).collect();
        let mut texts: HashMap<(String, u32), PageRecord> =
            texts.into_iter().map(|(id, page)| ((id, page.page.number), page)).collect();
        let mut hits = Vec::with_capacity(found.hits.len());
        for hit in std::mem::take(&mut found.hits) {
            // The index knows owners and cases by their hashes; this compares the real ones.
            let file = files.get(hit.file_id.as_str()).filter(|it| sees(visibility, it));
            let Some(&file) = file else {
                tracing::error!(file = hit.file_id, "left out a page of another scope");
                continue;
            };
            let page = texts.remove(&(hit.file_id.clone(), hit.page));
            let snippet = match &page {
                Some(page) => hit.snippet(&page.page.text),
                None => {
                    let tags = &file.tags;
                    hit.snippet(&record_text(&file.name, tags, file.description.as_deref()))
                }
            };
            hits.push(Hit { hit, file: file.clone(), page, snippet });
        }
        Ok((found, hits))
    }
}

fn hit_json(it: &Hit, visibility: &Visibility) -> Value {
    let (file, snippet) = (&it.file, &it.snippet);
    let mut json = json!({
        "fileId": file.id,
        "fileName": file.name,
        "mimeType": file.mime,
        "uploadedAt": file.uploaded_at.to_rfc3339_millis(),
        "matched": if it.page.is_some() { "page" } else { "file" },
        "score": (it.hit.score * 1e4).round() / 1e4,
        "snippet": snippet.text,
    });
    put(&mut json, "caseId", wire::case_name(visibility, file.case_id.as_deref()));
    if !file.tags.is_empty() {
        json["tags"] = Value::from(file.tags.clone());
    }
    if let Some(page) = &it.page {
        json["pageNumber"] = Value::from(page.page.number);
        put(&mut json, "part", Some(page.part.as_str()).filter(|it| !it.is_empty()));
        json["start"] = Value::from(snippet.start);
        json["end"] = Value::from(snippet.end);
        let highlights = snippet.highlights.iter();
        json["highlights"] = highlights
            .map(|it| json!({ "start": it.start, "end": it.end, "text": it.text }))
            .collect();
        put(&mut json, "ocrConfidence", page.ocr_confidence);
        let problems = problems_of(it);
        if !problems.is_empty() {
            json["problems"] = Value::from(problems);
        }
    }
    json
}

/// What is known to be wrong with the page of a hit: read badly, or text that should be hidden.
fn problems_of(it: &Hit) -> Vec<&str> {
    let Some(page) = &it.page else { return Vec::new() };
    page_problems::problems_of_page(&it.file.problems, &page.part, page.page.number)
}

/// Two lines per hit, its problems, and the call that gets the next ones.
fn text(
    found: &PageHits,
    hits: &[Hit],
    query: &PageQuery,
    is_indexing: bool,
    mut call: Value,
) -> String {
    let mut text = match hits.len() {
        0 => format!("{} pages match.", found.total),
        shown => {
            let (first, last) = (query.offset + 1, query.offset + shown);
            format!("{} pages match; {first} to {last}:", found.total)
        }
    };
    for it in &found.corrections {
        text.push_str(&format!(
            "\nno page has {:?}; searched {}",
            it.typed,
            it.searched.join(", ")
        ));
    }
    if is_indexing {
        text.push_str("\nolder files are still being added to the index; ask again later");
    }
    let mut next = query.offset;
    for it in hits {
        next += 1;
        let name = clip(&it.file.name, NAME_SHOWN);
        let place = match &it.page {
            Some(page) => format!("page {}", page.page.number),
            None => "the file itself".to_owned(),
        };
        text.push_str(&format!("\n- {name}, {place} (file {})\n  {}", it.file.id, it.snippet.text));
        for problem in problems_of(it) {
            text.push_str(&format!("\n  problem: {}", clip(problem, PROBLEM_SHOWN)));
        }
        if text.len() > TEXT_MAX {
            break;
        }
    }
    if (next as u64) < found.total && !hits.is_empty() {
        call["limit"] = Value::from(query.limit);
        call["offset"] = Value::from(next);
        text.push_str(&next_step("arkiver_search_documents", &call));
    }
    text
}
