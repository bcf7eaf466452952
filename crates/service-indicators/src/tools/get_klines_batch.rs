//! `get_klines_batch`: closed candles of several symbols in one reply.

use std::sync::Arc;

use contract::Cx;
use fault::Fault;
use futures_util::future::join_all;
use market::{Interval, Ticker};

use crate::Indicators;
use crate::candles::{CandleReader, Range};
use crate::tools::compute_indicators::interval;
use crate::wire::{BatchArgs, KlinesBatch};

/// Maximum number of candles of all symbols together.
const CANDLES_MAX: u64 = 20_000;

pub(crate) async fn call(cx: Cx<Indicators>, args: BatchArgs) -> Result<KlinesBatch, Fault> {
    let interval = interval(&args.interval)?;
    let (reader, range) = (&*cx.service.candles, args.range());
    let tickers = tickers(reader, &args.symbols)?;
    range.check(interval)?;
    check(tickers.len() as u64, interval, range)?;
    let found = tickers.into_iter().map(|ticker| async move {
        let name = ticker.name.clone();
        (name, reader.find(ticker, interval, range, &[], cx.deadline).await)
    });
    let (mut served, mut missing) = (Vec::new(), Vec::new());
    for (name, found) in join_all(found).await {
        match found {
            Ok(found) => served.push(found),
            Err(fault) => missing.push((name, fault)),
        }
    }
    if served.is_empty() {
        return Err(nothing_served(missing));
    }
    Ok(KlinesBatch { served, missing, errors: Arc::clone(&cx.service.errors) })
}

/// Each symbol once, in the order of the request.
fn tickers(reader: &CandleReader, symbols: &[String]) -> Result<Vec<Ticker>, Fault> {
    let mut tickers: Vec<Ticker> = Vec::with_capacity(symbols.len());
    for (at, symbol) in symbols.iter().enumerate() {
        let ticker = reader.ticker_in(&format!("symbols[{at}]"), symbol)?;
        if !tickers.contains(&ticker) {
            tickers.push(ticker);
        }
    }
    Ok(tickers)
}

fn check(symbols: u64, interval: Interval, range: Range) -> Result<(), Fault> {
    let most = CANDLES_MAX / symbols.max(1);
    let requested = range.most(interval);
    if requested <= most {
        return Ok(());
    }
    let message = format!(
        "at most {CANDLES_MAX} candles are given at once: {most} of each of {symbols} symbols, \
         not {requested}"
    );
    Err(Fault::invalid("range_too_long", message)
        .problem("limit", format!("at most {most} with {symbols} symbols")))
}

/// The first retryable fault, or the first fault if none is retryable.
fn nothing_served(mut missing: Vec<(String, Fault)>) -> Fault {
    let retryable = missing.iter().position(|(_, fault)| fault.kind().is_retryable());
    match missing.is_empty() {
        true => Fault::internal("no symbols were asked for"),
        false => missing.swap_remove(retryable.unwrap_or(0)).1,
    }
}
