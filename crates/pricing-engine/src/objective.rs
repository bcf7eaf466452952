//! The price with the highest expected profit, found exactly on the grid of the currency.
//!
//! Profit `(p − w·c)·units(p)` rises while `p + ε(p)·(p − w·c) > 0` and falls after, and that
//! expression crosses zero once, because the elasticity only steepens with the price. So halving
//! the range finds the best tick; for a constant elasticity it is `c·ε/(ε+1)`. Where no cost is
//! known `c` is 0 and this is revenue, which has a highest point only between bounds.

use crate::demand::{Demand, REACH};
use crate::grid::Grid;
use crate::money::{Amount, Rate};

/// An elasticity closer to zero would put the best price beyond all bounds; such estimates come
/// from too few price changes, so the elasticity is limited to this value.
pub const ELASTICITY_MAX: f64 = -1.05;

/// The quantity that is maximised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Expected profit, with the cost multiplied by its weight.
    Profit { cost: Amount, weight: Rate },
    /// Expected revenue between bounds, because no cost is known.
    Revenue,
}

impl Objective {
    /// Positive while a higher price is better.
    fn slope(self, demand: &Demand, price: f64) -> f64 {
        let elasticity = demand.elasticity_at(price);
        match self {
            Self::Profit { cost, weight } => {
                price + elasticity.min(ELASTICITY_MAX) * (price - cost.to_f64() * weight.to_f64())
            }
            Self::Revenue => price * (1.0 + elasticity),
        }
    }

    /// The best price on the grid between the bounds and within reach of the current price.
    pub fn best(
        self,
        demand: &Demand,
        grid: Grid,
        now: Amount,
        low: Amount,
        high: Amount,
    ) -> Amount {
        let reach = |factor: f64| grid.nearest_f64(now.to_f64() * factor);
        let near = reach(1.0 / REACH).unwrap_or(1).max(1);
        let far = reach(REACH).unwrap_or(i64::MAX).max(near);
        let mut low = grid.ceil(low).clamp(near, far);
        let mut high = grid.floor(high).clamp(near, far);
        // Half a tick further, so that the result is the tick nearest to the maximum.
        let rising = |ticks: i64| {
            let here = grid.price(ticks).unwrap_or(now).to_f64();
            let next = grid.price(ticks.saturating_add(1)).unwrap_or(now).to_f64();
            self.slope(demand, (here + next) / 2.0) > 0.0
        };
        while low < high {
            let middle = low + (high - low) / 2;
            if rising(middle) { low = middle + 1 } else { high = middle }
        }
        grid.price(low).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Currency;

    fn amount(value: f64) -> Amount {
        Amount::from_f64(value).unwrap()
    }

    #[track_caller]
    fn check(cost: f64, elasticity: f64, best: f64) {
        let demand = Demand::constant(amount(20.0), elasticity);
        let grid = Grid::of(&Currency::default()).unwrap();
        let objective = Objective::Profit { cost: amount(cost), weight: Rate::ONE };
        let found = objective.best(&demand, grid, amount(20.0), Amount::ZERO, amount(1e6));
        assert_eq!(found, amount(best));
    }

    #[test]
    fn the_optimum_equals_the_closed_form() {
        check(10.0, -2.0, 20.0);
        check(10.0, -3.0, 15.0);
        check(10.0, -4.0, 13.33);
        check(0.0, -2.0, 5.0);
        // Beyond reach, and an elasticity that would have no summit.
        check(50.0, -2.0, 80.0);
        check(10.0, -0.5, 80.0);
    }

    #[test]
    fn no_neighbouring_price_is_better() {
        let grid = Grid::of(&Currency::default()).unwrap();
        for (cost, elasticity) in [(7.31, -2.37), (11.0, -5.2), (3.3, -1.6)] {
            let demand = Demand::constant(amount(20.0), elasticity);
            let profit = |it: Amount| (it.to_f64() - cost) * demand.units_ratio(it.to_f64());
            let objective = Objective::Profit { cost: amount(cost), weight: Rate::ONE };
            let best = objective.best(&demand, grid, amount(20.0), Amount::ZERO, amount(1e6));
            for ticks in -300..300 {
                let other = grid.price(grid.nearest(best) + ticks).unwrap();
                assert!(profit(other) <= profit(best) * (1.0 + 1e-12), "{other} beats {best}");
            }
        }
    }

    #[test]
    fn revenue_is_maximized_at_a_bound() {
        let grid = Grid::of(&Currency::default()).unwrap();
        let best = |elasticity: f64| {
            let demand = Demand::constant(amount(20.0), elasticity);
            Objective::Revenue.best(&demand, grid, amount(20.0), amount(18.0), amount(23.0))
        };
        assert_eq!((best(-2.0), best(-0.5)), (amount(18.0), amount(23.0)));
    }
}
