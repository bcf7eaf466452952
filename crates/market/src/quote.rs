//! A price at a moment.

use crate::decimal::Decimal;
use crate::freshness::Freshness;
use crate::symbol::Symbol;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    pub symbol: Symbol,
    /// As the venue wrote it.
    pub price: Decimal,
    /// What the price is counted in: `USDT`, `RUB`.
    pub currency: String,
    /// Traded over the last day, in units of the thing traded.
    pub volume: Option<Decimal>,
    /// Its `as_of` is the quote's own.
    pub freshness: Freshness,
}
