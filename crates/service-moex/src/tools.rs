//! One file per tool; each has one `call`.

pub(crate) mod calendar;
pub(crate) mod constituents;
pub(crate) mod correlation;
pub(crate) mod dividends;
pub(crate) mod portfolio_risk;
pub(crate) mod search;
pub(crate) mod snapshot;
pub(crate) mod timeseries;
