//! `arkiver_query_insights`: searches insights by keywords and filters, page by page. A filter on a
//! case the caller may not see finds nothing.

use std::sync::atomic::Ordering;

use archive_accounts::Visibility;
use archive_insights::{Insight, InsightQuery, SearchResults, SortKey};
use clock::Millis;
use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use jiff::civil::Time;
use jiff::fmt::temporal::Pieces;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Archive;
use crate::clip::clip;
use crate::job_report::insight_line;
use crate::number::rounded_down;
use crate::wire;

const LIMIT: f64 = 20.0;
/// Characters of the text, and of one insight in it.
const TEXT_MAX: usize = 20_000;
const CONTENT_SHOWN: usize = 400;

#[derive(Deserialize)]
pub(crate) struct Args {
    #[serde(default)]
    filters: Filters,
    #[serde(default)]
    sort: Sorting,
    #[serde(default)]
    pagination: Pagination,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Filters {
    keywords: Option<String>,
    #[serde(rename = "sourceLLM")]
    source_llm: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    file_id: Option<String>,
    case_id: Option<String>,
    date_range: Option<DateRange>,
    min_confidence: Option<f64>,
    category: Option<String>,
    #[serde(default)]
    rejected: bool,
}

#[derive(Deserialize)]
pub(crate) struct DateRange {
    pub(crate) start: Option<String>,
    pub(crate) end: Option<String>,
}

#[derive(Default, Deserialize)]
struct Sorting {
    field: Option<SortFieldArg>,
    order: Option<SortOrderArg>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum SortFieldArg {
    CreatedAt,
    Confidence,
    Relevance,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SortOrderArg {
    Asc,
    Desc,
}

#[derive(Default, Deserialize)]
struct Pagination {
    limit: Option<f64>,
    offset: Option<f64>,
}

pub(crate) async fn call(cx: Cx<Archive>, given: Map<String, Value>) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let same = given.clone();
    let (args, ignored): (Args, _) = archive.inputs.read("arkiver_query_insights", given)?;
    let visibility = archive.visibility(&cx.caller).await?;
    let limit = u32::try_from(rounded_down(args.pagination.limit.unwrap_or(LIMIT)));
    let limit = limit.unwrap_or(u32::MAX);
    let offset = rounded_down(args.pagination.offset.unwrap_or(0.0));
    let mut query = query(args.filters, &args.sort)?;
    (query.limit, query.offset) = (limit, offset);
    let found = match resolve_case(&visibility, &mut query) {
        true => archive.insights.query(&visibility, &query).await?,
        false => SearchResults { insights: Vec::new(), total: 0 },
    };
    let to_json = |(it, snippet): &(Insight, Option<String>)| {
        wire::insight(it, snippet.as_deref(), &visibility)
    };
    let insights: Vec<Value> = found.insights.iter().map(to_json).collect();
    let pagination = wire::pagination(limit, offset, insights.len(), found.total);
    let mut json = json!({ "success": true, "insights": insights, "total": found.total,
        "pagination": pagination });
    if archive.is_reindexing.load(Ordering::Relaxed) {
        json["indexing"] = Value::from(true);
    }
    let mut text = text(&found, same, limit, offset);
    if found.total == 0 && query.keywords.as_deref().is_some_and(has_operators) {
        text.push_str(
            " In keywords AND, OR, NOT and -word are plain words that must all occur; \
             arkiver_search_documents reads them as operators.",
        );
    }
    ignored.add_to(&mut json, &mut text);
    Ok(wire::reply(json, text))
}

fn has_operators(keywords: &str) -> bool {
    let is_operator = |word: &str| matches!(word, "AND" | "OR" | "NOT");
    keywords.split_whitespace().any(|word| is_operator(word) || word.starts_with('-'))
}

/// Replaces the name of the case by its id; false if the caller sees no such case.
fn resolve_case(visibility: &Visibility, query: &mut InsightQuery) -> bool {
    let Some(name) = &query.case_id else { return true };
    query.case_id = visibility.case_named(name).map(|case| case.id.clone());
    query.case_id.is_some()
}

/// The query; `case_id` still has the name of the case.
fn query(filters: Filters, sort: &Sorting) -> Result<InsightQuery, Fault> {
    let fields = ["filters.dateRange.start", "filters.dateRange.end"];
    let (from, to) = time_range(filters.date_range.as_ref(), fields)?;
    let mut query = InsightQuery {
        keywords: filters.keywords,
        source_llm: filters.source_llm,
        tags: filters.tags,
        file_id: filters.file_id,
        case_id: filters.case_id,
        from,
        to,
        min_confidence: filters.min_confidence,
        category: filters.category,
        rejected: filters.rejected,
        descending: sort.order != Some(SortOrderArg::Asc),
        ..InsightQuery::default()
    };
    query.sort = match sort.field {
        Some(SortFieldArg::CreatedAt) => SortKey::CreatedAt,
        Some(SortFieldArg::Confidence) => SortKey::Confidence,
        Some(SortFieldArg::Relevance) => SortKey::Relevance,
        None if query.has_keywords() => SortKey::Relevance,
        None => SortKey::CreatedAt,
    };
    Ok(query)
}

/// The start and the end of a range, whose fields have these names.
pub(crate) fn time_range(
    range: Option<&DateRange>,
    [start, end]: [&str; 2],
) -> Result<(Option<Millis>, Option<Millis>), Fault> {
    let read = |text: Option<&String>, field: &str| text.map(|it| time(it, field)).transpose();
    let from = read(range.and_then(|it| it.start.as_ref()), start)?;
    let to = read(range.and_then(|it| it.end.as_ref()), end)?;
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        let message = "the dateRange ends before it starts";
        return Err(
            Fault::invalid("invalid_input", message).problem(end, format!("a time after {start}"))
        );
    }
    Ok((from, to))
}

/// Parses a time with a zone. The schema checked the form, but not that the day exists.
fn time(text: &str, field: &str) -> Result<Millis, Fault> {
    // Parsed field by field: the last day of 9999, a common "no end", is beyond jiff's timestamps.
    if let Ok(pieces) = Pieces::parse(text)
        && let (Some(time), Some(offset)) = (pieces.time(), pieces.to_numeric_offset())
    {
        let midnight = Time::midnight();
        let since = time.duration_since(midnight).as_millis();
        let millis = i64::try_from(since).unwrap_or_default() - i64::from(offset.seconds()) * 1000;
        return Ok(Millis(Millis::start_of(pieces.date()).0 + millis));
    }
    let message = format!("{field} is no time: {:?}", clip(text, 40));
    Err(Fault::invalid("invalid_input", message)
        .problem(field, "a time such as 2025-11-22T10:00:00Z"))
}

/// A few lines per insight, and the call that gets the next ones: the same with another page.
fn text(found: &SearchResults, mut call: Map<String, Value>, limit: u32, offset: u64) -> String {
    let shown = found.insights.len();
    let mut text = match shown {
        0 => format!("{} insights match.", found.total),
        _ => {
            format!("{} insights match; {} to {}:", found.total, offset + 1, offset + shown as u64)
        }
    };
    let mut next = offset;
    for (insight, snippet) in &found.insights {
        next += 1;
        text.push_str(&insight_line(insight));
        let words = snippet.as_deref().unwrap_or(&insight.content);
        text.push_str(&format!("\n  {}", clip(words, CONTENT_SHOWN).replace('\n', " ")));
        if text.len() > TEXT_MAX {
            break;
        }
    }
    if next < found.total && shown > 0 {
        call.insert("pagination".to_owned(), json!({ "limit": limit, "offset": next }));
        text.push_str(&next_step("arkiver_query_insights", &Value::Object(call)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, millis: Option<i64>) {
        let read = time(text, "filters.dateRange.end");
        assert_eq!(read.as_ref().ok().map(|it| it.0), millis, "{text}");
        if let Err(fault) = read {
            assert_eq!(fault.problems()[0].field, "filters.dateRange.end");
        }
    }

    #[test]
    fn times_have_zones() {
        check("1970-01-01T00:00:01Z", Some(1000));
        check("1970-01-01T03:00:00+03:00", Some(0));
        check("1970-01-01t00:00:00.5z", Some(500));
        check("1970-01-01", None);
        check("1970-01-01T00:00:00", None);
        check("9999-12-31T23:59:59Z", Some(253_402_300_799_000));
        check("0001-01-01T00:00:00Z", Some(-62_135_596_800_000));
        check("yesterday", None);
        check("", None);
        check("2024-13-01T00:00:00Z", None);
        check("9999-12-31T23:59:59.999Z", Some(253_402_300_799_999));
    }

    #[test]
    fn the_default_order_is_by_relevance_when_there_are_keywords() {
        let asked = |keywords: Option<&str>, sort: Value| {
            let filters = Filters { keywords: keywords.map(str::to_owned), ..Filters::default() };
            let sort: Sorting = serde_json::from_value(sort).unwrap();
            let query = query(filters, &sort).unwrap();
            (query.sort, query.descending)
        };
        assert_eq!(asked(Some("words"), json!({})), (SortKey::Relevance, true));
        assert_eq!(asked(None, json!({})), (SortKey::CreatedAt, true));
        assert_eq!(asked(None, json!({ "order": "asc" })), (SortKey::CreatedAt, false));
        let confidence = json!({ "field": "confidence", "order": "asc" });
        assert_eq!(asked(Some("x"), confidence), (SortKey::Confidence, false));
    }
}
