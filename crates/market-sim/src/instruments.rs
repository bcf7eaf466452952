//! The assets of the simulated exchange with their prices in dollars, and the listed pairs.

use std::collections::HashMap;

use clock::Millis;
use jiff::civil::Date;

/// An asset and the parameters of its price.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) usd: f64,
    /// The usual daily move that is independent of the market, as a fraction.
    pub(crate) volatility: f64,
    /// How strongly it follows the market as a whole.
    pub(crate) beta: f64,
}

/// A listed pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instrument {
    pub(crate) symbol: &'static str,
    pub(crate) base: Asset,
    pub(crate) quote: Asset,
    /// Decimals of the price; the tick is one unit of the last of them.
    pub(crate) price_scale: u32,
    /// Decimals of the volume; the step is one unit of the last of them.
    pub(crate) volume_scale: u32,
    /// Usual turnover of a day, in dollars.
    pub(crate) turnover_usd: f64,
    pub(crate) trades_per_day: f64,
    pub(crate) listed: Millis,
    /// When trading stopped, and the status the pair has had since.
    pub(crate) stopped: Option<(Millis, &'static str)>,
}

impl Instrument {
    pub(crate) fn status_at(&self, now: Millis) -> &'static str {
        match self.stopped {
            Some((since, status)) if since <= now => status,
            _ => "TRADING",
        }
    }
}

const fn asset(name: &'static str, usd: f64, volatility: f64, beta: f64) -> Asset {
    Asset { name, usd, volatility, beta }
}

const ASSETS: [Asset; 38] = [
    asset("USDT", 1.0, 0.0, 0.0),
    asset("USDC", 1.0, 0.000_05, 0.0),
    asset("FDUSD", 0.999, 0.000_1, 0.0),
    asset("TRY", 0.0245, 0.002, 0.02),
    asset("EUR", 1.16, 0.004, 0.02),
    asset("BTC", 96_400.0, 0.008, 1.0),
    asset("ETH", 3_280.0, 0.015, 1.25),
    asset("BNB", 915.0, 0.014, 0.9),
    asset("SOL", 148.0, 0.022, 1.4),
    asset("XRP", 2.31, 0.022, 1.1),
    asset("ADA", 0.512, 0.022, 1.2),
    asset("DOGE", 0.164, 0.026, 1.4),
    asset("PEPE", 0.000_011_4, 0.042, 1.7),
    asset("SHIB", 0.000_009_6, 0.03, 1.4),
    asset("TRX", 0.294, 0.012, 0.6),
    asset("AVAX", 15.8, 0.024, 1.4),
    asset("LINK", 14.1, 0.024, 1.3),
    asset("DOT", 2.87, 0.022, 1.3),
    asset("LTC", 98.6, 0.02, 1.0),
    asset("BCH", 497.0, 0.022, 1.0),
    asset("UNI", 7.42, 0.03, 1.4),
    asset("ATOM", 2.96, 0.022, 1.2),
    asset("ETC", 15.3, 0.022, 1.1),
    asset("XLM", 0.271, 0.024, 1.1),
    asset("NEAR", 2.58, 0.03, 1.5),
    asset("APT", 3.12, 0.028, 1.4),
    asset("ARB", 0.262, 0.03, 1.5),
    asset("OP", 0.421, 0.03, 1.5),
    asset("FIL", 2.11, 0.028, 1.3),
    asset("INJ", 7.58, 0.032, 1.5),
    asset("SUI", 2.02, 0.032, 1.5),
    asset("WIF", 0.462, 0.045, 1.8),
    asset("BONK", 0.000_012_3, 0.042, 1.7),
    asset("AAVE", 203.0, 0.028, 1.3),
    asset("HBAR", 0.178, 0.026, 1.2),
    asset("LUNA", 64.0, 0.03, 1.5),
    asset("AGORA", 4.2, 0.05, 1.6),
    asset("OBOL", 0.083, 0.05, 0.4),
];

