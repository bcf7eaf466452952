//! One file per tool of the contract, named after it; each has one `call`.

pub(crate) mod compute_correlation_matrix;
pub(crate) mod compute_portfolio_risk;
pub(crate) mod get_dividends;
pub(crate) mod get_index_constituents_metrics;
pub(crate) mod get_ohlcv_timeseries;
pub(crate) mod get_security_snapshot;
pub(crate) mod get_trading_calendar;
pub(crate) mod search_securities;
