//! The trait of a shop: find the listing of a SKU and set its price. The kind of a shop's fault
//! decides whether the push is tried again.

use async_trait::async_trait;
use fault::{Fault, Kind};
use parking_lot::Mutex;
use pricing_engine::Amount;

/// A product or variant of a shop.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShopListing {
    pub(crate) id: String,
    /// The product that a variant belongs to.
    pub(crate) product: Option<String>,
    pub(crate) price: Option<Amount>,
    /// The shop's currency, where the shop says it.
    pub(crate) currency: Option<String>,
}

/// A shop that prices are pushed to. Neither a fault nor a log has its credentials.
#[async_trait]
pub(crate) trait Shop: Send + Sync {
    /// `shopify` or `woocommerce`.
    fn name(&self) -> &'static str;

    /// The one listing that has this SKU exactly.
    async fn find(&self, sku: &str) -> Result<ShopListing, Fault>;

    /// Sets the price of a listing; fails unless the shop answers with the same price.
    async fn set_price(&self, listing: &ShopListing, price: Amount) -> Result<(), Fault>;
}

/// The name of a target in a sentence.
pub(crate) fn title(target: &str) -> &str {
    match target {
        "shopify" => "Shopify",
        "woocommerce" => "WooCommerce",
        "price_webhook" => "the price webhook",
        other => other,
    }
}

/// The last problem of a target as a whole, not of one SKU. It is kept in memory, for the health
/// check.
pub(crate) struct ShopStatus {
    pub(crate) target: &'static str,
    problem: Mutex<Option<String>>,
}

impl ShopStatus {
    pub(crate) fn new(target: &'static str) -> Self {
        Self { target, problem: Mutex::default() }
    }

    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.lock().clone()
    }

    /// Keeps the problem of the last request, or none.
    pub(crate) fn record(&self, problem: Option<&Fault>) {
        *self.problem.lock() = problem.map(|fault| fault.message().to_owned());
    }
}

/// Whether another attempt would fail too. Other faults can pass: the limit of a shop ends, and the
/// operator corrects refused credentials.
pub(crate) fn is_final(fault: &Fault) -> bool {
    matches!(fault.kind(), Kind::Invalid | Kind::NotFound | Kind::Conflict)
}

pub(super) fn not_in_shop(target: &str, sku: &str) -> Fault {
    let message = format!("{} has no product with the SKU {sku:?}", title(target));
    Fault::not_found("sku_not_in_shop", message)
}

pub(super) fn several_in_shop(target: &str, sku: &str, count: usize) -> Fault {
    let title = title(target);
    let message = format!("{count} products of {title} have the SKU {sku:?}; give each its own");
    Fault::new(Kind::Conflict, "sku_not_unique", message)
}

/// Fails unless the shop answered with the price that it was sent.
pub(super) fn require_same_price(
    target: &str,
    sent: Amount,
    answered: Option<&str>,
) -> Result<(), Fault> {
    let answered = answered.unwrap_or_default();
    if answered.parse::<Amount>().is_ok_and(|it| it == sent) {
        return Ok(());
    }
    let shown: String = answered.chars().take(40).collect();
    let message = format!("{} was sent {sent} and answered {shown:?}", title(target));
    Err(Fault::new(Kind::Conflict, "shop_changed_price", message))
}
