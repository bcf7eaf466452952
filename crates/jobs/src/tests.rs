//! Tests of the queue on both engines, with a clock that the test sets.

use std::sync::Arc;
use std::time::Duration;

use clock::{Clock as _, Millis};
use serde_json::json;
use store::Db;
use testkit::FakeClock;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::sql::{self, JobEnding, JobHold};
use crate::worker::turns::{ClaimRequest, OwnerTurns, RunningByOwner};
use crate::{
    Backoff, Job, JobHandler, JobState, Jobs, MIGRATIONS, NewJob, QueueLimits, Worker, WorkerConfig,
};

mod fencing;
mod machine;
mod pushing;
mod running;
mod stopping;
mod turns;

/// Longer than any step takes: a test that waits this long has failed.
const TIMEOUT: Duration = Duration::from_secs(60);
const LEASE: Duration = Duration::from_secs(10);

struct Fixture {
    db: Db,
    clock: Arc<FakeClock>,
    jobs: Jobs,
}

impl Fixture {
    async fn new(db: &Db) -> Self {
        Self::limited(db, QueueLimits::default()).await
    }

    async fn limited(db: &Db, limits: QueueLimits) -> Self {
        db.migrate(&[MIGRATIONS]).await.unwrap();
        let clock = Arc::new(FakeClock::new(Millis(1_800_000_000_000)));
        let jobs = Jobs::new(db.clone(), clock.clone(), limits);
        Self { db: db.clone(), clock, jobs }
    }

    /// The same queue as another process sees it.
    fn elsewhere(&self) -> Jobs {
        Jobs::new(self.db.clone(), self.clock.clone(), QueueLimits::default())
    }

    async fn push(&self, kind: &str) -> Job {
        self.jobs.push(job(kind)).await.unwrap().job
    }

    async fn claim(&self, kind: &str, limit: usize) -> Vec<(Job, i64)> {
        let mut tx = self.db.begin().await.unwrap();
        let now = self.clock.now();
        let times = (now, Millis(now.0 + sql::millis(LEASE)));
        let request = ClaimRequest { db: &self.db, kind, room: limit, worker: "test", times };
        let running = &mut RunningByOwner::new();
        let claimed = OwnerTurns::new(1_000).claim(&mut tx, &request, running).await.unwrap();
        tx.commit().await.unwrap();
        claimed
    }

    async fn end(&self, hold: JobHold<'_>, ending: &JobEnding) -> Option<JobState> {
        let mut tx = self.db.begin().await.unwrap();
        let progress = crate::JobProgress::default();
        let now = self.clock.now();
        let state = sql::end(&mut tx, hold, ending, &progress, now).await.unwrap();
        tx.commit().await.unwrap();
        state
    }

    async fn reap(&self) -> Vec<sql::ReapedJob> {
        let mut tx = self.db.begin().await.unwrap();
        let reaped = sql::reap(&self.db, &mut tx, 100, self.clock.now()).await.unwrap();
        tx.commit().await.unwrap();
        reaped
    }

    fn start_worker(
        &self,
        config: WorkerConfig,
        handler: impl JobHandler + 'static,
    ) -> RunningWorker {
        RunningWorker::new(self.jobs.clone(), config, 4, Arc::new(handler))
    }
}

fn job(kind: &str) -> NewJob {
    NewJob::new(kind, &json!({"of": kind})).unwrap()
}

/// Short intervals of polling and retrying, so that tests do not wait.
fn config() -> WorkerConfig {
    WorkerConfig {
        lease: LEASE,
        progress_interval: Duration::from_millis(10),
        poll_interval: Duration::from_millis(20),
        backoff: Backoff { first: Duration::ZERO, most: Duration::ZERO },
        ..WorkerConfig::default()
    }
}

/// A worker in a task of its own.
struct RunningWorker {
    shutdown: CancellationToken,
    task: JoinSet<()>,
}

impl RunningWorker {
    fn new(
        jobs: Jobs,
        config: WorkerConfig,
        concurrency: usize,
        handler: Arc<dyn JobHandler>,
    ) -> Self {
        let shutdown = CancellationToken::new();
        let (mut task, stop) = (JoinSet::new(), shutdown.clone());
        task.spawn(async move {
            let worker = Worker::new(jobs, config);
            worker.run(&["one", "two"], concurrency, handler, stop).await;
        });
        Self { shutdown, task }
    }

    /// Returns once the worker has returned.
    async fn dismiss(mut self) {
        self.shutdown.cancel();
        self.task.join_next().await.unwrap().unwrap();
    }

    /// Aborts the worker, as if its process had been killed.
    async fn vanish(mut self) {
        self.task.shutdown().await;
    }
}
