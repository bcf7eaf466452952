//! The listed securities of the simulated Moscow exchange: shares from a table, their splits, and
//! indices of them.

use std::collections::HashMap;

use clock::parse_date;
use jiff::civil::Date;

use super::calendar::day_of;
use crate::keyed_rng::{KeyedRng, key_of};

/// A share of the main board.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    pub(crate) secid: &'static str,
    pub(crate) short_name: &'static str,
    pub(crate) company: &'static str,
    pub(crate) latin: &'static str,
    pub(crate) preferred: bool,
    pub(crate) isin: String,
    /// The usual price, around which the price moves, in roubles per today's share.
    pub(crate) price: f64,
    pub(crate) decimals: u32,
    /// The smallest change of the price, in millionths.
    pub(crate) step: i64,
    pub(crate) lot: i64,
    pub(crate) issue_size: i64,
    pub(crate) level: i64,
    /// The usual daily move that is independent of the market, as a fraction.
    pub(crate) volatility: f64,
    /// How strongly it follows the market as a whole.
    pub(crate) beta: f64,
    /// The usual turnover in roubles per day.
    pub(crate) turnover: f64,
    /// The index of its industry, such as `MOEXOG`.
    pub(crate) sector: Option<&'static str>,
    /// Its weight in the broad index when every price is at its usual level; zero if it is no
    /// member.
    pub(crate) weight: f64,
    pub(crate) listed: i64,
    /// The share of days without trades.
    pub(crate) quiet: f64,
    /// The yearly dividend as a fraction of the price, and the number of payments.
    pub(crate) dividend_yield: f64,
    pub(crate) payments: i64,
    pub(crate) split: Option<Split>,
}

/// A change of the number of shares. Prices before it stay as they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) day: i64,
    /// Trading is suspended from this day up to the split.
    pub(crate) halted: i64,
    /// Shares before the split.
    pub(crate) before: i64,
    /// Shares after the split.
    pub(crate) after: i64,
    /// The smallest change of the price before the split, in millionths.
    pub(crate) step_before: i64,
}

impl Share {
    pub(crate) fn full_name(&self) -> String {
        format!("{} {}", self.company, if self.preferred { "ап" } else { "ао" })
    }

    pub(crate) fn latin_name(&self) -> String {
        if self.preferred { format!("{} (pref)", self.latin) } else { self.latin.to_owned() }
    }

    pub(crate) fn issuer(&self) -> String {
        match (self.company.strip_suffix(" ПАО"), self.company.strip_prefix("МКПАО ")) {
            (Some(name), _) => format!("Публичное акционерное общество \"{name}\""),
            (_, Some(name)) => {
                format!("Международная компания публичное акционерное общество \"{name}\"")
            }
            _ => self.company.to_owned(),
        }
    }

    /// The same for all shares of an issuer.
    pub(crate) fn issuer_id(&self) -> i64 {
        (key_of(self.company) % 90_000 + 1_000).cast_signed()
    }

    pub(crate) fn taxpayer(&self) -> String {
        format!("77{:08}", key_of(self.company) / 7 % 100_000_000)
    }

    pub(crate) fn registration(&self) -> String {
        let kind = if self.preferred { 2 } else { 1 };
        format!("{kind}-01-{:05}-A", key_of(self.company) / 3 % 100_000)
    }

    /// The number of today's shares that one share of that day became.
    pub(crate) fn factor(&self, day: i64) -> f64 {
        match self.split {
            Some(split) if day < split.day => split.after as f64 / split.before as f64,
            _ => 1.0,
        }
    }

    pub(crate) fn step_on(&self, day: i64) -> i64 {
        match self.split {
            Some(split) if day < split.day => split.step_before,
            _ => self.step,
        }
    }

    pub(crate) fn halted_on(&self, day: i64) -> bool {
        self.split.is_some_and(|split| (split.halted..split.day).contains(&day))
    }

    /// Whether the share is liquid enough to trade on weekends.
    pub(crate) fn trades_on_weekends(&self) -> bool {
        self.turnover >= 100e6
    }
}

/// An index of shares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Index {
    pub(crate) secid: &'static str,
    pub(crate) board: &'static str,
    pub(crate) short_name: &'static str,
    pub(crate) name: &'static str,
    pub(crate) latin: &'static str,
    pub(crate) currency: &'static str,
    /// Its value when every price is at its usual level.
    pub(crate) base: f64,
    pub(crate) since: Date,
}

