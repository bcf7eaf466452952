//! Replays recorded days under other pricing strategies.
//!
//! The demand curve is estimated from all records; the demand of each day is the recorded one,
//! moved along that curve to the simulated price. The optimizer sees only earlier days, with the
//! demand at its own prices. The result is hypothetical, and its assumptions are reported.

use serde::{Deserialize, Serialize};

use crate::demand::Demand;
use crate::elasticity::{Elasticity, EstimateQuality, estimate};
use crate::grid::Grid;
use crate::money::Amount;
use crate::outliers;
use crate::policy::Policy;
use crate::pricing_input::{CompetitorPrice, HISTORY_MAX, HistoryPoint, PricingInput};
use crate::propose::propose_with;
use crate::refusal::Refusal;

/// More records are refused, because a replay is computed within the request.
pub const RECORDS_MAX: usize = 2_000;
/// The most times that one replay estimates the elasticity again.
const ESTIMATES_MAX: usize = 200;

/// One recorded period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedPeriod {
    pub at_ms: i64,
    pub price: Amount,
    #[serde(default)]
    pub competitors: Vec<CompetitorPrice>,
    #[serde(default)]
    pub units: Option<f64>,
    #[serde(default)]
    pub demand_index: Option<f64>,
    /// The cost, if it differs from the input's.
    #[serde(default)]
    pub cost: Option<Amount>,
}

/// The result of one strategy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StrategyResult {
    pub strategy: String,
    /// `None` where a cost is unknown.
    pub profit: Option<f64>,
    pub revenue: f64,
    pub units: f64,
    pub changes: usize,
    pub first_price: Amount,
    pub last_price: Amount,
}

/// The comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    pub optimizer: StrategyResult,
    /// The first price for all periods.
    pub do_nothing: StrategyResult,
    /// The cheapest price in stock, but never below the margin floor or outside min and max.
    pub match_cheapest: StrategyResult,
    /// The recorded prices.
    pub recorded: StrategyResult,
    pub records: usize,
    /// Periods in which the guardrails left the optimizer no price, so that it kept the old one.
    pub refused: usize,
    pub elasticity: Elasticity,
    pub assumptions: Vec<String>,
}

/// Replays records under the input's bounds and the policy. The input's price, competitors and time
/// are ignored, because the records have their own; the optimizer starts with the input's history
/// before the first record.
pub fn replay(
    input: &PricingInput,
    policy: &Policy,
    records: &[RecordedPeriod],
) -> Result<Replay, Refusal> {
    let mut records: Vec<&RecordedPeriod> = records.iter().collect();
    records.sort_by_key(|it| it.at_ms);
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return Err(Refusal::invalid("records", "at least one period", "none"));
    };
    if records.len() > RECORDS_MAX {
        let expected = format!("at most {RECORDS_MAX} periods");
        return Err(Refusal::invalid("records", expected, records.len()));
    }
    let plain = PricingInput {
        our_price: first.price,
        competitor_price: None,
        competitors: Vec::new(),
        demand_index: None,
        history: input.history.iter().filter(|it| it.at_ms < first.at_ms).copied().collect(),
        last_change_ms: None,
        now_ms: first.at_ms,
        ..input.clone()
    };
    plain.check()?;
    plain.check_margin()?;
    if let Some(bad) = records.iter().find(|it| !it.price.is_positive()) {
        return Err(Refusal::invalid("records.price", "above 0", bad.price));
    }
    let Some(grid) = Grid::of(&plain.currency) else {
        return Err(Refusal::invalid("currency.decimals", "at most 4", plain.currency.decimals));
    };
    policy.check(grid)?;
    let days: Vec<Day<'_>> = records.iter().map(|it| Day::of(it, &plain, policy)).collect();
    let whole = PricingInput {
        our_price: last.price,
        history: plain.history.iter().copied().chain(days.iter().map(Day::point)).collect(),
        now_ms: last.at_ms,
        ..plain.clone()
    };
    let elasticity = estimate(&whole, days.last().and_then(|it| it.median), policy.prior);
    let stage = ReplayContext { days: &days, elasticity: &elasticity, input: &plain, policy, grid };
    let (optimizer, refused) = stage.optimize();
    Ok(Replay {
        optimizer,
        do_nothing: stage.play("do_nothing", |_, price| price),
        match_cheapest: stage.play("match_cheapest", |day, price| stage.cheapest(day, price)),
        recorded: stage.play("recorded", |day, _| day.record.price),
        records: days.len(),
        refused,
        assumptions: assumptions(&days, &elasticity),
        elasticity,
    })
}

/// A record with the data about its market.
struct Day<'a> {
    record: &'a RecordedPeriod,
    median: Option<Amount>,
    min: Option<Amount>,
    cost: Option<Amount>,
    /// The units, else the demand index, else 1.
    demand: f64,
}

impl<'a> Day<'a> {
    fn of(record: &'a RecordedPeriod, plain: &PricingInput, policy: &Policy) -> Self {
        let seen = PricingInput {
            our_price: record.price,
            competitors: record.competitors.clone(),
            now_ms: record.at_ms,
            ..plain.clone()
        };
        let market = outliers::market(&seen, policy.competitor_age_max_ms);
        let good = |it: &f64| it.is_finite() && (0.0..1e12).contains(it);
        let demand = record.units.filter(good).or(record.demand_index.filter(good)).unwrap_or(1.0);
        let cost = record.cost.filter(|it| *it >= Amount::ZERO).or(plain.cost);
        Self { record, median: market.median, min: market.min, cost, demand }
    }

    fn point(&self) -> HistoryPoint {
        HistoryPoint {
            at_ms: self.record.at_ms,
            price: self.record.price,
            units: self.record.units,
            demand_index: self.record.demand_index,
            competitor: self.median,
        }
    }
}

