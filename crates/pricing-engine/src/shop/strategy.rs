//! The strategies that set our price: the optimizer and the ones it is compared with.

use crate::money::Amount;
use crate::outliers;
use crate::{Grid, Policy, PricingInput, Rate, Refusal, propose};

/// A way of setting the price each morning.
#[derive(Debug, Clone, PartialEq)]
pub enum ShopStrategy {
    Optimizer(Box<Policy>),
    /// If the market is more than 2 % below us, 1 % below it, but never below the margin floor; the
    /// price never rises again.
    UndercutRule,
    /// The cheapest price in stock, but never below the margin floor.
    MatchCheapest,
    Fixed(Amount),
}

impl ShopStrategy {
    /// The optimizer as the shop runs it: small experiments, a step of 15 % a day at most.
    pub fn optimizer() -> Self {
        Self::Optimizer(Box::new(Policy {
            explore: Rate::percent(4),
            max_step: Rate::percent(15),
            ..Policy::default()
        }))
    }

    /// The strategies compared with the best fixed price; the optimizer first.
    pub fn compared() -> Vec<Self> {
        vec![Self::optimizer(), Self::cautious(), Self::UndercutRule, Self::MatchCheapest]
    }

    /// The optimizer without experiments.
    pub fn cautious() -> Self {
        let max_step = Rate::percent(15);
        Self::Optimizer(Box::new(Policy { max_step, ..Policy::default() }))
    }

    pub fn word(&self) -> &'static str {
        match self {
            Self::Optimizer(policy) if policy.explore > Rate::ZERO => "optimizer",
            Self::Optimizer(_) => "without experiments",
            Self::UndercutRule => "undercut 1 %",
            Self::MatchCheapest => "match cheapest",
            Self::Fixed(_) => "fixed",
        }
    }

    pub(crate) fn price(
        &self,
        input: &PricingInput,
        floor: Amount,
        grid: Grid,
    ) -> Result<Amount, Refusal> {
        let market = || outliers::market(input, i64::MAX);
        let share = |amount: Amount, rate: Rate| grid.scaled_floor(amount, rate).unwrap_or(amount);
        Ok(match self {
            Self::Optimizer(policy) => propose(input, policy)?.price,
            Self::UndercutRule => match market().median {
                Some(median) if share(median, Rate::percent(102)) < input.our_price => {
                    share(median, Rate::percent(99)).max(floor)
                }
                _ => input.our_price.max(floor),
            },
            Self::MatchCheapest => {
                let cheapest = market().min.unwrap_or(input.our_price);
                share(cheapest, Rate::ONE).max(floor)
            }
            Self::Fixed(price) => *price,
        })
    }
}
