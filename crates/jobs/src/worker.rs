//! A worker takes jobs, renews their leases and writes how they ended.
//!
//! One transaction ends finished jobs and takes new ones, so a busy worker commits once for many jobs.
//! A worker never gives up: it retries a database that does not answer.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::context::JobContext;
use crate::job::JobState;
use crate::outcome::{Backoff, JobOutcome};
use crate::queue::Jobs;

mod active;
mod renew;
mod supervise;
pub(crate) mod turns;
mod worker_loop;

/// The most handlers that one worker runs at once.
const CONCURRENCY_MAX: usize = 1024;

/// Runs jobs. A job may run again after a crash, so a handler must be idempotent or commit through
/// [`JobContext::fence`].
#[async_trait]
pub trait JobHandler: Send + Sync {
    /// Runs one attempt of a job.
    async fn run(&self, context: JobContext) -> JobOutcome;
}

#[async_trait]
impl<F, R> JobHandler for F
where
    F: Fn(JobContext) -> R + Send + Sync,
    R: Future<Output = JobOutcome> + Send,
{
    async fn run(&self, context: JobContext) -> JobOutcome {
        self(context).await
    }
}

/// Receives the metrics of a worker.
pub trait JobMeter: Send + Sync {
    /// A job was taken, `waited` after it was due.
    fn started(&self, kind: &str, waited: Duration);
    /// A run ended and left its job in this state: queued where it is retried, `None` where another
    /// worker had taken the job over.
    fn ended(&self, kind: &str, state: Option<JobState>, ran: Duration);
}

struct NoMeter;

impl JobMeter for NoMeter {
    fn started(&self, _kind: &str, _waited: Duration) {}
    fn ended(&self, _kind: &str, _state: Option<JobState>, _ran: Duration) {}
}

/// The times of a worker.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// How long a job stays with a worker that does not renew its lease; a worker renews after a third
    /// of it. Where the clocks of two machines differ by more than the other two thirds, a job may be
    /// taken too early; the fence then refuses the writes of the first worker.
    pub lease: Duration,
    /// How often progress is written.
    pub progress_interval: Duration,
    /// How often a worker polls for jobs that other processes pushed, that are due, or whose worker was
    /// lost; shortened by up to a half at random.
    pub poll_interval: Duration,
    /// The wait between attempts.
    pub backoff: Backoff,
    /// The longest run; a longer one is a failed attempt.
    pub run_timeout: Duration,
    /// How long a handler may go on after it should stop.
    pub stop_grace: Duration,
    /// How long handlers may go on after the shutdown began.
    pub shutdown_grace: Duration,
    /// How long finished jobs of the worker's kinds are kept; `None` keeps them for ever.
    pub finished_retention: Option<Duration>,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(10),
            progress_interval: Duration::from_secs(1),
            poll_interval: Duration::from_millis(500),
            backoff: Backoff::default(),
            run_timeout: Duration::from_secs(3600),
            stop_grace: Duration::from_secs(5),
            shutdown_grace: Duration::from_secs(10),
            finished_retention: Some(Duration::from_secs(30 * 86_400)),
        }
    }
}

/// Runs jobs. Any number of workers may share one database, in one process or several.
pub struct Worker {
    jobs: Jobs,
    config: WorkerConfig,
    meter: Arc<dyn JobMeter>,
}

impl Worker {
    /// A worker of the queue; it does nothing until [`Worker::run`].
    pub fn new(jobs: Jobs, config: WorkerConfig) -> Self {
        Self { jobs, config, meter: Arc::new(NoMeter) }
    }

    /// Sends the metrics of the worker to `meter`.
    #[must_use]
    pub fn meter(mut self, meter: Arc<dyn JobMeter>) -> Self {
        self.meter = meter;
        self
    }

    /// Runs jobs of these kinds, at most `concurrency` at once, until the shutdown; then waits
    /// `shutdown_grace`, hands back the jobs that still run, and returns. If the future is dropped,
    /// other workers take its jobs when the leases expire.
    pub async fn run(
        &self,
        kinds: &[&str],
        concurrency: usize,
        handler: Arc<dyn JobHandler>,
        shutdown: CancellationToken,
    ) {
        let kinds: Vec<String> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        if kinds.is_empty() {
            return;
        }
        let concurrency = concurrency.clamp(1, CONCURRENCY_MAX);
        let mut worker_loop =
            worker_loop::WorkerLoop::new(self, kinds, concurrency, handler, shutdown);
        let active = worker_loop.active();
        tokio::select! {
            () = worker_loop.run() => {}
            () = renew::keep_renewing(&self.jobs, &active, &self.config) => {}
        }
    }
}
