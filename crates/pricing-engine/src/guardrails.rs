//! The limits on a price, in order of precedence, each reported when it acts.
//!
//! Never broken: `margin_floor`, `map`, `min_price`, `max_price`, and `max_step` where the policy
//! calls it strict. If they leave no price, that is a refusal with the two numbers that collide.
//! Soft guardrails, which yield to those and report it: `max_step`, `position`, `ending`,
//! `hysteresis`, `cooldown`. They act in this order: position, `max_step`, `max_price`,
//! `min_price`, `map`, `margin_floor`, ending, hysteresis, cooldown. An ending is chosen only among
//! prices between the limits, so the floor holds after it; hysteresis and cooldown keep the current
//! price only where the current price is allowed.

use serde::{Deserialize, Serialize};

use crate::grid::{Grid, PriceEnding};
use crate::money::{Amount, Rate, percent};
use crate::outliers::span;
use crate::policy::Policy;
use crate::pricing_input::PricingInput;
use crate::refusal::{Bound, Refusal};

/// A guardrail that changed the price, or that yielded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardrailAct {
    pub name: String,
    pub before: Amount,
    pub after: Amount,
    pub why: String,
}

/// The prices that are allowed.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    grid: Grid,
    /// The hard limits, already on the grid, in the order in which they are applied.
    lower: Vec<Bound>,
    upper: Vec<Bound>,
    low: Amount,
    high: Amount,
    step: (Amount, Amount),
    band: Option<(Amount, Amount)>,
}

impl Limits {
    pub(crate) fn of(
        input: &PricingInput,
        policy: &Policy,
        grid: Grid,
        market: Option<Amount>,
    ) -> Result<Self, Refusal> {
        let bound = |name: &str, price: Amount| Bound { name: name.to_owned(), price };
        let unreachable = grid.price(grid.floor(Amount::LIMIT)).unwrap_or(Amount::LIMIT);
        let up = |amount: Amount| grid.price(grid.ceil(amount)).unwrap_or(unreachable);
        let step = step(input.our_price, policy.max_step, grid);
        let highest = grid.price(grid.floor(Amount::LIMIT) - 1).unwrap_or(Amount::LIMIT);
        let mut upper = vec![bound("largest_amount", highest)];
        // The smallest coin is the lowest possible price.
        let mut lower = vec![bound("smallest_coin", grid.price(1).unwrap_or(Amount::ZERO))];
        if let Some(max) = input.max_price {
            upper.push(bound("max_price", grid.price(grid.floor(max)).unwrap_or(max)));
        }
        if input.min_price.is_positive() {
            lower.push(bound("min_price", up(input.min_price)));
        }
        if let Some(map) = policy.map_price {
            lower.push(bound("map", up(map)));
        }
        if let Some(cost) = input.cost {
            let floor = grid.margin_floor(cost, input.min_margin).unwrap_or(unreachable);
            lower.push(bound("margin_floor", floor));
        }
        if policy.strict_step {
            upper.push(bound("max_step", step.1));
            lower.push(bound("max_step", step.0));
        }
        let highest_of = lower.iter().max_by_key(|it| it.price).cloned();
        let lowest_of = upper.iter().min_by_key(|it| it.price).cloned();
        let (Some(least), Some(most)) = (highest_of, lowest_of) else {
            return Err(Refusal::invalid("limits", "present", "none"));
        };
        if least.price > most.price {
            return Err(Refusal::Conflict { lower: least, upper: most });
        }
        let band = market.zip(policy.position.ratios()).and_then(|(market, (low, high))| {
            let (low, high) = (grid.scaled_ceil(market, low)?, grid.scaled_floor(market, high)?);
            (low <= high).then_some((low, high))
        });
        Ok(Self { grid, lower, upper, low: least.price, high: most.price, step, band })
    }

    /// The lowest and the highest allowed price.
    pub(crate) const fn allowed(&self) -> (Amount, Amount) {
        (self.low, self.high)
    }

    /// The price range of the position against competitors, within the allowed prices.
    pub(crate) const fn band(&self) -> Option<(Amount, Amount)> {
        self.band
    }

    fn allows(&self, price: Amount) -> bool {
        (self.low..=self.high).contains(&price)
    }

    /// Applies every guardrail to a price.
    pub(crate) fn apply(
        &self,
        wished: Amount,
        input: &PricingInput,
        policy: &Policy,
    ) -> Vec<GuardrailAct> {
        let mut run = GuardrailRun { price: wished, acts: Vec::new() };
        if let Some((low, high)) = self.band {
            run.clamp("position", low, high, |it| format!("keeps the chosen place against the competitors, between {low} and {high}, instead of {it}"));
        }
        let (low, high) = self.step;
        let share = policy.max_step.as_percent();
        run.clamp("max_step", low, high, |_| {
            format!("a price moves by at most {share} at once, from {low} to {high}")
        });
        for Bound { name, price } in &self.upper {
            run.clamp(name, Amount::ZERO, *price, |_| {
                format!("the price may not lie above {price}")
            });
        }
        for Bound { name, price } in &self.lower {
            run.clamp(name, *price, Amount::LIMIT, |_| lower_reason(name, *price, input));
        }
        self.note_yielding(&mut run, policy);
        self.end(&mut run, policy.ending);
        self.settle(&mut run, input, policy);
        run.acts
    }

