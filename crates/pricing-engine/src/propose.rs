//! Computes a proposal: the best price, the cautious part of the move towards it, and the
//! guardrails.

use serde::{Deserialize, Serialize};

use crate::confidence::{Confidence, expected_margin};
use crate::demand::{Demand, ExpectedEffect};
use crate::elasticity::{Elasticity, estimate};
use crate::grid::Grid;
use crate::guardrails::{GuardrailAct, Limits};
use crate::money::{Amount, Rate, figure};
use crate::objective::Objective;
use crate::outliers::{self, Market};
use crate::policy::{Mode, Policy};
use crate::pricing_input::{Inputs, PricingInput};
use crate::reasoning;
use crate::refusal::Refusal;
use crate::waterfall::{Factor, RULES, Waterfall};

/// Without history, this share of the move to the best price (in logarithms) is made at once; a
/// known elasticity adds the rest.
const MOVE_SHARE_MIN: f64 = 0.3;
/// Without a cost, the price is not lowered further than this below the competitors' median.
const REVENUE_RATIO_MIN: Rate = Rate::percent(95);
/// How long an experiment holds a price, so that a period sees one price.
const EXPLORE_MS: i64 = 2 * 86_400_000;
/// The uncertainty of the elasticity from which experiments have their full size.
const EXPLORE_SD: f64 = 0.4;

/// The guardrail that stops automatic changes on simulated data.
const SIMULATED: &str = "simulated";

/// The method that chose the price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    Profit,
    /// No cost is known: revenue between the limits.
    Revenue,
}

/// A price with everything that explains it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    pub sku: String,
    pub current: Amount,
    pub price: Amount,
    /// `(price − cost) / price`; 0 where the cost is unknown.
    pub expected_margin: f64,
    pub confidence: Confidence,
    pub reasoning: String,
    /// The waterfall: effects sum to `price − current`.
    pub factors: Vec<Factor>,
    /// Every guardrail that changed the price or had to yield, in order.
    pub acted: Vec<GuardrailAct>,
    pub aim: Aim,
    /// The best price by the objective alone; `None` if it cannot be computed.
    pub best: Option<Amount>,
    /// There is no cost and no limit to optimize against, so the price was kept.
    pub held: bool,
    pub outlook: ExpectedEffect,
    pub elasticity: Elasticity,
    pub market: Market,
    /// `auto` or `review`; `auto` of a policy becomes `review` for the reasons below.
    pub mode: Mode,
    pub review_because: Vec<String>,
    pub algorithm: String,
    pub rules: String,
    pub inputs: Inputs,
    /// Whether simulated observations took part.
    #[serde(default)]
    pub simulated: bool,
}

/// The name of the method that is shown.
pub const ALGORITHM: &str = "expected_profit";

/// Proposes a price.
pub fn propose(input: &PricingInput, policy: &Policy) -> Result<Proposal, Refusal> {
    let (grid, market) = prepare(input, policy)?;
    let elasticity = estimate(input, market.median, policy.prior);
    finish(input, policy, grid, market, elasticity)
}

/// Proposes with an elasticity that was estimated before, for many proposals from one history.
pub fn propose_with(
    input: &PricingInput,
    policy: &Policy,
    elasticity: Elasticity,
) -> Result<Proposal, Refusal> {
    let (grid, market) = prepare(input, policy)?;
    finish(input, policy, grid, market, elasticity)
}

fn prepare(input: &PricingInput, policy: &Policy) -> Result<(Grid, Market), Refusal> {
    input.check()?;
    input.check_margin()?;
    let Some(grid) = Grid::of(&input.currency) else {
        return Err(Refusal::invalid("currency.decimals", "at most 4", input.currency.decimals));
    };
    policy.check(grid)?;
    if policy.mode == Mode::Block {
        return Err(Refusal::Blocked { sku: input.sku.clone() });
    }
    Ok((grid, outliers::market(input, policy.competitor_age_max_ms)))
}

