//! Symbols and tickers: `BTCUSDT`, `BINANCE:BTCUSDT`, `MOEX:SBER`, `FILE:NAME`.

use std::fmt;

use fault::Fault;

/// Where an instrument trades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Venue {
    /// Binance.
    Binance,
    /// Moscow Exchange.
    Moex,
    /// Bars imported from files.
    File,
}

impl Venue {
    /// Every venue.
    pub const ALL: [Self; 3] = [Self::Binance, Self::Moex, Self::File];

    /// The prefix of a ticker before its colon.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Binance => "BINANCE",
            Self::Moex => "MOEX",
            Self::File => "FILE",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|venue| venue.prefix() == text)
    }
}

/// A symbol at a venue, upper case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol {
    /// Where it trades.
    pub venue: Venue,
    /// The venue's code.
    pub code: String,
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.venue.prefix(), self.code)
    }
}

/// A symbol with the spelling of the request, which the reply repeats.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticker {
    /// Upper case; has a venue prefix only if the caller wrote one.
    pub name: String,
    /// The symbol it names.
    pub symbol: Symbol,
}

impl Ticker {
    /// The most characters of a ticker; longer than any venue's symbol with its prefix.
    pub const LENGTH_MAX: usize = 40;

    /// Parses a ticker in any case. The problem of the fault names no field; the caller adds it.
    pub fn parse(text: &str, default_venue: Venue) -> Result<Self, Fault> {
        let refuse = |expected: &str| {
            let shown: String = text.chars().take(Self::LENGTH_MAX).collect();
            Fault::invalid("invalid_ticker", format!("ticker {shown:?} is not valid"))
                .problem("", expected)
        };
        let name = text.trim().to_uppercase();
        if name.is_empty() {
            return Err(refuse("a symbol such as BTCUSDT or BINANCE:BTCUSDT"));
        }
        if name.chars().count() > Self::LENGTH_MAX {
            return Err(refuse("at most 40 characters"));
        }
        let (venue, code) = match name.split_once(':') {
            None => (default_venue, name.as_str()),
            Some((prefix, code)) => match Venue::parse(prefix) {
                Some(venue) => (venue, code),
                None => {
                    return Err(refuse("one of the venues BINANCE, MOEX, FILE before the colon"));
                }
            },
        };
        // Exchanges list symbols outside ASCII, so only characters that no symbol contains are
        // refused here; the venue decides whether the symbol exists.
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let joined = joined_pair(venue, code);
        let code = joined.as_deref().unwrap_or(code);
        if code.is_empty() || !code.chars().all(plain) {
            return Err(refuse("letters, digits, '-', '_' and '.' only"));
        }
        let symbol = Symbol { venue, code: code.to_owned() };
        let name = match (joined, name.split_once(':')) {
            (None, _) => name,
            (Some(code), None) => code,
            (Some(code), Some((prefix, _))) => format!("{prefix}:{code}"),
        };
        Ok(Self { name, symbol })
    }

    /// The fault for a ticker whose venue is not in `served`.
    pub fn not_served(&self, served: impl Iterator<Item = Venue>) -> Fault {
        let served: Vec<&str> = served.map(Venue::prefix).collect();
        let (name, served) = (&self.name, served.join(", "));
        let message = format!("the venue of {name:?} is not served here; served: {served}");
        Fault::not_found("unknown_venue", message)
    }
}

/// `BTC/USDT` and `BTC-USDT` as Binance writes them; `None` for anything else.
fn joined_pair(venue: Venue, code: &str) -> Option<String> {
    let (base, quote) = code.split_once(['/', '-']).filter(|_| venue == Venue::Binance)?;
    let plain = |part: &str| !part.is_empty() && part.chars().all(char::is_alphanumeric);
    (plain(base) && plain(quote)).then(|| format!("{base}{quote}"))
}

/// The quote asset that most people mean if they name only the base asset.
const USUAL_QUOTE_ASSET: &str = "USDT";

