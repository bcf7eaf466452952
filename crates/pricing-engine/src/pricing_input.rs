//! The input of a proposal: one product, its current price, and the data about it.
//!
//! A [`PricingInput`] is only data; [`PricingInput::check`] refuses an invalid one. Times are
//! milliseconds since 1970 in UTC, and the caller supplies `now_ms`.

use serde::{Deserialize, Serialize};

use crate::grid::Currency;
use crate::money::{Amount, Rate};
use crate::refusal::Refusal;

/// The most points of history and competitor prices that are used; older ones are left out.
pub const HISTORY_MAX: usize = 400;
pub const COMPETITORS_MAX: usize = 1_000;

/// A competitor's price as it was collected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompetitorPrice {
    /// The seller's name; empty if unknown.
    #[serde(default)]
    pub name: String,
    pub price: Amount,
    /// When the price was collected.
    pub at_ms: i64,
    /// Whether the product is in stock; other prices are excluded.
    #[serde(default = "yes")]
    pub in_stock: bool,
}

fn yes() -> bool {
    true
}

/// One observed period, usually a day: our price, and the units sold or the demand index.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HistoryPoint {
    pub at_ms: i64,
    pub price: Amount,
    #[serde(default)]
    pub units: Option<f64>,
    #[serde(default)]
    pub demand_index: Option<f64>,
    /// The competitors' median at that time.
    #[serde(default)]
    pub competitor: Option<Amount>,
}

/// The data from which a proposal is computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PricingInput {
    pub sku: String,
    #[serde(default)]
    pub currency: Currency,
    pub our_price: Amount,
    /// One competitor price from the caller, taken as current.
    #[serde(default)]
    pub competitor_price: Option<Amount>,
    /// The collected competitor prices.
    #[serde(default)]
    pub competitors: Vec<CompetitorPrice>,
    #[serde(default)]
    pub demand_index: Option<f64>,
    /// When the index was observed; `None` means now.
    #[serde(default)]
    pub demand_at_ms: Option<i64>,
    #[serde(default)]
    pub cost: Option<Amount>,
    #[serde(default)]
    pub min_price: Amount,
    #[serde(default)]
    pub max_price: Option<Amount>,
    #[serde(default = "default_margin")]
    pub min_margin: Rate,
    #[serde(default)]
    pub history: Vec<HistoryPoint>,
    /// When our price last changed.
    #[serde(default)]
    pub last_change_ms: Option<i64>,
    /// Whether simulated observations are among the data.
    #[serde(default)]
    pub simulated: bool,
    pub now_ms: i64,
}

/// The default minimum margin.
pub const fn default_margin() -> Rate {
    Rate::percent(12)
}

impl PricingInput {
    /// The smallest input: a SKU, a price and a time.
    pub fn new(sku: impl Into<String>, our_price: Amount, now_ms: i64) -> Self {
        Self {
            sku: sku.into(),
            currency: Currency::default(),
            our_price,
            competitor_price: None,
            competitors: Vec::new(),
            demand_index: None,
            demand_at_ms: None,
            cost: None,
            min_price: Amount::ZERO,
            max_price: None,
            min_margin: default_margin(),
            history: Vec::new(),
            last_change_ms: None,
            simulated: false,
            now_ms,
        }
    }

    /// Refuses invalid values, before any guardrail applies.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.sku.is_empty() {
            return Err(Refusal::invalid("sku", "a name", "empty"));
        }
        if self.currency.decimals > 4 {
            return Err(Refusal::invalid("currency.decimals", "at most 4", self.currency.decimals));
        }
        if !self.our_price.is_positive() {
            return Err(Refusal::invalid("our_price", "above 0", self.our_price));
        }
        if let Some(price) = self.competitor_price.filter(|it| !it.is_positive()) {
            return Err(Refusal::invalid("competitor_price", "above 0", price));
        }
        if let Some(index) = self.demand_index.filter(|it| !it.is_finite() || *it < 0.0) {
            return Err(Refusal::invalid("demand_index", "0 or more", index));
        }
        if let Some(cost) = self.cost.filter(|it| *it < Amount::ZERO) {
            return Err(Refusal::invalid("cost", "0 or more", cost));
        }
        if self.min_price < Amount::ZERO {
            return Err(Refusal::invalid("min_price", "0 or more", self.min_price));
        }
        if let Some(max) = self.max_price {
            if max < Amount::ZERO {
                return Err(Refusal::invalid("max_price", "0 or more", max));
            }
            if self.min_price > max {
                let expected = format!("at most max_price {max}");
                return Err(Refusal::invalid("min_price", expected, self.min_price));
            }
        }
        if self.min_margin < Rate::ZERO || self.min_margin > Rate::ONE {
            return Err(Refusal::invalid("min_margin", "between 0 and 1", self.min_margin));
        }
        Ok(())
    }

    /// Refuses a margin that no price has: all of the price over a cost.
    pub(crate) fn check_margin(&self) -> Result<(), Refusal> {
        match self.cost.filter(|it| it.is_positive() && self.min_margin == Rate::ONE) {
            Some(cost) => Err(Refusal::Margin { cost }),
            None => Ok(()),
        }
    }
}

/// A summary of the input that is stored with a proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    pub currency: Currency,
    pub our_price: Amount,
    pub competitor_price: Option<Amount>,
    pub demand_index: Option<f64>,
    pub cost: Option<Amount>,
    pub min_price: Amount,
    pub max_price: Option<Amount>,
    pub min_margin: Rate,
    /// The median of the competitor prices that counted, and how many did.
    pub competitor_median: Option<Amount>,
    pub competitors_used: usize,
    pub history_points: usize,
    pub last_change_ms: Option<i64>,
    pub now_ms: i64,
}