const fn index(
    secid: &'static str,
    short_name: &'static str,
    latin: &'static str,
    base: f64,
) -> Index {
    let since = Date::constant(2013, 3, 25);
    let (board, name, currency) = ("SNDX", short_name, "RUB");
    Index { secid, board, short_name, name, latin, currency, base, since }
}

pub(crate) const INDICES: [Index; 11] = [
    index("IMOEX", "Индекс МосБиржи", "MOEX Russia Index", 2_720.0),
    index("MOEXCH", "Индекс химии и нефтехимии", "MOEX Chemicals", 34_100.0),
    index("MOEXCN", "Индекс потребит сектора", "MOEX Consumer", 7_840.0),
    index("MOEXEU", "Индекс электроэнергетики", "MOEX Electric Utilities", 1_790.0),
    index("MOEXFN", "Индекс финансов", "MOEX Financials", 10_260.0),
    index("MOEXIT", "Индекс информ. технологий", "MOEX Information Technologies", 2_310.0),
    index("MOEXMM", "Индекс металлов и добычи", "MOEX Metals and Mining", 6_420.0),
    index("MOEXOG", "Индекс нефти и газа", "MOEX Oil and Gas", 7_150.0),
    index("MOEXRE", "Индекс строительных компаний", "MOEX Real Estate", 3_080.0),
    index("MOEXTN", "Индекс транспорта", "MOEX Transport", 1_640.0),
    Index {
        board: "RTSI", currency: "USD", ..index("RTSI", "Индекс РТС", "RTS Index", 1_060.0)
    },
];

impl Index {
    /// The weight of a share when every price is at its usual level; `None` if it is no member.
    pub(crate) fn part_of(&self, share: &Share) -> Option<f64> {
        match self.secid {
            "IMOEX" | "RTSI" => (share.weight > 0.0).then_some(share.weight),
            sector => (share.sector == Some(sector) && share.turnover >= 15e6)
                .then(|| share.turnover.sqrt()),
        }
    }

    pub(crate) fn isin(&self) -> String {
        isin_of(self.secid)
    }
}

/// A security that has candles.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Security<'a> {
    Share(&'a Share),
    Index(&'a Index),
}

impl Security<'_> {
    pub(crate) const fn secid(self) -> &'static str {
        match self {
            Self::Share(share) => share.secid,
            Self::Index(index) => index.secid,
        }
    }
}

/// All listed securities, sorted by code.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) shares: Vec<Share>,
    by_secid: HashMap<&'static str, usize>,
}

impl Listing {
    pub(crate) fn new() -> Self {
        let lines = include_str!("shares.txt").lines();
        let shares: Vec<Share> =
            lines.filter(|line| !line.starts_with('#')).filter_map(share).collect();
        let by_secid = shares.iter().enumerate().map(|(at, share)| (share.secid, at)).collect();
        Self { shares, by_secid }
    }

    /// The share, if it is already listed on that day.
    pub(crate) fn share(&self, secid: &str, today: i64) -> Option<&Share> {
        let share = self.shares.get(*self.by_secid.get(secid)?)?;
        (share.listed <= today).then_some(share)
    }

    pub(crate) fn listed(&self, today: i64) -> impl Iterator<Item = &Share> {
        self.shares.iter().filter(move |share| share.listed <= today)
    }
}

pub(crate) fn index_named(secid: &str) -> Option<&'static Index> {
    INDICES.iter().find(|index| index.secid == secid)
}

