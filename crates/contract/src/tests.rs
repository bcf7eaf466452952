//! Tests of the table, the catalog and the pipeline with small invented services.

mod catalog;
mod credential_monitor;
pub(crate) mod fixture;
mod host;
mod pipeline;
mod schemas;
mod task;
mod transfer;
