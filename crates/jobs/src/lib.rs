//! The durable job queue: a job that was accepted runs even if the process crashes.
//!
//! A job is a row. A worker holds it by a lease that it renews. Every hold has a number, the fence, so
//! a worker whose job was taken over can write nothing more about it. Handlers run at least once; a
//! handler that must act exactly once commits its effect together with [`Fence::complete_in`]. Only
//! the service that pushed a job knows what its payload means.

#![warn(missing_docs)]

mod context;
mod fence;
mod job;
mod new;
mod outcome;
mod queue;
mod schema;
mod sql;
mod wait;
mod wakeups;
mod worker;

#[cfg(test)]
mod tests;

pub use context::{JobContext, StopReason};
pub use fence::Fence;
pub use job::{Job, JobCount, JobError, JobFilter, JobPage, JobPageRequest, JobProgress, JobState};
pub use new::{NewJob, Pushed};
pub use outcome::{Backoff, JobOutcome};
pub use queue::{Jobs, QueueLimits};
pub use schema::MIGRATIONS;
pub use worker::{JobHandler, JobMeter, Worker, WorkerConfig};