    /// Reports a soft guardrail that yielded to a hard one.
    fn note_yielding(&self, run: &mut GuardrailRun, policy: &Policy) {
        let outside = |(low, high): (Amount, Amount), price: Amount| price < low || price > high;
        let price = run.price;
        if outside(self.step, price) {
            let share = policy.max_step.as_percent();
            run.note("max_step", format!("the largest step of {share} yields: {price} is the nearest price that the limits allow"));
        }
        if self.band.is_some_and(|band| outside(band, price)) {
            run.note("position", format!("the place against the competitors yields: the limits allow no nearer price than {price}"));
        }
    }

    fn end(&self, run: &mut GuardrailRun, ending: PriceEnding) {
        if ending == PriceEnding::None {
            return;
        }
        let price = run.price;
        let (low, high) = (self.low.max(self.step.0), self.high.min(self.step.1));
        let narrow = self.grid.with_ending(ending, price, low, high);
        match narrow.or_else(|| self.grid.with_ending(ending, price, self.low, self.high)) {
            Some(ended) => {
                run.set("ending", ended, format!("prices here end in {}", ending.word()))
            }
            None => run
                .note("ending", format!("no allowed price near {price} ends in {}", ending.word())),
        }
    }

    /// Keeps the current price if the change is too small or too early, unless that price is not
    /// allowed.
    fn settle(&self, run: &mut GuardrailRun, input: &PricingInput, policy: &Policy) {
        let now = input.our_price;
        let change = run.price.less(now);
        if change == Amount::ZERO {
            return;
        }
        let small = i128::from(change.micros().abs()) * i128::from(Rate::ONE.billionths())
            < i128::from(now.micros()) * i128::from(policy.hysteresis.billionths());
        let share = percent(change.to_f64() / now.to_f64());
        let waited = input.last_change_ms.map(|at| input.now_ms.saturating_sub(at));
        let early = waited.filter(|it| *it < policy.cooldown_ms);
        if !self.allows(now) {
            if let Some(waited) = early {
                run.note(
                    "cooldown",
                    format!(
                        "the last change was {} ago, but {now} is not allowed, so the price moves",
                        span(waited.max(0))
                    ),
                );
            }
            return;
        }
        if small {
            let worth = policy.hysteresis.as_percent();
            run.set(
                "hysteresis",
                now,
                format!("a change of {share} is less than the {worth} worth making"),
            );
        } else if let Some(waited) = early {
            run.set(
                "cooldown",
                now,
                format!(
                    "the last change was {} ago, and prices stand for {}",
                    span(waited.max(0)),
                    span(policy.cooldown_ms)
                ),
            );
        }
    }
}

fn step(now: Amount, share: Rate, grid: Grid) -> (Amount, Amount) {
    let one = Rate::ONE.billionths();
    let ratio = |offset: i64| Rate::from_billionths(one + offset).unwrap_or(Rate::ONE);
    let low = grid.scaled_ceil(now, ratio(-share.billionths())).unwrap_or(now);
    let high = grid.scaled_floor(now, ratio(share.billionths())).unwrap_or(now);
    // If a step is smaller than a coin, only the current price remains.
    (low.min(now), high.max(now))
}

fn lower_reason(name: &str, price: Amount, input: &PricingInput) -> String {
    match (name, input.cost) {
        ("margin_floor", Some(cost)) => format!(
            "below {price} the margin over a cost of {cost} would fall under {}",
            input.min_margin.as_percent()
        ),
        ("map", _) => format!("the maker allows no price below {price} to be advertised"),
        _ => format!("the price may not lie below {price}"),
    }
}

struct GuardrailRun {
    price: Amount,
    acts: Vec<GuardrailAct>,
}

impl GuardrailRun {
    fn clamp(&mut self, name: &str, low: Amount, high: Amount, why: impl Fn(Amount) -> String) {
        let after = self.price.max(low).min(high);
        self.set(name, after, why(self.price));
    }

    fn set(&mut self, name: &str, after: Amount, why: String) {
        let before = std::mem::replace(&mut self.price, after);
        if before != after {
            self.acts.push(GuardrailAct { name: name.to_owned(), before, after, why });
        }
    }

    fn note(&mut self, name: &str, why: String) {
        let (before, after) = (self.price, self.price);
        self.acts.push(GuardrailAct { name: name.to_owned(), before, after, why });
    }
}
