//! The analyst's tools, one file each.

pub(crate) mod ask_market_analyst;
