//! The features of a market over a window, computed from its ticks. Prices are exact; shares, means
//! and slopes are floats. A feature without data is absent. `docs/pricing.md` has the formulas.

use std::collections::BTreeMap;

use clock::{DAY_MS, Millis};
use pricing_engine::Amount;

use crate::storage::ticks::Tick;

/// The most ticks of a window that are read, newest first.
pub(crate) const TICKS_MAX: u32 = 5_000;
/// The fewest ticks with a known demand from which a trend is computed.
const TREND_POINTS_MIN: usize = 3;

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Features {
    pub(crate) samples: usize,
    pub(crate) as_of: Option<Millis>,
    pub(crate) our_price: Option<Amount>,
    /// The newest price of a competitor that is not out of stock.
    pub(crate) competitor_price: Option<Amount>,
    pub(crate) competitors: CompetitorSummary,
    /// The difference as a share of our price; positive if our price is higher.
    pub(crate) gap: Option<f64>,
    pub(crate) demand: Option<f64>,
    pub(crate) demand_mean: Option<f64>,
    /// The change of the demand index per day.
    pub(crate) demand_trend: Option<f64>,
    pub(crate) volatility: Option<f64>,
    pub(crate) stockout_share: Option<f64>,
    pub(crate) units: Option<f64>,
    /// Whether any of the ticks is simulated.
    pub(crate) simulated: bool,
    /// The number of ticks of each source.
    pub(crate) sources: BTreeMap<String, usize>,
}

/// The latest price of each competitor that has the product.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CompetitorSummary {
    pub(crate) count: usize,
    pub(crate) median: Option<Amount>,
    pub(crate) min: Option<Amount>,
    pub(crate) max: Option<Amount>,
    pub(crate) spread: Option<Amount>,
}

/// `ticks` are in the order of the storage: newest first.
pub(crate) fn of(ticks: &[Tick]) -> Features {
    let newest = ticks.first();
    let our_price = newest.map(|tick| tick.our_price);
    let offered = |tick: &&Tick| tick.competitor_price.is_some() && tick.in_stock != Some(false);
    let competitor_price = ticks.iter().find(offered).and_then(|tick| tick.competitor_price);
    let demands: Vec<(Millis, f64)> =
        ticks.iter().filter_map(|tick| Some((tick.at, tick.demand_index?))).collect();
    let stock: Vec<bool> = ticks.iter().filter_map(|tick| tick.in_stock).collect();
    let out = stock.iter().filter(|in_stock| !**in_stock).count();
    let units: Vec<f64> = ticks.iter().filter_map(|tick| tick.units).collect();
    let mut sources = BTreeMap::new();
    for tick in ticks {
        match sources.get_mut(&tick.source) {
            Some(count) => *count += 1,
            None => drop(sources.insert(tick.source.clone(), 1)),
        }
    }
    let gap = |ours: Amount, theirs: Amount| ours.less(theirs).to_f64() / ours.to_f64();
    let of_each = by_competitor(ticks);
    Features {
        samples: ticks.len(),
        as_of: newest.map(|tick| tick.at),
        our_price,
        competitor_price,
        competitors: competitors(&of_each),
        gap: our_price.zip(competitor_price).map(|(ours, theirs)| gap(ours, theirs)),
        demand: demands.first().map(|(_, demand)| *demand),
        demand_mean: mean(demands.iter().map(|(_, demand)| *demand)),
        demand_trend: slope_per_day(&demands),
        volatility: volatility(&of_each),
        stockout_share: (!stock.is_empty()).then(|| out as f64 / stock.len() as f64),
        units: (!units.is_empty()).then(|| units.iter().sum()),
        simulated: ticks.iter().any(|tick| tick.origin.is_simulated()),
        sources,
    }
}

/// The ticks about each competitor, newest first. A competitor without a name is identified by the
/// source of its ticks.
fn by_competitor(ticks: &[Tick]) -> BTreeMap<(&str, bool), Vec<&Tick>> {
    let mut all: BTreeMap<(&str, bool), Vec<&Tick>> = BTreeMap::new();
    for tick in ticks {
        if tick.competitor_price.is_none() && tick.in_stock.is_none() {
            continue;
        }
        let name = tick.competitor.as_deref();
        all.entry((name.unwrap_or(&tick.source), name.is_some())).or_default().push(tick);
    }
    all
}

fn competitors(of_each: &BTreeMap<(&str, bool), Vec<&Tick>>) -> CompetitorSummary {
    let latest = |ticks: &Vec<&Tick>| {
        // A competitor whose newest tick is out of stock has no price.
        let newest = ticks.first().filter(|tick| tick.in_stock != Some(false))?;
        newest.competitor_price.or_else(|| ticks.iter().find_map(|tick| tick.competitor_price))
    };
    let mut prices: Vec<Amount> = of_each.values().filter_map(latest).collect();
    prices.sort_unstable();
    let (min, max) = (prices.first().copied(), prices.last().copied());
    CompetitorSummary {
        count: prices.len(),
        median: median(&prices),
        min,
        max,
        spread: max.zip(min).map(|(max, min)| max.less(min)),
    }
}

/// The median; of an even number the mean of the two middle prices, half a millionth rounded up.
fn median(sorted: &[Amount]) -> Option<Amount> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    Amount::from_micros((lower.micros() + upper.micros() + 1).div_euclid(2))
}

/// The standard deviation of each competitor's price divided by its mean, averaged over
/// competitors.
fn volatility(of_each: &BTreeMap<(&str, bool), Vec<&Tick>>) -> Option<f64> {
    let moves = of_each.values().filter_map(|ticks| {
        let prices: Vec<f64> =
            ticks.iter().filter_map(|tick| tick.competitor_price).map(Amount::to_f64).collect();
        let middle = mean(prices.iter().copied()).filter(|_| prices.len() >= 2)?;
        let variance = mean(prices.iter().map(|price| (price - middle).powi(2)))?;
        Some(variance.sqrt() / middle)
    });
    mean(moves)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), it| (sum + it, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// The slope of the least-squares line per day; `None` with fewer than 3 points, or if all points
/// have the same time.
fn slope_per_day(points: &[(Millis, f64)]) -> Option<f64> {
    let (last, _) = *points.first()?;
    if points.len() < TREND_POINTS_MIN {
        return None;
    }
    let days: Vec<f64> =
        points.iter().map(|(at, _)| (at.0 - last.0) as f64 / DAY_MS as f64).collect();
    let day = mean(days.iter().copied())?;
    let level = mean(points.iter().map(|(_, value)| *value))?;
    let together = days.iter().zip(points).map(|(it, (_, value))| (it - day) * (value - level));
    let spread: f64 = days.iter().map(|it| (it - day).powi(2)).sum();
    let slope = together.sum::<f64>() / spread;
    (spread > 0.0 && slope.is_finite()).then_some(slope)
}

#[cfg(test)]
mod tests;
