//! `get_klines`: closed candles alone, for user interfaces.

use contract::Cx;
use fault::Fault;

use crate::Indicators;
use crate::tools::compute_indicators::interval;
use crate::wire::{Klines, KlinesArgs};

pub(crate) async fn call(cx: Cx<Indicators>, args: KlinesArgs) -> Result<Klines, Fault> {
    let interval = interval(&args.interval)?;
    let reader = &cx.service.candles;
    let ticker = reader.ticker(&args.symbol)?;
    let selection = reader.find(ticker, interval, args.range(), &[], cx.deadline).await?;
    Ok(Klines(selection))
}