/// Code, first day without trading, day of the split, shares before and after it, and the smallest
/// change of the price before it, in millionths.
type SplitRow = (&'static str, (i16, i8, i8), (i16, i8, i8), (i64, i64), i64);

const SPLITS: [SplitRow; 5] = [
    ("TRNFP", (2024, 2, 15), (2024, 2, 21), (1, 100), 50_000_000),
    ("GMKN", (2024, 4, 3), (2024, 4, 8), (1, 100), 2_000_000),
    ("VTBR", (2024, 7, 10), (2024, 7, 15), (5_000, 1), 5),
    ("PLZL", (2025, 3, 24), (2025, 3, 27), (1, 10), 500_000),
    ("T", (2026, 4, 14), (2026, 4, 17), (1, 10), 200_000),
];

fn split_of(secid: &str) -> Option<Split> {
    let (_, halted, day, (before, after), step_before) =
        *SPLITS.iter().find(|(name, ..)| *name == secid)?;
    let at = |(year, month, day): (i16, i8, i8)| day_of(Date::constant(year, month, day));
    Some(Split { day: at(day), halted: at(halted), before, after, step_before })
}

/// One line of the table; see its head.
fn share(line: &'static str) -> Option<Share> {
    let mut fields = line.split('|');
    let (secid, short_name, company) = (fields.next()?, fields.next()?, fields.next()?);
    let (latin, kind, isin) = (fields.next()?, fields.next()?, fields.next()?);
    let mut number = || fields.next()?.parse::<f64>().ok();
    let (price, decimals, step, lot) = (number()?, number()? as u32, number()?, number()?);
    let (capitalisation, level) = (number()?, number()?);
    let (move_percent, beta, turnover_millions) = (number()?, number()?, number()?);
    let sector = fields.next()?;
    let mut number = || fields.next()?.parse::<f64>().ok();
    let weight = number()?;
    let listed = day_of(parse_date(fields.next()?)?);
    let mut number = || fields.next()?.parse::<f64>().ok();
    let (quiet, dividend_yield, payments) = (number()?, number()?, number()?);
    let sector = INDICES.iter().find(|index| index.secid.strip_prefix("MOEX") == Some(sector));
    Some(Share {
        secid,
        short_name,
        company,
        latin,
        preferred: kind == "ап",
        isin: if isin == "-" { isin_of(secid) } else { isin.to_owned() },
        price,
        decimals,
        step: step as i64 * 10_i64.pow(6_u32.checked_sub(decimals)?),
        lot: lot as i64,
        issue_size: (capitalisation * 1e9 / price / 100.0) as i64 * 100,
        level: level as i64,
        volatility: move_percent / 100.0,
        beta,
        turnover: turnover_millions * 1e6,
        sector: sector.map(|index| index.secid),
        weight,
        listed,
        quiet: quiet / 100.0,
        dividend_yield: dividend_yield / 100.0,
        payments: payments as i64,
        split: split_of(secid),
    })
}

/// A code in the form of an ISIN, with a valid check digit.
fn isin_of(secid: &str) -> String {
    const LETTERS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut rng = KeyedRng::new(key_of(secid));
    let mut text = "RU000A".to_owned();
    for _ in 0..5 {
        text.push(char::from(LETTERS[(rng.next_u64() % 36) as usize]));
    }
    let check = check_digit(&text);
    text.push(check);
    text
}

/// Luhn's digit over the text with letters written as 10 to 35.
fn check_digit(text: &str) -> char {
    let digits: Vec<u32> = text
        .chars()
        .filter_map(|letter| letter.to_digit(36))
        .flat_map(|value| if value < 10 { vec![value] } else { vec![value / 10, value % 10] })
        .collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let doubled = if at % 2 == 0 { digit * 2 } else { *digit };
            doubled / 10 + doubled % 10
        })
        .sum();
    char::from_digit((10 - sum % 10) % 10, 10).unwrap_or('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_share() {
        let listing = Listing::new();
        let lines = include_str!("shares.txt").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(listing.shares.len(), lines.count());
        assert!(listing.shares.len() > 100, "history by date must need a second page");
        assert!(listing.shares.is_sorted_by_key(|share| share.secid));
        for share in &listing.shares {
            let ticks = share.price * 1e6 / share.step as f64;
            assert!(ticks > 200.0, "{} has too coarse a step", share.secid);
            assert!((ticks - ticks.round()).abs() < 1e-6, "{} is between steps", share.secid);
            let (start, check) = share.isin.split_at(11);
            assert_eq!(check_digit(start).to_string(), check, "{} {}", share.secid, share.isin);
            assert_eq!(share.payments == 0, share.dividend_yield == 0.0, "{}", share.secid);
        }
        assert_eq!(
            listing.shares.iter().filter(|share| share.split.is_some()).count(),
            SPLITS.len()
        );
    }

    #[test]
    fn every_index_has_members_and_the_broad_one_more_than_a_page() {
        let listing = Listing::new();
        for index in &INDICES {
            let members = listing.shares.iter().filter_map(|share| index.part_of(share)).count();
            assert!(members >= 3, "{} has {members}", index.secid);
        }
        let broad = listing.shares.iter().filter(|share| share.weight > 0.0).count();
        assert!((40..=50).contains(&broad), "{broad}");
    }
}
