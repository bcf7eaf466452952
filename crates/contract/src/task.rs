//! Calls that go on after their answer: what a contract says of them, and what a service tells of
//! the job behind one. Protocols that have tasks show such a call as one; the others do not see it.

use std::time::Duration;

use fault::Fault;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::pipeline::CallOutcome;
use crate::reply::Reply;

/// The `task` section of a tool: its calls may become tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    /// How often a client is told to ask, in milliseconds.
    pub poll_ms: u64,
    /// How long after its beginning a task can be asked for, in seconds. The job behind it is kept
    /// for at least as long.
    pub ttl_s: u64,
}

impl TaskSpec {
    pub(crate) fn ttl(self) -> Duration {
        Duration::from_secs(self.ttl_s)
    }
}

/// What is asked about the job behind a task; see [`crate::Tools::follow`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct JobQuery {
    /// As the reply named it; see [`Reply::job`].
    pub job: String,
    /// Whether it is to cancel, if it has not ended.
    pub cancel: bool,
}

impl JobQuery {
    pub(crate) fn into_args(self) -> Map<String, Value> {
        let Self { job, cancel } = self;
        Map::from_iter([
            ("job".to_owned(), Value::from(job)),
            ("cancel".to_owned(), Value::from(cancel)),
        ])
    }
}

/// What a service tells of the job behind a task. One that is not the caller's own is not there.
pub struct JobReport {
    /// RFC 3339, as is the next.
    pub created_at: String,
    /// When the job last changed its state.
    pub changed_at: String,
    /// The time since it was made.
    pub age: Duration,
    /// How far it is, or how it ended, for a person or a model to read.
    pub note: String,
    pub phase: JobPhase,
}

pub enum JobPhase {
    Working,
    /// What the call came to: a reply that fits the output of its tool, or the fault that it would
    /// have answered with.
    Ended(Result<Box<dyn Reply>, Fault>),
    Cancelled,
}

/// A task, ready for a transport to encode.
pub struct TaskReport {
    pub spec: TaskSpec,
    pub created_at: String,
    pub changed_at: String,
    pub note: String,
    pub phase: TaskPhase,
}

pub enum TaskPhase {
    Working,
    /// Exactly what the call would have answered, had it waited.
    Ended(CallOutcome),
    Cancelled,
}
