//! The table, the catalogue and the pipeline, over services made up for the occasion.

mod catalog;
pub(crate) mod house;
mod pipeline;
mod standing;
mod task;
mod transfer;
