//! The confidence of a proposal, as one number with a documented formula.
//!
//! `confidence = 0.15 + 0.45·E·S + 0.20·K + 0.20·F`
//!
//! - `E`: the share of the elasticity's uncertainty that the product's history removed,
//!   `1 − variance after / variance before`.
//! - `S`: whether the price was tried before: 1 between the lowest and highest price of the
//!   history, extended by 5 %, and `e^(−8·d)` at a logarithmic distance `d` beyond.
//! - `K`: 1 if the cost is known, 0 otherwise.
//! - `F`: the competitors, `0.5^(age in days) · n/(n+1)` with `n` prices that were used.
//!
//! `expected_margin = (price − cost) / price`; without a cost it is 0.

use serde::{Deserialize, Serialize};

use crate::elasticity::{DAY_MS, Elasticity};
use crate::money::Amount;
use crate::outliers::Market;

const TRIED_AROUND: f64 = 0.05;
const UNTRIED: f64 = 8.0;

/// The confidence and its parts, each between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    pub value: f64,
    pub elasticity: f64,
    pub tried: f64,
    pub cost: f64,
    pub competitors: f64,
}

impl Confidence {
    pub(crate) fn of(price: Amount, cost: bool, elasticity: &Elasticity, market: &Market) -> Self {
        let competitors = market.age_ms.map_or(0.0, |age| {
            let used = market.used as f64;
            0.5_f64.powf(age.max(0) as f64 / DAY_MS) * used / (used + 1.0)
        });
        let (known, tried) = (elasticity.data_weight, tried(price, elasticity.tried));
        let cost = f64::from(u8::from(cost));
        let value = 0.15 + 0.45 * known * tried + 0.20 * cost + 0.20 * competitors;
        // Four decimals are more than its precision.
        let value = (value.clamp(0.0, 1.0) * 1e4).round() / 1e4;
        Self { value, elasticity: known, tried, cost, competitors }
    }
}

fn tried(price: Amount, range: Option<(Amount, Amount)>) -> f64 {
    let Some((low, high)) = range else { return 0.0 };
    let price = price.to_f64().ln();
    let below = low.to_f64().ln() - TRIED_AROUND - price;
    let above = price - high.to_f64().ln() - TRIED_AROUND;
    (-UNTRIED * below.max(above).max(0.0)).exp()
}

/// `(price − cost) / price`, rounded down to a millionth; 0 if no cost is known. It is computed in
/// integers, so that a price on its floor never shows a margin below the required one.
pub(crate) fn expected_margin(price: Amount, cost: Option<Amount>) -> f64 {
    let Some(cost) = cost.filter(|_| price.is_positive()) else { return 0.0 };
    let margin_micros = i128::from(price.less(cost).micros()) * 1_000_000;
    margin_micros.div_euclid(i128::from(price.micros())) as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elasticity::estimate;
    use crate::policy::Prior;
    use crate::pricing_input::PricingInput;

    fn amount(value: f64) -> Amount {
        Amount::from_f64(value).unwrap()
    }

    #[test]
    fn the_formula_is_the_documented_one() {
        let mut elasticity =
            estimate(&PricingInput::new("A", amount(20.0), 0), None, Prior::default());
        let mut market = Market::default();
        let value = |elasticity: &Elasticity, market: &Market, cost: bool| {
            Confidence::of(amount(20.0), cost, elasticity, market).value
        };
        assert!((value(&elasticity, &market, false) - 0.15).abs() < 1e-9);
        assert!((value(&elasticity, &market, true) - 0.35).abs() < 1e-9);
        (market.used, market.age_ms) = (1, Some(0));
        assert!((value(&elasticity, &market, true) - 0.45).abs() < 1e-9);
        market.age_ms = Some(86_400_000);
        assert!((value(&elasticity, &market, true) - 0.40).abs() < 1e-9);
        elasticity.data_weight = 0.8;
        elasticity.tried = Some((amount(18.0), amount(20.0)));
        assert!((value(&elasticity, &market, true) - 0.76).abs() < 1e-9);
        elasticity.tried = Some((amount(10.0), amount(11.0)));
        assert!(value(&elasticity, &market, true) < 0.41);
    }

    #[test]
    fn margins_are_shares_of_the_price() {
        assert!((expected_margin(amount(20.0), Some(amount(15.0))) - 0.25).abs() < 1e-12);
        assert!(expected_margin(amount(12.5), Some(amount(11.0))) >= 0.12);
        assert!((expected_margin(amount(20.0), Some(amount(25.0))) + 0.25).abs() < 1e-12);
        assert!(expected_margin(amount(20.0), None).abs() < 1e-12);
    }
}
