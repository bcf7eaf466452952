//! Selects the competitor prices that count and reports why the others are excluded.
//!
//! Excluded, in this order: prices out of stock, prices too old, prices above four times ours or
//! below a quarter of it, and, among four or more, prices far from the others. Every exclusion is
//! reported.

use serde::{Deserialize, Serialize};

use crate::money::Amount;
use crate::pricing_input::{COMPETITORS_MAX, CompetitorPrice, PricingInput};

/// A price above this many times ours, or below that fraction of it, is excluded: it is probably of
/// another product, pack or currency, or a typing error.
const PRICE_RATIO_MAX: i128 = 4;
/// Robust standard deviations beyond which a price is an outlier.
const OUTLIER_DEVIATIONS: f64 = 3.5;
/// The smallest spread that is assumed, so that a price within a fifth of equal prices is not an
/// outlier.
const SPREAD_MIN: f64 = 0.05;
/// With fewer prices, none is excluded as an outlier.
const OUTLIER_PRICES_MIN: usize = 4;
/// Most reported exclusions, because they are stored with a proposal.
const REPORTED_MAX: usize = 50;

/// Why a price does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    OutOfStock,
    TooOld,
    FromTheFuture,
    Nonsense,
    FarFromTheRest,
}

/// An excluded price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExcludedPrice {
    pub name: String,
    pub price: Amount,
    pub age_ms: i64,
    pub reason: Reason,
    pub why: String,
}

/// The competitor prices that count.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Market {
    pub median: Option<Amount>,
    pub min: Option<Amount>,
    pub max: Option<Amount>,
    pub used: usize,
    /// The age of the newest price that counts.
    pub age_ms: Option<i64>,
    /// The number of excluded prices; the first fifty are listed.
    pub set_aside_count: usize,
    pub set_aside: Vec<ExcludedPrice>,
}

/// Splits the input's competitor prices into the ones that count and the excluded ones.
pub fn market(input: &PricingInput, age_max_ms: i64) -> Market {
    let given = input.competitor_price.map(|price| CompetitorPrice {
        name: "competitor_price".to_owned(),
        price,
        at_ms: input.now_ms,
        in_stock: true,
    });
    let mut market = Market::default();
    let mut counted: Vec<(f64, &CompetitorPrice)> = Vec::new();
    for it in given.iter().chain(input.competitors.iter().take(COMPETITORS_MAX)) {
        match plainly_wrong(it, input, age_max_ms) {
            Some((reason, why)) => put_aside(&mut market, input, it, reason, why),
            None => counted.push((it.price.to_f64().ln(), it)),
        }
    }
    let enough_prices = counted.len() >= OUTLIER_PRICES_MIN;
    let logs: Vec<f64> = counted.iter().map(|(log, _)| *log).collect();
    let middle = median_of(logs.clone()).unwrap_or(0.0);
    let spread = median_of(logs.iter().map(|log| (log - middle).abs()).collect()).unwrap_or(0.0);
    let limit = OUTLIER_DEVIATIONS * (1.4826 * spread).max(SPREAD_MIN);
    let mut prices: Vec<Amount> = Vec::with_capacity(counted.len());
    for (log, it) in counted {
        if enough_prices && (log - middle).abs() > limit {
            let why = format!(
                "{} is {:.2} times the median of {}",
                it.price,
                (log - middle).exp(),
                logs.len()
            );
            put_aside(&mut market, input, it, Reason::FarFromTheRest, why);
            continue;
        }
        prices.push(it.price);
        let age = input.now_ms.saturating_sub(it.at_ms);
        market.age_ms = Some(market.age_ms.map_or(age, |youngest| youngest.min(age)));
    }
    prices.sort_unstable();
    market.used = prices.len();
    market.min = prices.first().copied();
    market.max = prices.last().copied();
    market.median = median_amount(&prices);
    market
}

