//! The table, the catalogue and the pipeline, over services made up for the occasion.

mod catalog;
mod credential_monitor;
pub(crate) mod fixture;
mod pipeline;
mod task;
mod transfer;
