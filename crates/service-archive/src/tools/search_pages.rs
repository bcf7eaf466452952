//! `arkiver_search_pages`: the search of `arkiver_search_documents` with its arguments as
//! parameters of an address.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;

use crate::Archive;
use crate::tools::query_insights::DateRange;
use crate::tools::search_documents::{self, answer};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    query: String,
    case_id: Option<String>,
    file_id: Option<String>,
    file_type: Option<String>,
    from: Option<String>,
    to: Option<String>,
    document_type: Option<String>,
    document_from: Option<String>,
    document_to: Option<String>,
    event_from: Option<String>,
    event_to: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    limit: usize,
    offset: usize,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let between = |start: Option<String>, end: Option<String>| {
        (start.is_some() || end.is_some()).then_some(DateRange { start, end })
    };
    let args = search_documents::Args {
        query: args.query,
        case_id: args.case_id,
        file_id: args.file_id,
        file_type: args.file_type,
        date_range: between(args.from, args.to),
        document_type: args.document_type,
        document_date: between(args.document_from, args.document_to),
        event_date: between(args.event_from, args.event_to),
        tags: args.tags,
        limit: args.limit,
        offset: args.offset,
    };
    answer(&cx, args, ["from", "to"]).await
}
