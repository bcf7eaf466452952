//! The collector's tools, one file each; `crate::tools` has the four that both
//! contracts share.

pub(crate) mod fetch_market_features;
pub(crate) mod get_job_status;
pub(crate) mod import_product_catalog;
pub(crate) mod ingest_tick;
pub(crate) mod list_schedules;
pub(crate) mod list_sources;
pub(crate) mod pause_schedule;
pub(crate) mod remove_schedule;
pub(crate) mod remove_simulated_ticks;
pub(crate) mod schedule_collection;
pub(crate) mod start_collection;
