//! `quotes.live`: the latest price of each requested ticker.

use contract::Cx;
use fault::Fault;

use crate::Quotes;
use crate::reply::LiveReply;
use crate::wire::{LiveArgs, api_context};

pub(crate) async fn call(cx: Cx<Quotes>, args: LiveArgs) -> Result<LiveReply, Fault> {
    cx.service.api.live(&api_context(&cx), &args.tickers).await
}
