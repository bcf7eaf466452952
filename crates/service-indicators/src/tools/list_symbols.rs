//! `list_symbols`: the symbols of the default venue.

use clock::Millis;
use contract::Cx;
use fault::Fault;
use market::Listing;

use crate::Indicators;
use crate::wire::{NoArgs, Symbols};

pub(crate) async fn call(cx: Cx<Indicators>, _: NoArgs) -> Result<Symbols, Fault> {
    let listing = cx.service.candles.symbols()?.listing().await?;
    let source = cx.service.candles.provider().to_owned();
    Ok(symbols_of(&listing, cx.service.clock.now(), source))
}

/// A cached listing carries the time of its receipt; `updated_at` reports that time.
fn symbols_of(listing: &Listing, now: Millis, source: String) -> Symbols {
    let mut symbols: Vec<String> = listing.quote_assets.keys().cloned().collect();
    symbols.sort_unstable();
    Symbols { symbols, updated_at: listing.received_at.unwrap_or(now), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updated_at_is_the_time_of_the_listing() {
        for (received_at, updated_at) in [(Some(Millis(5)), 5), (None, 9)] {
            let listed = ["ETHUSDT", "BTCUSDT"].map(|code| (code.to_owned(), "USDT".to_owned()));
            let halted = ["LUNAUSDT".to_owned()].into();
            let listing = Listing { quote_assets: listed.into(), halted, received_at };
            let symbols = symbols_of(&listing, Millis(9), "binance".to_owned());
            assert_eq!(symbols.symbols, ["BTCUSDT", "ETHUSDT"]);
            assert_eq!(symbols.updated_at, Millis(updated_at));
        }
    }
}
