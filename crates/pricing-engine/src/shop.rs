//! A simulated shop: a demand curve that nobody in it knows, rivals who play, and ninety days.
//!
//! For tests and the benchmark. Every draw hangs on the seed and the day alone, so all players meet
//! the same weather; rivals answer to the player's own prices.

mod dice;
mod player;
mod rival;
mod world;

pub use player::Player;
pub use rival::Rival;
pub use world::{Curve, Kind, World};

use crate::money::Amount;
use crate::{Ask, Currency, Grid, Refusal};

pub const DAYS: i64 = 90;
pub const DAY_MS: i64 = 86_400_000;

/// What ninety days brought.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Takings {
    pub profit: f64,
    pub revenue: f64,
    pub units: f64,
    pub changes: u32,
    /// Days on which the price lay below the margin floor.
    pub below_floor: u32,
    pub last_price: f64,
}

/// Plays one season.
pub fn season(world: &World, player: &Player) -> Result<Takings, Refusal> {
    let grid = Grid::of(&Currency::default())
        .ok_or_else(|| Refusal::invalid("currency", "known", "nothing"))?;
    let floor = grid.margin_floor(world.cost, crate::ask::default_margin()).unwrap_or(world.cost);
    let mut takings = Takings::default();
    let mut rivals = world.rivals.clone();
    let mut ask = Ask::new("SHOP", world.start, 0);
    ask.cost = Some(world.cost);
    for day in 0..DAYS {
        ask.now_ms = day * DAY_MS;
        ask.competitors = world.morning(&mut rivals, day, ask.our_price.to_f64(), ask.now_ms);
        let price = player.price(&ask, floor, grid)?;
        if price != ask.our_price {
            takings.changes += 1;
            ask.last_change_ms = Some(ask.now_ms);
        }
        ask.our_price = price;
        takings.below_floor += u32::from(price < floor);
        let units = world.sell(day, price.to_f64(), &ask.competitors);
        takings.units += units;
        takings.revenue += units * price.to_f64();
        takings.profit += units * (price.to_f64() - world.cost.to_f64());
        ask.history.push(crate::Point {
            at_ms: ask.now_ms,
            price,
            units: Some(units),
            demand_index: None,
            competitor: median(&ask),
        });
    }
    takings.last_price = ask.our_price.to_f64();
    Ok(takings)
}

fn median(ask: &Ask) -> Option<Amount> {
    crate::outliers::market(ask, i64::MAX).median
}

/// The best single price for the whole season, known only afterwards, and what it brings.
pub fn best_fixed(world: &World) -> Result<(Amount, Takings), Refusal> {
    let mut best: Option<(Amount, Takings)> = None;
    for step in 0..70 {
        let price = world.cost.to_f64() * 1.14 * 1.018_f64.powi(step);
        let Some(price) = Amount::from_f64((price * 100.0).round() / 100.0) else { continue };
        let takings = season(world, &Player::Fixed(price))?;
        if best.is_none_or(|(_, so_far)| takings.profit > so_far.profit) {
            best = Some((price, takings));
        }
    }
    best.ok_or_else(|| Refusal::invalid("shop", "a price", "none"))
}

/// One line of the table: a kind of shop over many seeds, profits as shares of the best fixed one.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub kind: Kind,
    pub seeds: u64,
    /// Mean profit of a season at the best fixed price.
    pub best_fixed: f64,
    /// Each player's mean profit divided by that, in the order of [`Player::rivals_of_fixed`].
    pub shares: Vec<f64>,
    pub changes: Vec<f64>,
    /// The optimizer's worst season.
    pub worst: f64,
    pub below_floor: u32,
}

/// Plays every seed of one kind of shop.
pub fn line(kind: Kind, seeds: u64) -> Result<Line, Refusal> {
    let players = Player::rivals_of_fixed();
    let mut sums = vec![Takings::default(); players.len()];
    let (mut fixed, mut worst, mut below_floor) = (0.0, f64::INFINITY, 0);
    for seed in 0..seeds {
        let world = World::new(kind, seed);
        let (_, best) = best_fixed(&world)?;
        fixed += best.profit;
        for (at, player) in players.iter().enumerate() {
            let takings = season(&world, player)?;
            sums[at].profit += takings.profit;
            sums[at].changes += takings.changes;
            below_floor += takings.below_floor;
            if at == 0 {
                worst = f64::min(worst, takings.profit / best.profit);
            }
        }
    }
    let count = seeds.max(1) as f64;
    Ok(Line {
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
