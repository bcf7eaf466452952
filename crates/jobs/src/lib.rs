//! The durable job queue: work that was accepted is done, whatever happens to the process.
//!
//! A job is a row. A worker holds it by a lease that it renews, and every hold has a number of its
//! own (the fence), so that a worker whose job was taken over can write nothing more about it.
//! Handlers run at least once; those that must act exactly once commit their effect together with
//! [`Fence::complete_in`]. What a job means is the business of the service that pushed it.

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
