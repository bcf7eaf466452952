//! `arkiver_store_insight`: stores an insight that the caller wrote about a file.

use archive_documents::{FileRecord, PageRecord};
use archive_insights::{InsightSource, NewInsight};
use archive_text::Passage;
use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::task::spawn_blocking;

use crate::Archive;
use crate::quote::{QuoteMatch, locate, words_at};
use crate::wire::{self, given_case};

const ENTITIES_BYTES_MAX: usize = 64 * 1024;
/// Text of a file that one query reads.
const QUERY_BYTES: usize = 1 << 20;
/// The highest page number that is accepted.
const PAGE_MAX: u32 = 10_000_000;
/// The confidence of an insight without a stated one.
const CONFIDENCE_UNSTATED: f64 = 0.5;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
    insight: InsightArgs,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InsightArgs {
    title: String,
    content: String,
    #[serde(rename = "sourceLLM")]
    source_llm: String,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    entities: Map<String, Value>,
    #[serde(default)]
    citations: Vec<String>,
    confidence: Option<f64>,
    page_number: Option<f64>,
    case_id: Option<String>,
    category: Option<String>,
    quote: Option<String>,
}

pub(crate) async fn call(cx: Cx<Archive>, given: Map<String, Value>) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let (args, ignored): (Args, _) = archive.inputs.read("arkiver_store_insight", given)?;
    let visibility = archive.visibility(&cx.caller).await?;
    let file = archive.file_to_write(&visibility, &args.file_id).await?;
    let given = args.insight;
    let (page, note) = page_of(&given, &file)?;
    check_entities(&given.entities)?;
    let source = match &given.quote {
        Some(quote) => Some(archive.source_of(&file, quote, page).await?),
        None => None,
    };
    let case_name = given_case(given.case_id.as_deref()).map(ToOwned::to_owned);
    let mut new = insight(given, &file, &visibility.owner);
    new.page = page.or(source.as_ref().map(|it| it.passage.page));
    new.sources = source.into_iter().collect();
    new.sources_total = u32::try_from(new.sources.len()).unwrap_or(u32::MAX);
    let sources: Vec<Value> = new.sources.iter().map(wire::source).collect();
    let mut tx = archive.db.begin().await?;
    // Locked, so that the file cannot be deleted before its insight is stored.
    let file = archive.documents.find_locked(&mut tx, &file.id).await?;
    new.case_id = match &case_name {
        Some(name) => {
            Some(archive.accounts.case_for_writing(&mut tx, &visibility.owner, name).await?)
        }
        None => file.case_id,
    };
    let stored = archive.insights.add(&mut tx, vec![new]).await?;
    tx.commit().await?;
    let (id, at) = stored.into_iter().next().ok_or_else(|| Fault::internal("nothing was added"))?;
    let mut text = format!("Stored as insight {id} of file {}.", file.id);
    let mut json = json!({ "success": true, "insightId": id, "storedAt": at.to_rfc3339_millis(),
        "message": "Insight stored successfully" });
    if !sources.is_empty() {
        json["sources"] = Value::from(sources);
    }
    if let Some(note) = note {
        text.push_str(&format!(" {note}"));
        json["note"] = Value::from(note);
    }
    ignored.add_to(&mut json, &mut text);
    let of_file = json!({ "filters": { "fileId": file.id } });
    text.push_str(&next_step("arkiver_query_insights", &of_file));
    Ok(wire::reply(json, text))
}

fn insight(given: InsightArgs, file: &FileRecord, owner: &str) -> NewInsight {
    let meaning = match given.confidence {
        Some(_) => "stated by the user who stored it",
        None => "not stated by the user who stored it; 0.5 stands for unknown",
    };
    NewInsight {
        owner: owner.to_owned(),
        case_id: None,
        file_id: file.id.clone(),
        title: given.title,
        content: given.content,
        source_llm: given.source_llm,
        category: given.category,
        tags: given.tags,
        entities: given.entities,
        citations: given.citations,
        confidence: given.confidence.unwrap_or(CONFIDENCE_UNSTATED),
        confidence_meaning: Some(meaning.to_owned()),
        page: None,
        sources: Vec::new(),
        sources_total: 0,
        job_id: None,
        correction: None,
    }
}

