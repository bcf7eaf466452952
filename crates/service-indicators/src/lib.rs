//! The indicators contract: candles of any venue, and technical indicators over them.
//!
//! The mathematics is `ta`'s and completeness is `history`'s; this crate joins them in the
//! contract's shapes. Candles here are always closed.

mod candles;
mod envelope;
mod ports;
mod tools;
mod warm;
mod windows;
mod wire;

use std::sync::Arc;

use contract::{Contract, ContractError, Scope, Service, Tools};
use market::Clock;

pub use ports::{Market, VenueCandles};

use candles::Candlestand;

pub struct Indicators {
    pub(crate) candles: Candlestand,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) version: &'static str,
    /// When the service began, for its uptime.
    pub(crate) started: market::Millis,
}

/// The service with its tool table, ready for the catalogue.
pub fn service(
    market: Market,
    clock: Arc<dyn Clock>,
    version: &'static str,
) -> Result<Service, ContractError> {
    let started = clock.now();
    let candles = Candlestand::new(market);
    let indicators = Arc::new(Indicators { candles, clock, version, started });
    Tools::of(indicators)
        .tool("compute_indicators", Scope::Read, tools::compute::call)
        .tool("list_symbols", Scope::Read, tools::list_symbols::call)
        .tool("health", Scope::Read, tools::health::call)
        .tool("get_klines", Scope::Read, tools::get_klines::call)
        .bind(Contract::load("indicators")?, envelope::Traide)
}