struct ReplayContext<'a> {
    days: &'a [Day<'a>],
    elasticity: &'a Elasticity,
    input: &'a PricingInput,
    policy: &'a Policy,
    grid: Grid,
}

impl ReplayContext<'_> {
    /// Demand of a day at another price than the recorded one.
    fn demand(&self, day: &Day<'_>, price: Amount) -> f64 {
        let it = self.elasticity;
        let flat = if day.median.is_some() { it.parity } else { it.mean };
        // A curve that rises with the price would give absurd profits.
        let mut curve = Demand::constant(day.record.price, flat.min(0.0));
        if let Some(median) = day.median {
            curve = curve.against(median, it);
        }
        day.demand * curve.units_ratio(price.to_f64())
    }

    fn play(&self, strategy: &str, choose: impl Fn(&Day<'_>, Amount) -> Amount) -> StrategyResult {
        let mut sum = StrategyTotals::new(self.input.our_price);
        for day in self.days {
            let price = choose(day, sum.price);
            sum.add(price, self.demand(day, price), day.cost);
        }
        sum.outcome(strategy)
    }

    fn cheapest(&self, day: &Day<'_>, price: Amount) -> Amount {
        let grid = self.grid;
        let wished = day.min.map_or(price, |it| grid.price(grid.nearest(it)).unwrap_or(it));
        let floor = day.cost.and_then(|cost| grid.margin_floor(cost, self.input.min_margin));
        let capped = self.input.max_price.map_or(wished, |max| wished.min(max));
        capped.max(self.input.min_price).max(floor.unwrap_or(Amount::ZERO))
    }

    fn optimize(&self) -> (StrategyResult, usize) {
        let mut input = self.input.clone();
        let mut sum = StrategyTotals::new(input.our_price);
        let every = self.days.len().div_ceil(ESTIMATES_MAX);
        let (mut known, mut refused) = (None, 0);
        for (at, day) in self.days.iter().enumerate() {
            input.now_ms = day.record.at_ms;
            input.cost = day.cost;
            input.demand_index = day.record.demand_index.filter(|it| it.is_finite() && *it >= 0.0);
            input.competitors.clone_from(&day.record.competitors);
            if at % every == 0 {
                known = Some(estimate(&input, day.median, self.policy.prior));
            }
            let proposal = known.clone().map(|it| propose_with(&input, self.policy, it));
            let price = match proposal {
                Some(Ok(proposal)) => proposal.price,
                _ => {
                    refused += 1;
                    input.our_price
                }
            };
            if price != input.our_price {
                input.last_change_ms = Some(input.now_ms);
            }
            input.our_price = price;
            let demand = self.demand(day, price);
            sum.add(price, demand, day.cost);
            let mut point = day.point();
            point.price = price;
            // The index reacts to our price as units do; if a record has both, units are used.
            point.units = point.units.map(|_| demand);
            if point.units.is_none() {
                point.demand_index = point.demand_index.map(|_| demand);
            }
            input.history.push(point);
            if input.history.len() > HISTORY_MAX {
                input.history.remove(0);
            }
        }
        (sum.outcome("optimizer"), refused)
    }
}

struct StrategyTotals {
    price: Amount,
    first: Option<Amount>,
    profit: Option<f64>,
    revenue: f64,
    units: f64,
    changes: usize,
}

impl StrategyTotals {
    fn new(price: Amount) -> Self {
        Self { price, first: None, profit: Some(0.0), revenue: 0.0, units: 0.0, changes: 0 }
    }

    fn add(&mut self, price: Amount, units: f64, cost: Option<Amount>) {
        self.changes += usize::from(price != self.price);
        self.price = price;
        self.first = self.first.or(Some(price));
        self.units += units;
        self.revenue += units * price.to_f64();
        let earned = cost.map(|cost| units * price.less(cost).to_f64());
        self.profit = self.profit.zip(earned).map(|(sum, more)| sum + more);
    }

    fn outcome(self, strategy: &str) -> StrategyResult {
        StrategyResult {
            strategy: strategy.to_owned(),
            profit: self.profit,
            revenue: self.revenue,
            units: self.units,
            changes: self.changes,
            first_price: self.first.unwrap_or(self.price),
            last_price: self.price,
        }
    }
}

fn assumptions(days: &[Day<'_>], elasticity: &Elasticity) -> Vec<String> {
    let mut assumptions = vec![
        format!(
            "demand moves along an estimated curve with elasticity {:.2} (95% between {:.2} and {:.2})",
            elasticity.mean, elasticity.low, elasticity.high
        ),
        "competitors would have asked what they were recorded to ask, whatever our price"
            .to_owned(),
        "everything in demand could have been delivered".to_owned(),
        "each period is priced once, at its start, knowing only the periods before".to_owned(),
    ];
    if elasticity.verdict != EstimateQuality::Estimated {
        assumptions.push(
            "the records say too little about elasticity, so the curve is mostly assumed"
                .to_owned(),
        );
    }
    let counted = days.iter().filter(|it| it.record.units.is_some()).count();
    let indexed = days.iter().filter(|it| it.record.demand_index.is_some()).count();
    if counted < days.len() && indexed > 0 {
        assumptions.push("where units are unknown the demand index stands for them, so units, revenue and profit are relative".to_owned());
    } else if counted < days.len() {
        assumptions.push("where neither units nor a demand index are known, one unit is assumed, so units, revenue and profit are relative".to_owned());
    }
    if days.iter().any(|it| it.cost.is_none()) {
        assumptions.push("a cost is unknown, so no profit is told".to_owned());
    }
    assumptions
}

#[cfg(test)]
mod tests;
