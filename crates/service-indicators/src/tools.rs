//! One file per tool; each has one `call`. `until` is the stop condition of `stream_klines`.

pub(crate) mod compute;
pub(crate) mod get_klines;
pub(crate) mod get_klines_batch;
pub(crate) mod health;
pub(crate) mod list_intervals;
pub(crate) mod list_symbols;
pub(crate) mod stream;
mod until;
