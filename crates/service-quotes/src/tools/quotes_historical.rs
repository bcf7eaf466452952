//! `quotes.historical`: closed bars between two dates, page by page.

use contract::Cx;
use fault::Fault;

use crate::Quotes;
use crate::reply::HistoryQuery;
use crate::wire::{HistoricalArgs, HistoryPage, api_context};

pub(crate) async fn call(cx: Cx<Quotes>, args: HistoricalArgs) -> Result<HistoryPage, Fault> {
    let query = HistoryQuery::try_from(args)?;
    let history = cx.service.api.historical(&api_context(&cx), &query).await?;
    Ok(HistoryPage { history, query })
}
