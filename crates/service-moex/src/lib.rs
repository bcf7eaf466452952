//! The Moscow Exchange contract: securities, price history, indices, and risk over them.
//!
//! What the exchange says comes through the ports of `market`; this crate checks what is asked,
//! computes the figures, and answers in the contract's shapes.

mod answer;
mod ask;
mod envelope;
mod figures;
mod prices;
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
    /// The day it is in Moscow, whose clocks have been three hours ahead since 2014.
    pub(crate) fn today(&self) -> Date {
        Millis(self.clock.now().0.saturating_add(3 * 3_600_000)).date()
    }
}

/// The service with its tool table, ready for the catalogue.
pub fn service(
    exchange: Arc<dyn StockExchange>,
    clock: Arc<dyn Clock>,
) -> Result<Service, ContractError> {
    let contract = Contract::load("moex")?;
    let envelope = envelope::Iss::new(&contract.tools, Arc::clone(&clock));
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
        .bind(contract, envelope)
}
