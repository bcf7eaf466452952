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
    #[serde(default)]
    tags: Vec<String>,
    limit: usize,
    offset: usize,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let Args { query, case_id, file_id, file_type, from, to, tags, limit, offset } = args;
    let date_range = Some(DateRange { start: from, end: to });
    let args = search_documents::Args {
        query,
        case_id,
        file_id,
        file_type,
        date_range,
        tags,
        limit,
        offset,
    };
    answer(&cx, args, ["from", "to"]).await
}