fn finish(
    input: &PricingInput,
    policy: &Policy,
    grid: Grid,
    market: Market,
    elasticity: Elasticity,
) -> Result<Proposal, Refusal> {
    let limits = Limits::of(input, policy, grid, market.median)?;
    let mut search = ObjectiveSearch {
        input,
        policy,
        grid,
        limits: &limits,
        waterfall: Waterfall::from(input.our_price),
    };
    let (demand, best) = search.move_to_best(&market, &elasticity);
    if best.is_some() {
        search.shorten_move(&elasticity);
        search.explore(&elasticity);
    }
    let mut waterfall = search.waterfall;
    let mut acted = limits.apply(waterfall.price(), input, policy);
    acted.iter().for_each(|act| waterfall.guardrail(act));
    let price = waterfall.price();
    if let Some(act) = set_aside(&market, input.our_price) {
        acted.insert(0, act);
    }
    acted.extend(simulated(input, policy, price));
    let confidence = Confidence::of(price, input.cost.is_some(), &elasticity, &market);
    let review_because = review(policy, &confidence, &acted, &market);
    let mode = if review_because.is_empty() { policy.mode } else { Mode::Review };
    let mut proposal = Proposal {
        sku: input.sku.clone(),
        current: input.our_price,
        price,
        expected_margin: expected_margin(price, input.cost),
        confidence,
        reasoning: String::new(),
        factors: waterfall.into_factors(),
        acted,
        aim: if input.cost.is_some() { Aim::Profit } else { Aim::Revenue },
        best,
        held: best.is_none(),
        outlook: ExpectedEffect::of(&demand, input.our_price, price, input.cost, &elasticity),
        inputs: inputs(input, &market),
        elasticity,
        market,
        mode,
        review_because,
        algorithm: ALGORITHM.to_owned(),
        rules: RULES.to_owned(),
        simulated: input.simulated,
    };
    proposal.reasoning = reasoning::paragraph(&proposal, input);
    Ok(proposal)
}

/// The first part of the waterfall: the steps towards the best price, before the guardrails.
struct ObjectiveSearch<'a> {
    input: &'a PricingInput,
    policy: &'a Policy,
    grid: Grid,
    limits: &'a Limits,
    waterfall: Waterfall,
}

impl ObjectiveSearch<'_> {
    /// Moves to the best price in steps, one for each kind of evidence.
    fn move_to_best(
        &mut self,
        market: &Market,
        elasticity: &Elasticity,
    ) -> (Demand, Option<Amount>) {
        let (input, policy) = (self.input, self.policy);
        let median = market.median;
        // Without a market price the steepening does not apply.
        let start = if median.is_some() { elasticity.parity } else { elasticity.mean };
        let mut demand = Demand::constant(input.our_price, start);
        let aim = input.cost.map_or(Objective::Revenue, |cost| Objective::Profit {
            cost,
            weight: policy.profit_weight,
        });
        let range = self.range(market);
        let plain = input.cost.map_or_else(
            || format!("no cost, elasticity {start:.2}"),
            |cost| format!("cost {cost}, elasticity {start:.2}"),
        );
        let name = if input.cost.is_some() { "cost_and_elasticity" } else { "revenue" };
        let newest = input.history.iter().map(|it| it.at_ms).filter(|it| *it <= input.now_ms).max();
        let age = newest.map(|at| input.now_ms.saturating_sub(at));
        self.add_step(name, plain, age, aim, &demand, range);
        if let Some(median) = median {
            demand = demand.against(median, elasticity);
            let evidence = format!("competitor median {median} of {}", market.used);
            self.add_step("competitors", evidence, market.age_ms, aim, &demand, range);
            if elasticity.follow > 0.0 {
                demand = demand.followed(elasticity);
                let evidence =
                    format!("competitors make {:.0}% of our moves", 100.0 * elasticity.follow);
                self.add_step("competitors_follow", evidence, age, aim, &demand, range);
            }
        }
        if let Some(index) = input.demand_index {
            let ordinary = elasticity.index_median.unwrap_or(policy.demand_normal);
            demand = demand.with_index(index, ordinary, policy.demand_response);
            let evidence =
                format!("demand index {} where {} is ordinary", figure(index), figure(ordinary));
            let age = input.demand_at_ms.map_or(0, |at| input.now_ms.saturating_sub(at).max(0));
            self.add_step("demand_index", evidence, Some(age), aim, &demand, range);
        }
        (demand, range.map(|_| self.waterfall.price()))
    }

    fn add_step(
        &mut self,
        name: &str,
        evidence: String,
        age_ms: Option<i64>,
        aim: Objective,
        demand: &Demand,
        range: Option<(Amount, Amount)>,
    ) {
        let now = self.input.our_price;
        let after = range.map_or(now, |(low, high)| aim.best(demand, self.grid, now, low, high));
        self.waterfall.step(name, evidence, age_ms, after);
    }

    /// Profit has a maximum of its own. Revenue has none, so it is maximised only between
    /// configured limits: the position against the competitors, or a lowest price. Without a cost
    /// the break-even price is unknown, so revenue is not sought far below the competitors.
    fn range(&self, market: &Market) -> Option<(Amount, Amount)> {
        if self.input.cost.is_some() {
            return Some((Amount::ZERO, Amount::LIMIT));
        }
        let (low, high) = self.limits.allowed();
        let least = market.median.and_then(|it| self.grid.scaled_ceil(it, REVENUE_RATIO_MIN));
        let (from, to) = match (self.limits.band(), least) {
            (Some((from, to)), Some(least)) => (from.max(least).min(to), to),
            (Some(band), None) => band,
            (None, Some(least)) => (least, high),
            (None, None)
                if self.input.min_price.is_positive() || self.policy.map_price.is_some() =>
            {
                (low, high)
            }
            (None, None) => return None,
        };
        let low = from.max(low).min(high);
        Some((low, to.min(high).max(low)))
    }

    /// Makes only a part of the move to the best price; the part grows with the share of the
    /// prior's variance that the data removed.
    fn shorten_move(&mut self, elasticity: &Elasticity) {
        let share = MOVE_SHARE_MIN + (1.0 - MOVE_SHARE_MIN) * elasticity.data_weight;
        let (now, best) = (self.input.our_price.to_f64(), self.waterfall.price().to_f64());
        let target = now * (best / now).powf(share);
        let Some(after) = self.grid.nearest_f64(target).and_then(|it| self.grid.price(it)) else {
            return;
        };
        let evidence = format!(
            "only {:.0}% of the move is made, because the data removes {:.0}% of the uncertainty of \
             the elasticity",
            100.0 * share,
            100.0 * elasticity.data_weight
        );
        self.waterfall.step("caution", evidence, None, after);
    }

    /// A small deliberate deviation, up and down by turns, while the elasticity is uncertain.
    fn explore(&mut self, elasticity: &Elasticity) {
        let size = self.policy.explore.to_f64() * (elasticity.sd / EXPLORE_SD).min(1.0);
        if size <= self.policy.hysteresis.to_f64() {
            return;
        }
        let turn = self.input.now_ms.div_euclid(EXPLORE_MS.max(self.policy.cooldown_ms));
        // The direction depends on the SKU, so that not all prices rise and fall together.
        let phase = self.input.sku.bytes().fold(0_i64, |sum, byte| sum + i64::from(byte));
        let up = (turn + phase).rem_euclid(2) == 0;
        let factor = if up { 1.0 + size } else { 1.0 - size };
        let target = self.waterfall.price().to_f64() * factor;
        let Some(after) = self.grid.nearest_f64(target).and_then(|it| self.grid.price(it)) else {
            return;
        };
        let evidence = format!(
            "a deliberate {:.1}% {} to learn the elasticity, uncertain by {:.2}",
            100.0 * size,
            if up { "up" } else { "down" },
            elasticity.sd
        );
        self.waterfall.step("exploration", evidence, None, after);
    }
}

