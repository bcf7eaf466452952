//! A simulated shop: a hidden demand curve, competitors that react, and ninety days.
//!
//! For tests and the benchmark. Every random draw depends only on the seed and the day, so all
//! strategies meet the same conditions; competitors react to the strategy's own prices.

mod competitor;
mod random;
mod simulated_market;
mod strategy;

pub use competitor::Competitor;
pub use simulated_market::{Curve, Kind, SimulatedMarket};
pub use strategy::ShopStrategy;

use crate::money::Amount;
use crate::{Currency, Grid, PricingInput, Refusal};

pub const DAYS: i64 = 90;
pub const DAY_MS: i64 = 86_400_000;

/// The result of one strategy over ninety days.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SeasonResult {
    pub profit: f64,
    pub revenue: f64,
    pub units: f64,
    pub changes: u32,
    /// Days on which the price lay below the margin floor.
    pub below_floor: u32,
    pub last_price: f64,
}

/// Simulates one season.
pub fn season(
    simulated: &SimulatedMarket,
    strategy: &ShopStrategy,
) -> Result<SeasonResult, Refusal> {
    let grid = Grid::of(&Currency::default())
        .ok_or_else(|| Refusal::invalid("currency", "known", "nothing"))?;
    let floor = grid
        .margin_floor(simulated.cost, crate::pricing_input::default_margin())
        .unwrap_or(simulated.cost);
    let mut season = SeasonResult::default();
    let mut competitors = simulated.competitors.clone();
    let mut input = PricingInput::new("SHOP", simulated.start, 0);
    input.cost = Some(simulated.cost);
    for day in 0..DAYS {
        input.now_ms = day * DAY_MS;
        input.competitors =
            simulated.morning(&mut competitors, day, input.our_price.to_f64(), input.now_ms);
        let price = strategy.price(&input, floor, grid)?;
        if price != input.our_price {
            season.changes += 1;
            input.last_change_ms = Some(input.now_ms);
        }
        input.our_price = price;
        season.below_floor += u32::from(price < floor);
        let units = simulated.sell(day, price.to_f64(), &input.competitors);
        season.units += units;
        season.revenue += units * price.to_f64();
        season.profit += units * (price.to_f64() - simulated.cost.to_f64());
        input.history.push(crate::HistoryPoint {
            at_ms: input.now_ms,
            price,
            units: Some(units),
            demand_index: None,
            competitor: median(&input),
        });
    }
    season.last_price = input.our_price.to_f64();
    Ok(season)
}

fn median(input: &PricingInput) -> Option<Amount> {
    crate::outliers::market(input, i64::MAX).median
}

/// The best single price for the whole season, known only afterwards, and what it brings.
pub fn best_fixed(simulated: &SimulatedMarket) -> Result<(Amount, SeasonResult), Refusal> {
    let mut best: Option<(Amount, SeasonResult)> = None;
    for step in 0..70 {
        let price = simulated.cost.to_f64() * 1.14 * 1.018_f64.powi(step);
        let Some(price) = Amount::from_f64((price * 100.0).round() / 100.0) else { continue };
        let season = season(simulated, &ShopStrategy::Fixed(price))?;
        if best.is_none_or(|(_, so_far)| season.profit > so_far.profit) {
            best = Some((price, season));
        }
    }
    best.ok_or_else(|| Refusal::invalid("shop", "a price", "none"))
}

/// One row of the benchmark's table: a kind of shop over many seeds, with profits as shares of the
/// best fixed price's.
#[derive(Debug, Clone, PartialEq)]
pub struct ShopSummary {
    pub kind: Kind,
    pub seeds: u64,
    /// Mean profit of a season at the best fixed price.
    pub best_fixed: f64,
    /// Each strategy's mean profit divided by that, in the order of [`ShopStrategy::compared`].
    pub shares: Vec<f64>,
    pub changes: Vec<f64>,
    /// The optimizer's worst season.
    pub worst: f64,
    pub below_floor: u32,
}

/// Simulates every seed of one kind of shop.
pub fn summarise(kind: Kind, seeds: u64) -> Result<ShopSummary, Refusal> {
    let strategies = ShopStrategy::compared();
    let mut sums = vec![SeasonResult::default(); strategies.len()];
    let (mut fixed, mut worst, mut below_floor) = (0.0, f64::INFINITY, 0);
    for seed in 0..seeds {
        let simulated = SimulatedMarket::new(kind, seed);
        let (_, best) = best_fixed(&simulated)?;
        fixed += best.profit;
        for (at, strategy) in strategies.iter().enumerate() {
            let season = season(&simulated, strategy)?;
            sums[at].profit += season.profit;
            sums[at].changes += season.changes;
            below_floor += season.below_floor;
            if at == 0 {
                worst = f64::min(worst, season.profit / best.profit);
            }
        }
    }
    let count = seeds.max(1) as f64;
    Ok(ShopSummary {
        kind,
        seeds,
        best_fixed: fixed / count,
        shares: sums.iter().map(|it| it.profit / fixed).collect(),
        changes: sums.iter().map(|it| f64::from(it.changes) / count).collect(),
        worst,
        below_floor,
    })
}

#[cfg(test)]
mod tests;
