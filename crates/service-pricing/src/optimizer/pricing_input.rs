//! From what a caller says to what is asked of the mathematics: the caller's figures first, then the
//! catalogue's, then what was collected.

use clock::Millis;
use contract::Caller;
use fault::Fault;
use pricing_engine::{Amount, Ask, Currency, Policy, Rate};
use serde::Deserialize;
use store::Db;

use crate::collector::names;
use crate::evidence::{self, Evidence};
use crate::storage::policies::{self, InForce};
use crate::storage::products::{self, Product};

/// The market whose ticks a proposal looks at, since proposals name none.
pub(crate) const MARKET: &str = names::MARKET;

/// Refuses a SKU that cannot be one, and one that the caller does not reach.
pub(crate) fn within_reach(caller: &Caller, sku: &str) -> Result<(), Fault> {
    names::reach(caller, sku, MARKET)
}

/// Refuses a caller who does not reach every SKU: what concerns all of them is not theirs to decide.
pub(crate) fn reaches_all(caller: &Caller) -> Result<(), Fault> {
    caller.require_sku("")?;
    caller.require_market(MARKET)
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Asked {
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

impl Asked {
    /// The question with nothing but the caller's own figures.
    pub(crate) fn ask(&self, now: Millis) -> Result<Ask, Fault> {
        Ok(Ask {
            competitor_price: amount("competitor_price", self.competitor_price)?,
            demand_index: self.demand_index,
            cost: amount("cost", self.cost)?,
            min_price: amount("min_price", self.min_price)?.unwrap_or(Amount::ZERO),
            max_price: amount("max_price", self.max_price)?,
            min_margin: Rate::from_f64(self.min_margin).unwrap_or(Rate::ONE),
            ..Ask::new(self.sku.as_str(), must("our_price", self.our_price)?, now.0)
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
pub(crate) struct Case {
    pub(crate) ask: Ask,
    pub(crate) policy: Policy,
    /// The price in the catalogue, where there is one and it is not the caller's.
    pub(crate) other_price: Option<Amount>,
}

/// Adds the stored facts about the product to the fields the caller sent.
pub(crate) async fn complete(db: &Db, mut ask: Ask) -> Result<Case, Fault> {
    let product = products::find(db, &ask.sku).await?;
    let category = product.as_ref().and_then(|it| it.category.as_deref());
    let in_force = policies::in_force(db, Some(&ask.sku), category).await?;
    let seen = evidence::gather(db, (&ask.sku, MARKET), Millis(ask.now_ms)).await?;
    fill_in(&mut ask, product.as_ref(), seen);
    let known = product.as_ref().and_then(|it| it.price);
    let other_price = known.filter(|price| *price != ask.our_price);
    Ok(Case { policy: policy(&in_force, product.as_ref()), ask, other_price })
}

fn fill_in(ask: &mut Ask, product: Option<&Product>, seen: Evidence) {
    ask.history = seen.history;
    // A price the caller gives is about now; what was collected would only blur it.
    if ask.competitor_price.is_none() {
        ask.competitors = seen.competitors;
    }
    if let (None, Some((index, at))) = (ask.demand_index, seen.demand) {
        (ask.demand_index, ask.demand_at_ms) = (Some(index), Some(at.0));
    }
    let Some(product) = product else { return };
    ask.cost = ask.cost.or(product.cost);
    bound(ask, product);
    ask.last_change_ms = product.price_changed.map(|it| it.0);
}

/// Of the caller's bounds and the catalogue's the tighter ones hold, in the catalogue's currency.
pub(crate) fn bound(ask: &mut Ask, product: &Product) {
    ask.max_price = [ask.max_price, product.max_price].into_iter().flatten().min();
    ask.min_price = ask.min_price.max(product.min_price.unwrap_or(Amount::ZERO));
    if let Some(code) = &product.currency {
        ask.currency = Currency::of(code);
    }
}

/// The policy in force, with the catalogue's own lowest advertised price where none was set.
pub(crate) fn policy(in_force: &InForce, product: Option<&Product>) -> Policy {
    let mut policy = in_force.rules.policy();
    policy.map_price = policy.map_price.or(product.and_then(|it| it.map_price));
    policy
}
