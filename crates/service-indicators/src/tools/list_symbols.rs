//! `list_symbols`: what the default venue trades.

use contract::Cx;
use fault::Fault;

use crate::Indicators;
use crate::wire::{NoArgs, Symbols};

pub(crate) async fn call(cx: Cx<Indicators>, _: NoArgs) -> Result<Symbols, Fault> {
    let listing = cx.service.candles.symbols()?.listing().await?;
    let mut symbols: Vec<String> = listing.quote_assets.keys().cloned().collect();
    symbols.sort_unstable();
    Ok(Symbols { symbols, updated_at: cx.service.clock.now() })
}
