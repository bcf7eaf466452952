//! The loop of a worker: end finished jobs, take due ones, wait for a change.

use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use fault::{Fault, Kind};
use store::Tx;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::active::ActiveJobs;
use super::supervise::{Finished, supervise};
use super::turns::{ClaimRequest, OwnerTurns, RunningByOwner};
use super::{JobHandler, Worker, WorkerConfig};
use crate::context::{JobContext, RunningJob};
use crate::job::{Job, JobState};
use crate::outcome::{RetryPolicy, RunVerdict};
use crate::sql::{self, millis};

/// Jobs taken from lost workers in one transaction.
const REAP_MAX: i64 = 100;
/// Lower bound of the poll interval.
const POLL_INTERVAL_MIN: Duration = Duration::from_millis(5);
const SWEEP_EVERY: Duration = Duration::from_secs(600);
/// The wait after a database error.
const ERROR_PAUSE: Duration = Duration::from_secs(1);
/// How long a shutdown tries to write how the last jobs ended.
const SHUTDOWN_FLUSH: Duration = Duration::from_secs(5);

pub(super) struct WorkerLoop<'a> {
    worker: &'a Worker,
    config: Arc<WorkerConfig>,
    /// Unique among all workers of all processes.
    name: String,
    kinds: Vec<String>,
    concurrency: usize,
    handler: Arc<dyn JobHandler>,
    shutdown: CancellationToken,
    active: ActiveJobs,
    running: JoinSet<Finished>,
    /// Runs that have ended and are not written yet.
    ended: Vec<Finished>,
    /// The kind that is taken first; it rotates, so that no kind starves the others.
    first_kind: usize,
    turns: OwnerTurns,
    next_poll: Instant,
    next_sweep: Instant,
    /// When the shutdown ends at the latest.
    end: Option<Instant>,
}

impl<'a> WorkerLoop<'a> {
    pub(super) fn new(
        worker: &'a Worker,
        kinds: Vec<String>,
        concurrency: usize,
        handler: Arc<dyn JobHandler>,
        shutdown: CancellationToken,
    ) -> Self {
        let (jobs, now) = (&worker.jobs, Instant::now());
        let name = jobs.0.ids.next(jobs.now());
        Self {
            worker,
            config: Arc::new(worker.config.clone()),
            name: format!("{}-{name}", std::process::id()),
            kinds,
            concurrency,
            handler,
            shutdown,
            active: ActiveJobs::new(jobs.clone()),
            running: JoinSet::new(),
            ended: Vec::new(),
            first_kind: 0,
            turns: OwnerTurns::new(concurrency),
            next_poll: now,
            next_sweep: now + SWEEP_EVERY.mul_f64(fastrand::f64()),
            end: None,
        }
    }

    pub(super) fn active(&self) -> ActiveJobs {
        self.active.clone()
    }

