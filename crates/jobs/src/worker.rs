//! A worker: takes jobs up, keeps their leases, and writes down how they ended.
//!
//! What ended and what is taken up next go into one transaction, so a busy worker commits once for
//! many jobs. Nothing here fails for good: a database that does not answer is asked again later.

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
mod worker_loop;

/// More handlers at once than one process has use for.
const CONCURRENCY_MAX: usize = 1024;

/// What is done with a job. It may be run again after a crash, so it either does the same again or
/// commits through [`JobContext::fence`].
#[async_trait]
pub trait JobHandler: Send + Sync {
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

/// Where a worker counts what it does.
pub trait JobMeter: Send + Sync {
    /// A job was taken up, so long after it was due.
    fn started(&self, kind: &str, waited: Duration);
    /// A run ended and left its job in this state: queued again, if it is to be retried; none if
    /// another worker had taken it over.
    fn ended(&self, kind: &str, state: Option<JobState>, ran: Duration);
}

struct NoMeter;

impl JobMeter for NoMeter {
    fn started(&self, _kind: &str, _waited: Duration) {}
    fn ended(&self, _kind: &str, _state: Option<JobState>, _ran: Duration) {}
}

#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// How long a job stays with a worker that is not heard from. RenewResult every third of it. Where
    /// the clocks of two machines differ by more than the rest, a job may be taken too early; the
    /// fence makes that a waste and not a fault.
    pub lease: Duration,
    /// How often progress is written.
    pub progress_interval: Duration,
    /// How often a worker looks for jobs that were pushed by other processes, whose time has come,
    /// or whose worker was lost; a little less at random.
    pub poll_interval: Duration,
    pub backoff: Backoff,
    /// How long one run may take; longer is a failed attempt.
    pub run_timeout: Duration,
    /// How long a handler may go on after it was told to stop.
    pub stop_grace: Duration,
    /// How long handlers may go on after the shutdown began.
    pub shutdown_grace: Duration,
    /// How long finished jobs of this worker's kinds are kept; for ever if not said.
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

/// Any number of workers may run over one database, in one process or many.
pub struct Worker {
    jobs: Jobs,
    config: WorkerConfig,
    meter: Arc<dyn JobMeter>,
}

impl Worker {
    pub fn new(jobs: Jobs, config: WorkerConfig) -> Self {
        Self { jobs, config, meter: Arc::new(NoMeter) }
    }

    #[must_use]
    pub fn meter(mut self, meter: Arc<dyn JobMeter>) -> Self {
        self.meter = meter;
        self
    }

    /// Runs jobs of these kinds, so many at a time, until the shutdown; then gives the running ones
    /// `shutdown_grace`, hands back what is left, and returns. Dropped instead, its jobs are taken
    /// over when their leases end.
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

/// Evenly from 0 to 1.
fn random_unit() -> f64 {
    let mut bytes = [0_u8; 4];
    // Without randomness the middle will do: it only spreads waits.
    if getrandom::fill(&mut bytes).is_err() {
        return 0.5;
    }
    f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX)
}