fn set_aside(market: &Market, price: Amount) -> Option<GuardrailAct> {
    let first = market.set_aside.first()?;
    let more = match market.set_aside_count {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let why = format!("competitor prices set aside: {}{more}", first.why);
    Some(GuardrailAct { name: "outliers".to_owned(), before: price, after: price, why })
}

/// A policy never applies a price by itself that simulated observations took part in.
fn simulated(input: &PricingInput, policy: &Policy, price: Amount) -> Option<GuardrailAct> {
    let stops = input.simulated && policy.mode == Mode::Auto;
    stops.then(|| GuardrailAct {
        name: SIMULATED.to_owned(),
        before: price,
        after: price,
        why: "simulated prices took part, so the price is not applied automatically".to_owned(),
    })
}

fn review(
    policy: &Policy,
    confidence: &Confidence,
    acted: &[GuardrailAct],
    market: &Market,
) -> Vec<String> {
    let mut because = Vec::new();
    if policy.mode != Mode::Auto {
        return because;
    }
    if confidence.value < policy.auto_confidence {
        let (value, least) = (confidence.value, policy.auto_confidence);
        because.push(format!("confidence {value} is below {least}"));
    }
    let yielded = |it: &&GuardrailAct| it.name == "max_step" && it.before == it.after;
    because.extend(acted.iter().filter(yielded).map(|it| it.why.clone()));
    because.extend(acted.iter().filter(|it| it.name == SIMULATED).map(|it| it.why.clone()));
    if market.set_aside_count > market.used {
        because.push("most competitor prices were set aside".to_owned());
    }
    because
}

fn inputs(input: &PricingInput, market: &Market) -> Inputs {
    Inputs {
        currency: input.currency.clone(),
        our_price: input.our_price,
        competitor_price: input.competitor_price,
        demand_index: input.demand_index,
        cost: input.cost,
        min_price: input.min_price,
        max_price: input.max_price,
        min_margin: input.min_margin,
        competitor_median: market.median,
        competitors_used: market.used,
        history_points: input.history.len(),
        last_change_ms: input.last_change_ms,
        now_ms: input.now_ms,
    }
}
