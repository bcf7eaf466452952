//! `list_symbols`: what the default venue trades.

use clock::Millis;
use contract::Cx;
use fault::Fault;
use market::Listing;

use crate::Indicators;
use crate::wire::{NoArgs, Symbols};

pub(crate) async fn call(cx: Cx<Indicators>, _: NoArgs) -> Result<Symbols, Fault> {
    let listing = cx.service.candles.symbols()?.listing().await?;
    Ok(told(&listing, cx.service.clock.now()))
}

/// A listing may have been kept for a while, and says since when.
fn told(listing: &Listing, now: Millis) -> Symbols {
    let mut symbols: Vec<String> = listing.quote_assets.keys().cloned().collect();
    symbols.sort_unstable();
    Symbols { symbols, updated_at: listing.received_at.unwrap_or(now) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_as_old_as_what_the_venue_said() {
        for (received_at, updated_at) in [(Some(Millis(5)), 5), (None, 9)] {
            let listed = ["ETHUSDT", "BTCUSDT"].map(|code| (code.to_owned(), "USDT".to_owned()));
            let halted = ["LUNAUSDT".to_owned()].into();
            let listing = Listing { quote_assets: listed.into(), halted, received_at };
            let symbols = told(&listing, Millis(9));
            assert_eq!(symbols.symbols, ["BTCUSDT", "ETHUSDT"]);
            assert_eq!(symbols.updated_at, Millis(updated_at));
        }
    }
}
