//! The waterfall from the current price to the proposed one, factor by factor, in money.
//!
//! Each factor has its evidence, the age of the evidence and its effect on the price. Intermediate
//! prices are exact amounts and each effect is the difference of two of them, so the effects sum
//! exactly to `proposed − current`.

use serde::{Deserialize, Serialize};

use crate::guardrails::GuardrailAct;
use crate::money::Amount;

/// The version of the rules: raised whenever the same input would give another proposal.
pub const RULES: &str = "1";

/// One step of the waterfall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factor {
    pub name: String,
    /// The evidence of the factor, in words.
    pub input: String,
    /// The age of the evidence; `None` for rules and for evidence without a time.
    pub age_ms: Option<i64>,
    /// The change of the price.
    pub effect: Amount,
    /// The price after this factor.
    pub price_after: Amount,
    /// The rule and its version.
    pub rule: String,
}

/// The waterfall while it is being built.
pub(crate) struct Waterfall {
    price: Amount,
    factors: Vec<Factor>,
}

impl Waterfall {
    pub(crate) fn from(price: Amount) -> Self {
        Self { price, factors: Vec::new() }
    }

    pub(crate) const fn price(&self) -> Amount {
        self.price
    }

    pub(crate) fn step(&mut self, name: &str, input: String, age_ms: Option<i64>, after: Amount) {
        let effect = after.less(self.price);
        self.price = after;
        let rule = format!("{name}/{RULES}");
        let name = name.to_owned();
        self.factors.push(Factor { name, input, age_ms, effect, price_after: after, rule });
    }

    pub(crate) fn guardrail(&mut self, act: &GuardrailAct) {
        if act.after != self.price {
            self.step(&act.name, act.why.clone(), None, act.after);
        }
    }

    pub(crate) fn into_factors(self) -> Vec<Factor> {
        self.factors
    }
}
