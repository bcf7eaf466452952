//! `list_symbols`: the symbols of the default venue, or those that begin with a prefix.

use clock::Millis;
use contract::Cx;
use fault::Fault;
use market::{Listing, Venue};

use crate::Indicators;
use crate::wire::{Symbols, SymbolsArgs};

pub(crate) async fn call(cx: Cx<Indicators>, args: SymbolsArgs) -> Result<Symbols, Fault> {
    let (candles, now) = (&cx.service.candles, cx.service.clock.now());
    let prefix = args.prefix.unwrap_or_default().trim().to_uppercase();
    let default_venue = candles.market.default_venue;
    let mut symbols = Symbols { symbols: Vec::new(), updated_at: now, source: String::new() };
    let mut sources = Vec::new();
    for (venue, ports) in &candles.market.venues {
        let Some(prefixed) = spelling(*venue, default_venue, &prefix) else { continue };
        let listing = ports.symbols.listing().await?;
        let names = names(*venue, &listing, prefixed).filter(|name| name.starts_with(&prefix));
        symbols.add(names, listing.received_at);
        sources.push(ports.label());
    }
    sources.dedup();
    symbols.source = sources.join(", ");
    Ok(symbols)
}

impl Symbols {
    /// Adds the symbols of a listing in order. A cached listing carries the time of its receipt;
    /// `updated_at` is that of the oldest.
    fn add(&mut self, names: impl Iterator<Item = String>, received_at: Option<Millis>) {
        self.symbols.extend(names);
        self.symbols.sort_unstable();
        self.updated_at = received_at.map_or(self.updated_at, |at| at.min(self.updated_at));
    }
}

/// Whether symbols of a venue are listed with its prefix; `None` if none can begin as asked.
fn spelling(venue: Venue, default_venue: Venue, typed: &str) -> Option<bool> {
    let own = format!("{}:", venue.prefix());
    let names_venue = !typed.is_empty() && (own.starts_with(typed) || typed.starts_with(&own));
    match names_venue && (venue != default_venue || typed.starts_with(&own)) {
        true => Some(true),
        false => (venue == default_venue && !typed.contains(':')).then_some(false),
    }
}

/// The symbols of a venue, with its prefix or without.
fn names(venue: Venue, listing: &Listing, prefixed: bool) -> impl Iterator<Item = String> {
    let name = move |code: &String| match prefixed {
        true => format!("{}:{code}", venue.prefix()),
        false => code.clone(),
    };
    listing.quote_assets.keys().map(name)
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
            let source = "binance".to_owned();
            let mut symbols = Symbols { symbols: Vec::new(), updated_at: Millis(9), source };
            symbols.add(names(Venue::Binance, &listing, false), listing.received_at);
            assert_eq!(symbols.symbols, ["BTCUSDT", "ETHUSDT"]);
            assert_eq!(symbols.updated_at, Millis(updated_at));
        }
    }

    #[track_caller]
    fn check(typed: &str, binance: Option<bool>, moex: Option<bool>) {
        let of = |venue| spelling(venue, Venue::Binance, typed);
        assert_eq!((of(Venue::Binance), of(Venue::Moex)), (binance, moex), "{typed}");
    }

    #[test]
    fn only_venues_that_can_match_are_asked() {
        check("", Some(false), None);
        check("BT", Some(false), None);
        check("MO", Some(false), Some(true));
        check("MOEX:", None, Some(true));
        check("MOEX:SB", None, Some(true));
        check("BINANCE:B", Some(true), None);
        check("B", Some(false), None);
    }
}
