//! Where else an unknown symbol might be meant: other venues that list it, or the venues there are.

use std::sync::Arc;

use fault::Fault;

use crate::{SymbolSource, Ticker, Venue};

/// What separates suggestions from the rest of a message about an unknown symbol.
const DID_YOU_MEAN: &str = "; did you mean ";

/// The fault about an unknown symbol with the venues that do list it first among its suggestions,
/// and with the venues there are if nothing else is suggested. Other faults stay as they are.
pub async fn hint_venues(
    fault: Fault,
    ticker: &Ticker,
    venues: Vec<(Venue, Arc<dyn SymbolSource>)>,
) -> Fault {
    if fault.code() != "unknown_symbol" {
        return fault;
    }
    let mut listed_at = Vec::new();
    for (venue, symbols) in venues.iter().filter(|(venue, _)| *venue != ticker.symbol.venue) {
        let listing = symbols.listing().await;
        if listing.is_ok_and(|listing| listing.contains(&ticker.symbol.code)) {
            listed_at.push(format!("{}:{}", venue.prefix(), ticker.symbol.code));
        }
    }
    let message = hinted(fault.message(), listed_at, venues.iter().map(|(venue, _)| *venue));
    fault.reworded(message)
}

fn hinted(message: &str, listed_at: Vec<String>, venues: impl Iterator<Item = Venue>) -> String {
    let (head, near) = message.split_once(DID_YOU_MEAN).unwrap_or((message, ""));
    let near = near.trim_end_matches('?').split(", ").filter(|it| !it.is_empty());
    let meant: Vec<String> = listed_at.into_iter().chain(near.map(ToOwned::to_owned)).collect();
    if !meant.is_empty() {
        return format!("{head}{DID_YOU_MEAN}{}?", meant.join(", "));
    }
    let venues: Vec<&str> = venues.map(Venue::prefix).collect();
    let venues = venues.join(", ");
    format!("{head}; the venues are {venues}: write MOEX:SBER, or FILE:NAME for imported bars")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, listed_at: &[&str], expected: &str) {
        let listed_at = listed_at.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(hinted(message, listed_at, Venue::ALL.into_iter()), expected);
    }

    #[test]
    fn other_venues_are_suggested_first() {
        let unlisted = "symbol \"SBER\" is not listed on Binance";
        check(unlisted, &["MOEX:SBER"], &format!("{unlisted}; did you mean MOEX:SBER?"));
        let near = format!("{unlisted}; did you mean SBTC?");
        check(&near, &["MOEX:SBER"], &format!("{unlisted}; did you mean MOEX:SBER, SBTC?"));
        check(&near, &[], &near);
        let venues = "the venues are BINANCE, MOEX, FILE: write MOEX:SBER, or FILE:NAME for \
                      imported bars";
        check(unlisted, &[], &format!("{unlisted}; {venues}"));
    }
}