    pub(super) async fn run(&mut self) {
        let mut ready = self.worker.jobs.0.wakeups.watch_ready();
        let mut wants_more = true;
        loop {
            // Marked as seen before the claim, so that a job pushed during it wakes the loop again.
            ready.borrow_and_update();
            // Checked before every claim: a job that was handed back at shutdown must not be taken
            // again.
            if self.end.is_none() && self.shutdown.is_cancelled() {
                self.end = Some(Instant::now() + self.config.shutdown_grace + SHUTDOWN_FLUSH);
            }
            let mut pause = Duration::ZERO;
            match self.poll_once(wants_more).await {
                Ok(()) => wants_more = false,
                Err(fault) => {
                    self.log_queue_error(&fault);
                    pause = ERROR_PAUSE;
                }
            }
            if self.is_stopped() {
                return;
            }
            let has_room = self.running.len() < self.concurrency && self.end.is_none();
            tokio::select! {
                Some(joined) = self.running.join_next() => {
                    self.collect(joined);
                    wants_more = true;
                }
                Ok(()) = ready.changed(), if has_room => wants_more = true,
                () = self.shutdown.cancelled(), if self.end.is_none() => {}
                () = tokio::time::sleep_until(self.next_poll) => {}
            }
            while let Some(joined) = self.running.try_join_next() {
                self.collect(joined);
                wants_more = true;
            }
            // A sleep of zero would still wait for the timer's next tick.
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
    }

    fn is_stopped(&self) -> bool {
        let nothing_left = self.running.is_empty() && self.ended.is_empty();
        self.end.is_some_and(|end| nothing_left || Instant::now() >= end)
    }

    /// A run that was aborted leaves its job to the lease.
    fn collect(&mut self, joined: Result<Finished, JoinError>) {
        match joined {
            Ok(finished) => self.ended.push(finished),
            Err(error) => tracing::error!(%error, "a job's run was lost"),
        }
    }

    fn log_queue_error(&mut self, fault: &Fault) {
        let cause = std::error::Error::source(fault).map(ToString::to_string).unwrap_or_default();
        tracing::warn!(%fault, code = fault.code(), cause, "a worker cannot use its queue");
        // An ending that the database refuses must not block the others; the leases of these jobs
        // expire and the attempts count.
        if fault.kind() == Kind::Internal {
            self.ended.clear();
        }
    }

    async fn poll_once(&mut self, wants_more: bool) -> Result<(), Fault> {
        let mut is_ready = wants_more;
        if Instant::now() >= self.next_poll && self.end.is_none() {
            let rest = self.config.poll_interval.mul_f64(1.0 - fastrand::f64() / 2.0);
            self.next_poll = Instant::now() + rest.max(POLL_INTERVAL_MIN);
            is_ready |= self.poll().await?;
        } else if self.end.is_some() {
            self.next_poll = Instant::now() + POLL_INTERVAL_MIN.max(self.config.poll_interval);
        }
        let free = self.concurrency.saturating_sub(self.running.len());
        let room = if is_ready && self.end.is_none() { free } else { 0 };
        if self.ended.is_empty() && room == 0 {
            return Ok(());
        }
        let mut tx = self.worker.jobs.0.db.begin().await?;
        let mut states = Vec::with_capacity(self.ended.len());
        for finished in &self.ended {
            states.push(self.write_end(&mut tx, finished).await?);
        }
        let claimed = self.claim(&mut tx, room).await?;
        tx.commit().await?;
        for (finished, state) in self.ended.drain(..).zip(states) {
            let job = &finished.held.running_job.job;
            self.worker.meter.ended(&job.kind, state, finished.ran);
            self.worker.jobs.0.wakeups.changed(&job.id);
        }
        for (job, fence) in claimed {
            self.start(job, fence);
        }
        Ok(())
    }

    /// Whether a job is due; also takes jobs from lost workers and deletes old finished ones.
    async fn poll(&mut self) -> Result<bool, Fault> {
        let jobs = &self.worker.jobs;
        let now = jobs.now();
        if let Some(keep) = self.config.finished_retention
            && Instant::now() >= self.next_sweep
        {
            self.next_sweep = Instant::now() + SWEEP_EVERY;
            for kind in &self.kinds {
                jobs.delete_finished_before(kind, Millis(now.0.saturating_sub(millis(keep))))
                    .await?;
            }
        }
        let (is_ready, is_lost) = sql::check_ready(&jobs.0.db, &self.kinds, now).await?;
        if !is_lost {
            return Ok(is_ready);
        }
        let mut tx = jobs.0.db.begin().await?;
        let reaped = sql::reap(&jobs.0.db, &mut tx, REAP_MAX, now).await?;
        tx.commit().await?;
        for job in &reaped {
            let (id, kind, state) = (&job.id, &job.kind, job.state.as_str());
            tracing::warn!(%id, %kind, state, "a job's worker was lost");
            jobs.0.wakeups.changed(&job.id);
        }
        if !reaped.is_empty() {
            jobs.0.wakeups.ready();
        }
        Ok(is_ready || !reaped.is_empty())
    }

    async fn write_end(&self, tx: &mut Tx, finished: &Finished) -> Result<Option<JobState>, Fault> {
        let running_job = &finished.held.running_job;
        let now = self.worker.jobs.now();
        let judge = RetryPolicy { backoff: self.config.backoff, now, random_unit: fastrand::f64() };
        let ending = match judge.verdict(&running_job.job, &finished.ended) {
            RunVerdict::End(ending) => ending,
            RunVerdict::Nothing => return Ok(None),
            RunVerdict::WasCommitted => match sql::held_state(tx, running_job.hold()).await? {
                Some(JobState::Running) => judge.uncommitted(&running_job.job),
                other => return Ok(other),
            },
        };
        sql::end(tx, running_job.hold(), &ending, &running_job.progress().value, now).await
    }

    async fn claim(&mut self, tx: &mut Tx, room: usize) -> Result<Vec<(Job, i64)>, Fault> {
        let mut claimed = Vec::new();
        if room == 0 {
            return Ok(claimed);
        }
        let mut running = self.running_by_owner();
        let jobs = &self.worker.jobs;
        let now = jobs.now();
        let until = Millis(now.0.saturating_add(millis(self.config.lease)));
        self.first_kind = (self.first_kind + 1) % self.kinds.len();
        let (before, from) = self.kinds.split_at(self.first_kind);
        for kind in from.iter().chain(before) {
            let request = ClaimRequest {
                db: &jobs.0.db,
                kind,
                room: room - claimed.len(),
                worker: &self.name,
                times: (now, until),
            };
            claimed.extend(self.turns.claim(tx, &request, &mut running).await?);
        }
        Ok(claimed)
    }

    /// The jobs that this worker holds and that have not ended.
    fn running_by_owner(&self) -> RunningByOwner {
        let ended: Vec<_> = self.ended.iter().map(|it| it.held.running_job.hold_key()).collect();
        let mut running = RunningByOwner::new();
        for held in self.active.jobs_held() {
            if let Some(owner) = &held.job.owner
                && !ended.contains(&held.hold_key())
            {
                *running.entry(owner.clone()).or_default() += 1;
            }
        }
        running
    }

    fn start(&mut self, job: Job, fence: i64) {
        let jobs = &self.worker.jobs;
        let waited = jobs.now().0.saturating_sub(job.run_at.0).max(0).unsigned_abs();
        self.worker.meter.started(&job.kind, Duration::from_millis(waited));
        jobs.0.wakeups.changed(&job.id);
        let held = self.active.join(RunningJob::new(job, fence));
        let context = JobContext {
            db: jobs.0.db.clone(),
            clock: Arc::clone(&jobs.0.clock),
            running_job: Arc::clone(&held.running_job),
            stopping: self.shutdown.child_token(),
        };
        let (handler, config) = (Arc::clone(&self.handler), Arc::clone(&self.config));
        self.running.spawn(supervise(handler, context, held, config, self.shutdown.clone()));
    }
}
