//! The Moscow Exchange contract: securities, price history, indices, and risk over them.
//!
//! The crate checks arguments, reads the exchange through the ports of `market`, computes figures,
//! and replies in the contract's format.

mod arguments;
mod envelope;
mod figures;
mod prices;
mod reply;
mod tools;

use std::sync::Arc;

use clock::{Clock, Millis};
use contract::{Contract, ContractError, Scope, Service, Tools};
use jiff::civil::Date;
use market::StockExchange;

pub struct Moex {
    pub(crate) exchange: Arc<dyn StockExchange>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Moex {
    /// The date in Moscow, which has been three hours ahead of UTC since 2014.
    pub(crate) fn today(&self) -> Date {
        Millis(self.clock.now().0.saturating_add(3 * 3_600_000)).date()
    }
}

/// The service with its tools bound to handlers; `source` is where the exchange's data come from.
pub fn service(
    exchange: Arc<dyn StockExchange>,
    clock: Arc<dyn Clock>,
    source: &str,
) -> Result<Service, ContractError> {
    let contract = Contract::load("moex")?;
    let envelope = envelope::MoexEnvelope::new(&contract.tools, Arc::clone(&clock), source);
    Tools::of(Arc::new(Moex { exchange, clock }))
        .tool("get_security_snapshot", Scope::Read, tools::get_security_snapshot::call)
        .tool("get_ohlcv_timeseries", Scope::Read, tools::get_ohlcv_timeseries::call)
        .tool(
            "get_index_constituents_metrics",
            Scope::Read,
            tools::get_index_constituents_metrics::call,
        )
        .tool("search_securities", Scope::Read, tools::search_securities::call)
        .tool("get_dividends", Scope::Read, tools::get_dividends::call)
        .tool("get_trading_calendar", Scope::Read, tools::get_trading_calendar::call)
        .tool("compute_portfolio_risk", Scope::Read, tools::compute_portfolio_risk::call)
        .tool("compute_correlation_matrix", Scope::Read, tools::compute_correlation_matrix::call)
        .sources([source])
        .bind(contract, envelope)
}
