//! `list_symbols`: the symbols of the default venue, or those that begin with a prefix.

use contract::Cx;
use fault::Fault;
use market::{Listing, Venue};

use crate::Indicators;
use crate::wire::{Symbols, SymbolsArgs};

pub(crate) async fn call(cx: Cx<Indicators>, args: SymbolsArgs) -> Result<Symbols, Fault> {
    let (candles, now) = (&cx.service.candles, cx.service.clock.now());
    let prefix = args.prefix.unwrap_or_default().trim().to_uppercase();
    let default_venue = candles.market.default_venue;
    let mut found = Vec::new();
    let mut updated_at = now;
    let mut sources = Vec::new();
    for (venue, ports) in &candles.market.venues {
        let Some(prefixed) = spelling(*venue, default_venue, &prefix) else { continue };
        let listing = ports.symbols.listing().await?;
        found.extend(codes(*venue, &listing, prefixed).filter(|name| name.starts_with(&prefix)));
        updated_at = updated_at.min(listing.received_at.unwrap_or(now));
        sources.push(ports.label());
    }
    found.sort_unstable();
    sources.dedup();
    Ok(Symbols { symbols: found, updated_at, source: sources.join(", ") })
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

fn codes(venue: Venue, listing: &Listing, prefixed: bool) -> impl Iterator<Item = String> {
    let name = move |code: &String| match prefixed {
        true => format!("{}:{code}", venue.prefix()),
        false => code.clone(),
    };
    listing.quote_assets.keys().map(name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
