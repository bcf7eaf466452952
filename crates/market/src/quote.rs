//! A latest price with its time.

use crate::decimal::Decimal;
use crate::freshness::Freshness;
use crate::symbol::Symbol;

/// The latest price of an instrument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// The instrument.
    pub symbol: Symbol,
    /// As the venue wrote it.
    pub price: Decimal,
    /// The currency of the price: `USDT`, `RUB`.
    pub currency: String,
    /// Units traded over the last day.
    pub volume: Option<Decimal>,
    /// `as_of` is the time of the price.
    pub freshness: Freshness,
}