/// Up to `limit` known codes that are close to the misspelled `asked`, nearest first.
pub fn closest_codes<'a>(
    asked: &str,
    known: impl Iterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let asked: Vec<char> = asked.chars().collect();
    let tolerance = (asked.len() / 3).clamp(1, 3);
    let mut near: Vec<(usize, bool, &str)> = known
        .filter_map(|code| {
            let letters: Vec<char> = code.chars().collect();
            let contained = asked.len() >= 2 && letters.starts_with(&asked);
            let distance = if contained { 1 } else { edit_distance(&asked, &letters, tolerance)? };
            let usual =
                contained && letters[asked.len()..].iter().copied().eq(USUAL_QUOTE_ASSET.chars());
            Some((distance, !usual, code))
        })
        .collect();
    near.sort_unstable();
    near.into_iter().take(limit).map(|(_, _, code)| code).collect()
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two words;
/// `None` above the tolerance.
fn edit_distance(left: &[char], right: &[char], tolerance: usize) -> Option<usize> {
    if left.len().abs_diff(right.len()) > tolerance {
        return None;
    }
    let width = right.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut above: Vec<usize> = (0..width).collect();
    for (row, &from) in left.iter().enumerate() {
        let mut current = vec![row + 1; width];
        for (column, &to) in right.iter().enumerate() {
            let replace = above[column] + usize::from(from != to);
            let mut best = replace.min(above[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && from == right[column - 1] && left[row - 1] == to {
                best = best.min(before[column - 1] + 1);
            }
            current[column + 1] = best;
        }
        before = std::mem::replace(&mut above, current);
    }
    (above[width - 1] <= tolerance).then_some(above[width - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: &str, symbol: &str) {
        let ticker = Ticker::parse(text, Venue::Binance).unwrap();
        assert_eq!((ticker.name.as_str(), ticker.symbol.to_string().as_str()), (name, symbol));
    }

    #[test]
    fn tickers_are_parsed_in_any_case_and_of_any_venue() {
        check("btcusdt", "BTCUSDT", "BINANCE:BTCUSDT");
        check(" ethUSDT ", "ETHUSDT", "BINANCE:ETHUSDT");
        check("moex:sber", "MOEX:SBER", "MOEX:SBER");
        check("FILE:my-bars.v2", "FILE:MY-BARS.V2", "FILE:MY-BARS.V2");
        check("btc/usdt", "BTCUSDT", "BINANCE:BTCUSDT");
        check("BTC-USDT", "BTCUSDT", "BINANCE:BTCUSDT");
        check("binance:Btc/Usdt", "BINANCE:BTCUSDT", "BINANCE:BTCUSDT");
        check("MOEX:A-B", "MOEX:A-B", "MOEX:A-B");
    }

    #[test]
    fn invalid_tickers_are_refused() {
        for text in [
            "",
            "  ",
            "NYSE:IBM",
            "MOEX:",
            "A B",
            "A/",
            "/B",
            "A/B/C",
            "MOEX:A/B",
            "A\0",
            &"A".repeat(41),
        ] {
            let fault = Ticker::parse(text, Venue::Binance).unwrap_err();
            assert_eq!(fault.code(), "invalid_ticker", "{text:?}");
        }
    }

    #[test]
    fn suggestions_are_ordered_by_distance() {
        let known = ["BTCUSDT", "ETHUSDT", "BTCUSDC", "BNBUSDT"];
        assert_eq!(closest_codes("BTCUST", known.into_iter(), 2), ["BTCUSDT", "BTCUSDC"]);
        assert_eq!(closest_codes("BCTUSDT", known.into_iter(), 1), ["BTCUSDT"]);
        assert_eq!(closest_codes("ETH", known.into_iter(), 3), ["ETHUSDT"]);
        assert!(closest_codes("ZZZZZZZZ", known.into_iter(), 3).is_empty());
        let quoted = ["BTCEUR", "BTCFDUSD", "BTCUSDC", "BTCUSDT"];
        assert_eq!(closest_codes("BTC", quoted.into_iter(), 2), ["BTCUSDT", "BTCEUR"]);
    }
}
