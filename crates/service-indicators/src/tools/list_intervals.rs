//! `list_intervals`: the intervals at which candles of a symbol can be had.

use contract::Cx;
use fault::Fault;
use market::Interval;

use crate::Indicators;
use crate::wire::{Intervals, IntervalsArgs};

pub(crate) async fn call(cx: Cx<Indicators>, args: IntervalsArgs) -> Result<Intervals, Fault> {
    let candles = &cx.service.candles;
    // While a symbol is being typed it may name no venue yet; every interval is offered then.
    let ticker = args.symbol.as_deref().and_then(|symbol| candles.ticker(symbol).ok());
    let has = |interval: &Interval| match &ticker {
        Some(ticker) => candles.has_interval(ticker, *interval),
        None => true,
    };
    let source = ticker.as_ref().and_then(|ticker| candles.source(ticker).ok());
    let source = source.unwrap_or_else(|| candles.provider()).to_owned();
    let intervals = Interval::ALL.into_iter().filter(has).map(Interval::as_str).collect();
    Ok(Intervals { intervals, source })
}