/// The named page; refused if the processed file has fewer pages. The contract takes every number:
/// one that can be no page, such as 0, is not stored, and the sentence says so.
fn page_of(given: &InsightArgs, file: &FileRecord) -> Result<(Option<u32>, Option<String>), Fault> {
    let Some(number) = given.page_number else { return Ok((None, None)) };
    if number < 1.0 || number.fract() != 0.0 {
        let note = format!("Pages are counted 1, 2, 3: pageNumber {number} is not stored.");
        return Ok((None, Some(note)));
    }
    let field = "insight.pageNumber";
    if number > f64::from(PAGE_MAX) {
        let message = format!("there is no page {number}");
        return Err(Fault::invalid("invalid_input", message)
            .problem(field, format!("a page from 1 to {PAGE_MAX}")));
    }
    // A whole number from 1 to PAGE_MAX.
    let page = number as u32;
    match file.page_count {
        Some(pages) if u64::from(page) > pages => {
            let message = format!("there is no page {page}: the file has {pages}");
            let expected = format!("a page from 1 to {pages}");
            Err(Fault::invalid("invalid_input", message).problem(field, expected))
        }
        _ => Ok((Some(page), None)),
    }
}

fn check_entities(entities: &Map<String, Value>) -> Result<(), Fault> {
    let bytes = serde_json::to_string(entities).map_or(usize::MAX, |it| it.len());
    if bytes <= ENTITIES_BYTES_MAX {
        return Ok(());
    }
    let message = format!("the entities are more than {ENTITIES_BYTES_MAX} bytes of JSON");
    Err(Fault::invalid("invalid_input", message)
        .problem("insight.entities", format!("at most {ENTITIES_BYTES_MAX} bytes of JSON")))
}

impl Archive {
    /// Finds the quote in the text of the file.
    async fn source_of(
        &self,
        file: &FileRecord,
        quote: &str,
        page: Option<u32>,
    ) -> Result<InsightSource, Fault> {
        let refuse = |message: String, expected: &str| {
            Fault::invalid("invalid_input", message).problem("insight.quote", expected)
        };
        if file.page_count.is_none() {
            let message = "the file has no text yet; process it before you quote it".to_owned();
            return Err(refuse(message, "words of a file that was processed"));
        }
        let Some((record, place)) = self.find_quote(file, quote, page).await? else {
            let message = "the quote is not in the file".to_owned();
            return Err(refuse(message, "words as they stand in the file"));
        };
        if let Some(page) = page.filter(|page| *page != record.page.number) {
            let message =
                format!("the quote is on page {}, not on page {page}", record.page.number);
            return Err(refuse(message, "words of the page that pageNumber names"));
        }
        Ok(InsightSource {
            file_hash: file.hash.clone(),
            passage: Passage {
                page: record.page.number,
                start: place.start,
                end: place.end,
                quote: words_at(&record.page.text, place),
            },
            part: Some(record.part).filter(|it| !it.is_empty()),
        })
    }

    /// The first page that has the quote exactly, else the first that has it with other white
    /// space. The named page is searched first.
    async fn find_quote(
        &self,
        file: &FileRecord,
        quote: &str,
        first: Option<u32>,
    ) -> Result<Option<(PageRecord, QuoteMatch)>, Fault> {
        let mut loose = None;
        let mut next = first.map(|page| page..=page).or(Some(1..=u32::MAX));
        let mut is_first = first.is_some();
        while let Some(range) = next.take() {
            let run = self.documents.pages(&file.id, range, QUERY_BYTES).await?;
            let wanted = quote.to_owned();
            let look = move || {
                let mut nearly = None;
                for page in run.pages {
                    match locate(&page.page.text, &wanted) {
                        Some(place) if place.exact => return (Some((page, place)), None),
                        Some(place) => nearly = nearly.or(Some((page, place))),
                        None => {}
                    }
                }
                (None, nearly)
            };
            let (exact, nearly) = spawn_blocking(look).await.map_err(Fault::internal)?;
            if exact.is_some() || is_first && nearly.is_some() {
                return Ok(exact.or(nearly));
            }
            loose = loose.or(nearly);
            next = if is_first { Some(1..=u32::MAX) } else { run.next.map(|it| it..=u32::MAX) };
            is_first = false;
        }
        Ok(loose)
    }
}
