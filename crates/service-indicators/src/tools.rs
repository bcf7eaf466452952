//! One file per tool; each has one `call`.

pub(crate) mod compute_indicators;
pub(crate) mod get_klines;
pub(crate) mod get_klines_batch;
pub(crate) mod health;
pub(crate) mod list_intervals;
pub(crate) mod list_symbols;
pub(crate) mod stream_klines;
