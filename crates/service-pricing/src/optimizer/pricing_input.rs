//! Builds the pricing input of a proposal: the caller's figures first, then the catalogue's, then
//! the collected ticks.

use clock::Millis;
use contract::Caller;
use fault::Fault;
use pricing_engine::{Amount, Currency, Policy, PricingInput, Rate};
use serde::Deserialize;
use store::Db;

use crate::collector::names;
use crate::storage::policies::{self, EffectivePolicy};
use crate::storage::products::{self, Product};
use crate::tick_history::{self, TickHistory};

/// The market whose ticks a proposal uses; the contract's proposals name no market.
pub(crate) const MARKET: &str = names::MARKET;

/// Refuses an invalid SKU, and one beyond the caller's limits.
pub(crate) fn within_reach(caller: &Caller, sku: &str) -> Result<(), Fault> {
    names::require_sku_and_market(caller, sku, MARKET)
}

/// Refuses a caller whose token is limited to some SKUs; policies of all products need every SKU.
pub(crate) fn reaches_all(caller: &Caller) -> Result<(), Fault> {
    caller.require_sku("")?;
    caller.require_market(MARKET)
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PriceArgs {
    pub(crate) sku: String,
    our_price: f64,
    competitor_price: Option<f64>,
    demand_index: Option<f64>,
    cost: Option<f64>,
    min_price: Option<f64>,
    max_price: Option<f64>,
    #[serde(default = "usual_margin")]
    min_margin: f64,
}

fn usual_margin() -> f64 {
    0.12
}

impl PriceArgs {
    /// The pricing input with only the caller's own figures.
    pub(crate) fn input(&self, now: Millis) -> Result<PricingInput, Fault> {
        Ok(PricingInput {
            competitor_price: amount("competitor_price", self.competitor_price)?,
            demand_index: self.demand_index,
            cost: amount("cost", self.cost)?,
            min_price: amount("min_price", self.min_price)?.unwrap_or(Amount::ZERO),
            max_price: amount("max_price", self.max_price)?,
            min_margin: Rate::from_f64(self.min_margin).unwrap_or(Rate::ONE),
            ..PricingInput::new(self.sku.as_str(), must("our_price", self.our_price)?, now.0)
        })
    }
}

pub(crate) fn amount(field: &str, value: Option<f64>) -> Result<Option<Amount>, Fault> {
    value.map(|value| must(field, value)).transpose()
}

fn must(field: &str, value: f64) -> Result<Amount, Fault> {
    Amount::from_f64(value).ok_or_else(|| {
        let expected = format!("an amount below {}", Amount::LIMIT);
        Fault::invalid("invalid_input", format!("{field}: expected {expected}"))
            .problem(field, expected)
    })
}

/// Everything a proposal is made from.
pub(crate) struct PricingCase {
    pub(crate) input: PricingInput,
    pub(crate) policy: Policy,
    /// The price of the catalogue, if it has one that differs from the caller's.
    pub(crate) other_price: Option<Amount>,
}

/// Adds the stored facts about the product to the fields the caller sent.
pub(crate) async fn complete(db: &Db, mut input: PricingInput) -> Result<PricingCase, Fault> {
    let product = products::find(db, &input.sku).await?;
    let category = product.as_ref().and_then(|it| it.category.as_deref());
    let in_force = policies::in_force(db, Some(&input.sku), category).await?;
    let seen = tick_history::load(db, (&input.sku, MARKET), Millis(input.now_ms)).await?;
    fill_in(&mut input, product.as_ref(), seen);
    let known = product.as_ref().and_then(|it| it.price);
    let other_price = known.filter(|price| *price != input.our_price);
    Ok(PricingCase { policy: policy(&in_force, product.as_ref()), input, other_price })
}

fn fill_in(input: &mut PricingInput, product: Option<&Product>, seen: TickHistory) {
    input.history = seen.history;
    input.simulated = seen.simulated;
    // A competitor price of the caller is newer than every collected one, so it replaces them.
    if input.competitor_price.is_none() {
        input.competitors = seen.competitors;
    }
    if let (None, Some((index, at))) = (input.demand_index, seen.demand) {
        (input.demand_index, input.demand_at_ms) = (Some(index), Some(at.0));
    }
    let Some(product) = product else { return };
    input.cost = input.cost.or(product.cost);
    bound(input, product);
    input.last_change_ms = product.price_changed.map(|it| it.0);
}

/// The tighter of the caller's and the catalogue's bounds, in the catalogue's currency.
pub(crate) fn bound(input: &mut PricingInput, product: &Product) {
    input.max_price = [input.max_price, product.max_price].into_iter().flatten().min();
    input.min_price = input.min_price.max(product.min_price.unwrap_or(Amount::ZERO));
    if let Some(code) = &product.currency {
        input.currency = Currency::of(code);
    }
}

/// The policy in force, with the catalogue's own lowest advertised price where none was set.
pub(crate) fn policy(in_force: &EffectivePolicy, product: Option<&Product>) -> Policy {
    let mut policy = in_force.rules.policy();
    policy.map_price = policy.map_price.or(product.and_then(|it| it.map_price));
    policy
}
