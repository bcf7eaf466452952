//! Tasks: calls that continue as a job after their reply. A service reports the state of the job;
//! protocols that have tasks show it, the others do not.

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
    /// How often clients should poll, in milliseconds.
    pub poll_ms: u64,
    /// How long after its start a task can be asked for, in seconds. The job is kept at least as
    /// long.
    pub ttl_s: u64,
}

impl TaskSpec {
    pub(crate) fn ttl(self) -> Duration {
        Duration::from_secs(self.ttl_s)
    }
}

/// A request for the state of the job behind a task; see [`crate::Tools::follow`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct JobQuery {
    /// The id of the job; see [`Reply::job`].
    pub job: String,
    /// Whether to cancel the job if it has not ended.
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

/// The state of the job behind a task. A service reports a foreign job as not found.
pub struct JobReport {
    /// When the job was created, in RFC 3339.
    pub created_at: String,
    /// When the job last changed its state, in RFC 3339.
    pub changed_at: String,
    /// The time since it was created.
    pub age: Duration,
    /// Its progress or its end, for a person or a model.
    pub note: String,
    /// The phase of the job.
    pub phase: JobPhase,
}

/// The phase of a job.
pub enum JobPhase {
    /// Queued or running.
    Working,
    /// The result of the call: a reply that matches the tool's output schema, or a fault.
    Ended(Result<Box<dyn Reply>, Fault>),
    /// Cancelled before it ended.
    Cancelled,
}

/// A task, ready for a transport to encode.
pub struct TaskReport {
    /// The tool's task section.
    pub spec: TaskSpec,
    /// When the job was created, in RFC 3339.
    pub created_at: String,
    /// When the job last changed its state, in RFC 3339.
    pub changed_at: String,
    /// Its progress or its end, for a person or a model.
    pub note: String,
    /// The phase of the task.
    pub phase: TaskPhase,
}

/// The phase of a task.
pub enum TaskPhase {
    /// Queued or running.
    Working,
    /// What the call would have returned, had it waited.
    Ended(CallOutcome),
    /// Cancelled before it ended.
    Cancelled,
}
