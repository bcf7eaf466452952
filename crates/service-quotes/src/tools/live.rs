//! `quotes.live`: the latest price of each ticker asked for.

use contract::Cx;
use fault::Fault;

use crate::Quotes;
use crate::answer::Live;
use crate::wire::{LiveArgs, api_cx};

pub(crate) async fn call(cx: Cx<Quotes>, args: LiveArgs) -> Result<Live, Fault> {
    cx.service.api.live(&api_cx(&cx), &args.tickers).await
}