struct Row(
    (&'static str, &'static str, &'static str),
    (u32, u32),
    (f64, f64),
    (i16, i8, i8, i8),
    Option<(i16, i8, i8, &'static str)>,
);

/// Symbol, its assets; decimals of price and volume; millions of dollars and thousands of trades a
/// day; day and hour of listing; when and how trading stopped.
const PAIRS: [Row; 43] = [
    Row(("BTCUSDT", "BTC", "USDT"), (2, 5), (1_900.0, 2_600.0), (2017, 8, 17, 4), None),
    Row(("ETHUSDT", "ETH", "USDT"), (2, 4), (1_400.0, 2_100.0), (2017, 8, 17, 4), None),
    Row(("BNBUSDT", "BNB", "USDT"), (2, 3), (260.0, 420.0), (2017, 11, 6, 3), None),
    Row(("SOLUSDT", "SOL", "USDT"), (2, 3), (540.0, 900.0), (2020, 8, 11, 6), None),
    Row(("XRPUSDT", "XRP", "USDT"), (4, 1), (460.0, 780.0), (2018, 5, 4, 8), None),
    Row(("ADAUSDT", "ADA", "USDT"), (4, 1), (110.0, 260.0), (2018, 4, 17, 4), None),
    Row(("DOGEUSDT", "DOGE", "USDT"), (5, 0), (220.0, 420.0), (2019, 7, 5, 12), None),
    Row(("PEPEUSDT", "PEPE", "USDT"), (8, 0), (140.0, 210.0), (2023, 5, 5, 16), None),
    Row(("SHIBUSDT", "SHIB", "USDT"), (8, 0), (38.0, 90.0), (2021, 5, 10, 11), None),
    Row(("BTCUSDC", "BTC", "USDC"), (2, 5), (280.0, 510.0), (2018, 12, 15, 3), None),
    Row(("ETHUSDC", "ETH", "USDC"), (2, 4), (150.0, 330.0), (2018, 12, 15, 3), None),
    Row(("BTCFDUSD", "BTC", "FDUSD"), (2, 5), (510.0, 690.0), (2023, 8, 4, 8), None),
    Row(("USDCUSDT", "USDC", "USDT"), (5, 0), (900.0, 300.0), (2018, 12, 15, 3), None),
    Row(("EURUSDT", "EUR", "USDT"), (4, 1), (34.0, 52.0), (2020, 1, 3, 8), None),
    Row(("USDTTRY", "USDT", "TRY"), (2, 0), (60.0, 95.0), (2019, 11, 29, 8), None),
    Row(("BTCEUR", "BTC", "EUR"), (2, 5), (16.0, 43.0), (2020, 1, 3, 8), None),
    Row(("ETHBTC", "ETH", "BTC"), (5, 4), (64.0, 98.0), (2017, 7, 14, 4), None),
    Row(("BNBBTC", "BNB", "BTC"), (6, 3), (14.0, 38.0), (2017, 7, 14, 4), None),
    Row(("SOLBTC", "SOL", "BTC"), (7, 3), (9.0, 21.0), (2020, 8, 11, 6), None),
    Row(("TRXUSDT", "TRX", "USDT"), (4, 1), (84.0, 120.0), (2018, 6, 11, 11), None),
    Row(("AVAXUSDT", "AVAX", "USDT"), (2, 2), (48.0, 110.0), (2020, 9, 22, 6), None),
    Row(("LINKUSDT", "LINK", "USDT"), (2, 2), (66.0, 140.0), (2019, 1, 16, 10), None),
    Row(("DOTUSDT", "DOT", "USDT"), (3, 2), (27.0, 74.0), (2020, 8, 18, 23), None),
    Row(("LTCUSDT", "LTC", "USDT"), (2, 3), (52.0, 130.0), (2017, 12, 13, 3), None),
    Row(("BCHUSDT", "BCH", "USDT"), (1, 3), (31.0, 60.0), (2019, 11, 28, 10), None),
    Row(("UNIUSDT", "UNI", "USDT"), (3, 2), (29.0, 66.0), (2020, 9, 17, 3), None),
    Row(("ATOMUSDT", "ATOM", "USDT"), (3, 2), (12.0, 36.0), (2019, 4, 29, 4), None),
    Row(("ETCUSDT", "ETC", "USDT"), (2, 2), (13.0, 34.0), (2018, 6, 12, 10), None),
    Row(("XLMUSDT", "XLM", "USDT"), (4, 0), (24.0, 53.0), (2018, 5, 31, 9), None),
    Row(("NEARUSDT", "NEAR", "USDT"), (3, 1), (38.0, 82.0), (2020, 10, 14, 8), None),
    Row(("APTUSDT", "APT", "USDT"), (3, 2), (19.0, 47.0), (2022, 10, 19, 1), None),
    Row(("ARBUSDT", "ARB", "USDT"), (4, 1), (25.0, 61.0), (2023, 3, 23, 17), None),
    Row(("OPUSDT", "OP", "USDT"), (4, 2), (15.0, 44.0), (2022, 6, 1, 7), None),
    Row(("FILUSDT", "FIL", "USDT"), (3, 2), (20.0, 42.0), (2020, 10, 15, 4), None),
    Row(("INJUSDT", "INJ", "USDT"), (3, 2), (14.0, 39.0), (2020, 10, 21, 4), None),
    Row(("SUIUSDT", "SUI", "USDT"), (4, 1), (110.0, 200.0), (2023, 5, 3, 12), None),
    Row(("WIFUSDT", "WIF", "USDT"), (4, 2), (21.0, 58.0), (2024, 3, 5, 14), None),
    Row(("BONKUSDT", "BONK", "USDT"), (8, 0), (24.0, 51.0), (2023, 12, 15, 8), None),
    Row(("AAVEUSDT", "AAVE", "USDT"), (2, 3), (33.0, 71.0), (2020, 10, 16, 3), None),
    Row(("HBARUSDT", "HBAR", "USDT"), (5, 0), (36.0, 78.0), (2019, 9, 29, 4), None),
    // Halted for good, but still listed.
    Row(
        ("LUNAUSDT", "LUNA", "USDT"),
        (4, 2),
        (90.0, 150.0),
        (2020, 8, 21, 10),
        Some((2022, 5, 13, "BREAK")),
    ),
    // A new pair, and a pair that rarely trades: whole minutes pass without a trade.
    Row(("AGORAUSDT", "AGORA", "USDT"), (4, 1), (7.0, 26.0), (2026, 10, 6, 12), None),
    Row(("OBOLBNB", "OBOL", "BNB"), (8, 0), (0.05, 0.4), (2025, 5, 7, 10), None),
];

/// Every pair, with an index by symbol.
#[derive(Debug)]
pub(crate) struct Instruments {
    all: Vec<Instrument>,
    by_symbol: HashMap<&'static str, usize>,
}

impl Instruments {
    pub(crate) fn new() -> Self {
        let all: Vec<Instrument> = PAIRS.iter().filter_map(instrument).collect();
        let by_symbol = all.iter().enumerate().map(|(at, pair)| (pair.symbol, at)).collect();
        Self { all, by_symbol }
    }

    /// The pair, if it is listed at `now`.
    pub(crate) fn find(&self, symbol: &str, now: Millis) -> Option<&Instrument> {
        let pair = self.all.get(*self.by_symbol.get(symbol)?)?;
        (pair.listed <= now).then_some(pair)
    }

    pub(crate) fn listed_at(&self, now: Millis) -> impl Iterator<Item = &Instrument> {
        self.all.iter().filter(move |pair| pair.listed <= now)
    }
}

fn instrument(row: &Row) -> Option<Instrument> {
    let Row(
        (symbol, base, quote),
        (price_scale, volume_scale),
        (turnover, trades),
        listed,
        stopped,
    ) = row;
    let find = |name: &str| ASSETS.iter().copied().find(|asset| asset.name == name);
    let at = |year, month, day, hour: i8| {
        Millis(Millis::start_of(Date::constant(year, month, day)).0 + i64::from(hour) * 3_600_000)
    };
    Some(Instrument {
        symbol,
        base: find(base)?,
        quote: find(quote)?,
        price_scale: *price_scale,
        volume_scale: *volume_scale,
        turnover_usd: turnover * 1e6,
        trades_per_day: trades * 1e3,
        listed: at(listed.0, listed.1, listed.2, listed.3),
        stopped: stopped.map(|(year, month, day, status)| (at(year, month, day, 2), status)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_an_instrument() {
        let instruments = Instruments::new();
        assert_eq!(instruments.all.len(), PAIRS.len());
        assert_eq!(instruments.by_symbol.len(), PAIRS.len());
        for pair in &instruments.all {
            assert_eq!(pair.symbol, format!("{}{}", pair.base.name, pair.quote.name));
            assert!(pair.price_scale <= 8 && pair.volume_scale <= 8);
            let ticks = pair.base.usd / pair.quote.usd * 10_f64.powi(pair.price_scale as i32);
            assert!(ticks > 500.0, "{} has too coarse a tick", pair.symbol);
        }
    }

    #[test]
    fn a_pair_is_unknown_before_its_listing_and_stops_at_its_end() {
        let instruments = Instruments::new();
        let at = |year, month, day| Millis::start_of(Date::constant(year, month, day));
        assert!(instruments.find("AGORAUSDT", at(2026, 10, 1)).is_none());
        assert!(instruments.find("AGORAUSDT", at(2026, 10, 7)).is_some());
        let luna = instruments.find("LUNAUSDT", at(2022, 1, 1)).unwrap();
        assert_eq!(luna.status_at(at(2022, 1, 1)), "TRADING");
        assert_eq!(luna.status_at(at(2022, 5, 14)), "BREAK");
    }
}