fn plainly_wrong(
    it: &CompetitorPrice,
    input: &PricingInput,
    age_max_ms: i64,
) -> Option<(Reason, String)> {
    let age = input.now_ms.saturating_sub(it.at_ms);
    let (theirs, ours) = (i128::from(it.price.micros()), i128::from(input.our_price.micros()));
    if !it.in_stock {
        Some((Reason::OutOfStock, format!("{} is asked for nothing: out of stock", it.price)))
    } else if age > age_max_ms {
        Some((Reason::TooOld, format!("seen {} ago, older than {}", span(age), span(age_max_ms))))
    } else if age < 0 {
        Some((Reason::FromTheFuture, format!("seen {} after now", span(age.saturating_neg()))))
    } else if theirs > ours * PRICE_RATIO_MAX || theirs * PRICE_RATIO_MAX < ours {
        let why =
            format!("{} is beyond four times or a quarter of our {}", it.price, input.our_price);
        Some((Reason::Nonsense, why))
    } else {
        None
    }
}

fn put_aside(
    market: &mut Market,
    input: &PricingInput,
    it: &CompetitorPrice,
    reason: Reason,
    why: String,
) {
    market.set_aside_count += 1;
    if market.set_aside.len() < REPORTED_MAX {
        let age_ms = input.now_ms.saturating_sub(it.at_ms);
        let name = it.name.clone();
        market.set_aside.push(ExcludedPrice { name, price: it.price, age_ms, reason, why });
    }
}

/// The middle of sorted amounts; of two middles their mean, rounded down to a millionth.
pub(crate) fn median_amount(sorted: &[Amount]) -> Option<Amount> {
    let half = sorted.len() / 2;
    let upper = sorted.get(half)?;
    if sorted.len() % 2 == 1 {
        return Some(*upper);
    }
    let lower = sorted.get(half.checked_sub(1)?)?;
    let sum = i128::from(lower.micros()) + i128::from(upper.micros());
    Amount::from_wide(sum.div_euclid(2))
}

/// The median of finite numbers; `None` of none.
pub(crate) fn median_of(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    let upper = *values.get(half)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some(values.get(half.checked_sub(1)?)? / 2.0 + upper / 2.0)
}

/// A duration in words.
pub(crate) fn span(ms: i64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0 => "less than a minute".to_owned(),
        1 => "a minute".to_owned(),
        2..=119 => format!("{minutes} minutes"),
        120..=2879 => format!("{} hours", minutes / 60),
        _ => format!("{} days", minutes / 1440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    #[track_caller]
    fn check(prices: &[(&str, i64, bool)], median: Option<&str>, reasons: &[Reason]) {
        let mut input = PricingInput::new("A", "20".parse().unwrap(), 1_000 * HOUR);
        for (price, hours, in_stock) in prices {
            input.competitors.push(CompetitorPrice {
                name: String::new(),
                price: price.parse().unwrap(),
                at_ms: input.now_ms - hours * HOUR,
                in_stock: *in_stock,
            });
        }
        let market = market(&input, 48 * HOUR);
        assert_eq!(market.median, median.map(|it| it.parse().unwrap()));
        let found: Vec<_> = market.set_aside.iter().map(|it| it.reason).collect();
        assert_eq!(found, reasons);
        assert_eq!(market.used + market.set_aside_count, prices.len());
    }

    #[test]
    fn ignored_competitor_prices_are_reported() {
        check(&[], None, &[]);
        check(&[("19", 1, true), ("21", 1, true)], Some("20"), &[]);
        check(&[("19", 1, true), ("2000", 1, true)], Some("19"), &[Reason::Nonsense]);
        check(&[("19", 1, true), ("0.20", 1, true)], Some("19"), &[Reason::Nonsense]);
        check(&[("19", 1, true), ("0", 1, true)], Some("19"), &[Reason::Nonsense]);
        check(&[("5", 1, true), ("80", 1, true)], Some("42.50"), &[]);
        check(&[("4.99", 1, true), ("80.01", 1, true)], None, &[Reason::Nonsense; 2]);
        check(&[("19", 49, true), ("21", 1, false)], None, &[Reason::TooOld, Reason::OutOfStock]);
        check(&[("19", -1, true)], None, &[Reason::FromTheFuture]);
        let agreeing = [("19", 1, true), ("20", 1, true), ("21", 1, true), ("20", 1, true)];
        check(&agreeing, Some("20"), &[]);
        let strange = [agreeing.as_slice(), &[("40", 1, true)]].concat();
        check(&strange, Some("20"), &[Reason::FarFromTheRest]);
        // All but one agree: a tenth off is still a price.
        let agreed = [("20", 1, true), ("20", 1, true), ("20", 1, true), ("18", 1, true)];
        check(&agreed, Some("20"), &[]);
    }
}
