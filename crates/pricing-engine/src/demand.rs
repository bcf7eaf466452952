//! The demand curve around the current price.
//!
//! `ln(units/units₀) = s·(ε·x − κ/2·(r² − r₀²)) + γ·f·x` with `x = ln(p/p₀)`, `r = ln(p/m)`: the
//! elasticity `ε` at the market's price, which grows by `κ` as our price rises above the market
//! `m`;
//! `s` for a demand index that differs from the ordinary one; and `γ·f`, the share `f` of our move
//! that competitors follow times the effect `γ` of their price. Levels cancel out, so the results
//! are ratios.

use serde::{Deserialize, Serialize};

use crate::elasticity::Elasticity;
use crate::money::Amount;

/// The best price is searched within this factor of the current one.
pub(crate) const REACH: f64 = 4.0;
/// A demand index below half or above double the ordinary one is clamped to these bounds.
const INDEX_REACH: f64 = 2.0;

/// Expected units at a price, relative to the current price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    price: f64,
    market: Option<f64>,
    parity: f64,
    curvature: f64,
    /// The factor of the demand index on the elasticity.
    steepness: f64,
    /// The effect of competitors that follow our price.
    relief: f64,
}

impl Demand {
    /// A curve of constant elasticity through the current price.
    pub fn constant(price: Amount, elasticity: f64) -> Self {
        let price = price.to_f64();
        Self {
            price,
            market: None,
            parity: elasticity,
            curvature: 0.0,
            steepness: 1.0,
            relief: 0.0,
        }
    }

    /// Adds the competitors' median.
    #[must_use]
    pub fn against(mut self, market: Amount, elasticity: &Elasticity) -> Self {
        if market.is_positive() {
            self.market = Some(market.to_f64());
            self.curvature = elasticity.curvature;
        }
        self
    }

    /// Adds competitors that follow our price.
    #[must_use]
    pub fn followed(mut self, elasticity: &Elasticity) -> Self {
        self.relief = elasticity.cross.max(0.0) * elasticity.follow;
        self.curvature *= 1.0 - elasticity.follow;
        self
    }

    /// Adds a demand index, relative to the ordinary one.
    #[must_use]
    pub fn with_index(mut self, index: f64, ordinary: f64, response: f64) -> Self {
        let ratio = if ordinary > 0.0 { index / ordinary } else { 1.0 };
        let ratio = ratio.clamp(1.0 / INDEX_REACH, INDEX_REACH);
        self.steepness = ratio.powf(-response);
        self
    }

    /// The elasticity at a price: change of units in percent for one percent of price.
    pub fn elasticity_at(&self, price: f64) -> f64 {
        let relative = self.relative(price);
        (self.parity - self.curvature * relative) * self.steepness + self.relief
    }

    /// Units at a price divided by units at the current price.
    pub fn units_ratio(&self, price: f64) -> f64 {
        let x = (price / self.price).ln().clamp(-3.0, 3.0);
        let (now, then) = (self.relative(self.price), self.relative(price));
        let bend = 0.5 * self.curvature * (then * then - now * now);
        ((self.parity * x - bend) * self.steepness + self.relief * x).clamp(-50.0, 50.0).exp()
    }

    fn relative(&self, price: f64) -> f64 {
        self.market.map_or(0.0, |market| (price / market).ln().clamp(-3.0, 3.0))
    }
}

/// The expected effect of the proposal, as ratios to the current price's results.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExpectedEffect {
    pub units_ratio: f64,
    pub revenue_ratio: f64,
    /// Gross profit; `None` without a cost, or if there is no current profit to compare with.
    pub profit_ratio: Option<f64>,
    /// Gross profit at both ends of the elasticity's 95 % interval, the lower first.
    pub profit_range: Option<(f64, f64)>,
    /// Units in a period at the proposed price, if the history has units.
    pub units: Option<f64>,
}

impl ExpectedEffect {
    pub(crate) fn of(
        demand: &Demand,
        now: Amount,
        then: Amount,
        cost: Option<Amount>,
        elasticity: &Elasticity,
    ) -> Self {
        let (now, then) = (now.to_f64(), then.to_f64());
        let units_ratio = demand.units_ratio(then);
        let margins = cost
            .map(Amount::to_f64)
            .filter(|cost| *cost < now)
            .map(|cost| (then - cost) / (now - cost));
        let off = elasticity.high - elasticity.mean;
        let end = |by: f64| Demand { parity: demand.parity + by, ..*demand }.units_ratio(then);
        let (steep, weak) = (end(-off), end(off));
        let range = |it: f64| ((it * steep).min(it * weak), (it * steep).max(it * weak));
        Self {
            units_ratio,
            revenue_ratio: units_ratio * then / now,
            profit_ratio: margins.map(|it| it * units_ratio),
            profit_range: margins.map(range),
            units: elasticity.units.map(|it| it * units_ratio),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(value: f64) -> Amount {
        Amount::from_f64(value).unwrap()
    }

    #[test]
    fn the_slope_of_the_curve_is_its_elasticity() {
        let mut demand = Demand::constant(amount(20.0), -2.2);
        demand.market = Some(19.0);
        demand.curvature = 1.5;
        demand.steepness = 0.9;
        demand.relief = 0.2;
        for price in [12.0, 20.0, 31.0] {
            let step = 1e-5_f64;
            let (low, high) =
                (demand.units_ratio(price * (-step).exp()), demand.units_ratio(price * step.exp()));
            let slope = (high.ln() - low.ln()) / (2.0 * step);
            assert!((slope - demand.elasticity_at(price)).abs() < 1e-6, "{price}");
        }
        assert!((demand.units_ratio(20.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn strong_demand_weakens_the_answer_to_price() {
        let plain = Demand::constant(amount(20.0), -2.0);
        let strong = plain.with_index(1.5, 1.0, 0.25);
        let weak = plain.with_index(0.5, 1.0, 0.25);
        assert!(strong.elasticity_at(20.0) > -2.0 && weak.elasticity_at(20.0) < -2.0);
        assert_eq!(plain.with_index(9.0, 1.0, 0.25), plain.with_index(2.0, 1.0, 0.25));
    }
}
