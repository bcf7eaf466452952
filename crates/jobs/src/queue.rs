//! The queue as services use it: push, read, cancel, retry, delete.

use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, IdGenerator, Millis};
use fault::{Fault, Kind};
use store::{Db, Tx};

use crate::context::StopReason;
use crate::job::{Job, JobCount, JobFilter, JobPage, JobPageRequest, JobState};
use crate::new::{NewJob, Pushed};
use crate::sql;
use crate::wakeups::Wakeups;

/// Jobs in one [`Jobs::push_many`], which holds SQLite's only writer.
const PUSH_MAX: usize = 1000;
/// Jobs in one statement, and deleting statements in one call.
const BATCH_MAX: u32 = 500;
const DELETE_BATCHES_MAX: usize = 20;
/// Kinds whose free room is remembered.
const KINDS_MAX: usize = 256;
/// Values in one list of a filter.
const FILTER_VALUES_MAX: usize = 32;
/// When a client may try a full queue again.
const FULL_RETRY_AFTER: Duration = Duration::from_secs(5);

/// Limits of the queue.
#[derive(Debug, Clone, Copy)]
pub struct QueueLimits {
    /// Jobs of one kind that may wait. Processes that push at the same time may exceed it a little,
    /// because a process does not count at every push.
    pub queued_max: u64,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { queued_max: 10_000 }
    }
}

/// A handle to the queue; cloning it is cheap. Only clones of one handle wake each other's workers
/// and waiters, so a process makes one and clones it.
#[derive(Clone)]
pub struct Jobs(pub(crate) Arc<QueueState>);

pub(crate) struct QueueState {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) wakeups: Wakeups,
    pub(crate) ids: IdGenerator,
    limits: QueueLimits,
    /// How many more jobs of a kind may be pushed before its queue is counted again.
    room: Mutex<HashMap<String, u64>>,
}

impl Jobs {
    /// The database must have been given [`crate::MIGRATIONS`].
    pub fn new(db: Db, clock: Arc<dyn Clock>, limits: QueueLimits) -> Self {
        let (wakeups, ids) = (Wakeups::default(), IdGenerator::default());
        Self(Arc::new(QueueState { db, clock, wakeups, ids, limits, room: Mutex::default() }))
    }

    /// Pushes a job; once this returns, the job survives a crash. An unfinished job of the same
    /// kind and key is returned instead; a full queue refuses with `overloaded`.
    pub async fn push(&self, job: NewJob) -> Result<Pushed, Fault> {
        let mut tx = self.0.db.begin().await?;
        let pushed = self.push_in(&mut tx, &job).await?;
        tx.commit().await?;
        self.notify_workers();
        Ok(pushed)
    }

    /// Pushes all jobs or none, at most 1,000; the results are in the order of the jobs.
    pub async fn push_many(&self, jobs: Vec<NewJob>) -> Result<Vec<Pushed>, Fault> {
        if jobs.len() > PUSH_MAX {
            let message = format!("{} jobs at once are more than {PUSH_MAX}", jobs.len());
            return Err(Fault::invalid("too_many_jobs", message));
        }
        // Processes that lock keys in the same order cannot deadlock.
        let mut order: Vec<(usize, &NewJob)> = jobs.iter().enumerate().collect();
        order.sort_by_key(|(at, job)| (&job.kind, &job.key, *at));
        let mut tx = self.0.db.begin().await?;
        let mut pushed = Vec::with_capacity(jobs.len());
        for (at, job) in order {
            pushed.push((at, self.push_in(&mut tx, job).await?));
        }
        tx.commit().await?;
        self.notify_workers();
        pushed.sort_by_key(|(at, _)| *at);
        Ok(pushed.into_iter().map(|(_, pushed)| pushed).collect())
    }

    /// Pushes in the caller's transaction. Call [`Jobs::notify_workers`] after the commit, or the
    /// job waits until a worker polls.
    pub async fn push_in(&self, tx: &mut Tx, job: &NewJob) -> Result<Pushed, Fault> {
        job.check()?;
        let now = self.0.clock.now();
        // The unfinished job may finish between the two statements; then a new one is made.
        for _ in 0..3 {
            if let Some(key) = &job.key
                && let Some(job) = sql::unfinished_with_key(tx, &job.kind, key).await?
            {
                return Ok(Pushed { job, is_new: false });
            }
            self.take_room(tx, &job.kind).await?;
            let id = self.0.ids.next(now);
            if let Some(job) = sql::insert(tx, job, &id, now).await? {
                return Ok(Pushed { job, is_new: true });
            }
        }
        Err(Fault::new(Kind::Conflict, "job_exists", "jobs with this key come and go; try again"))
    }

    /// Wakes the workers of this process.
    pub fn notify_workers(&self) {
        self.0.wakeups.ready();
    }

    /// Counting the queue at every push is slow when the queue is long, so one count allows pushes
    /// for an eighth of the free room.
    async fn take_room(&self, tx: &mut Tx, kind: &str) -> Result<(), Fault> {
        let room = || self.0.room.lock();
        if let Some(left) = room().get_mut(kind)
            && *left > 0
        {
            *left -= 1;
            return Ok(());
        }
        let queued_max = self.0.limits.queued_max;
        let free = queued_max.saturating_sub(sql::queued(tx, kind).await?);
        if free == 0 {
            let message = format!("{queued_max} jobs of the kind {kind} are waiting already");
            return Err(Fault::unavailable("overloaded", message).retry_after(FULL_RETRY_AFTER));
        }
        let mut room = room();
        if room.len() >= KINDS_MAX {
            room.clear();
        }
        room.insert(kind.to_owned(), (free - 1) / 8);
        Ok(())
    }

    /// The job with this id; `job_not_found` where there is none.
    pub async fn get(&self, id: &str) -> Result<Job, Fault> {
        if !is_id(id) {
            return Err(unknown(id));
        }
        let row = self.0.db.fetch_optional(sql::by_id(id)).await?;
        row.as_ref().map_or_else(|| Err(unknown(id)), sql::job)
    }

    /// One page of jobs, newest first.
    pub async fn list(&self, filter: &JobFilter, page: &JobPageRequest) -> Result<JobPage, Fault> {
        if filter.kinds.len().max(filter.states.len()) > FILTER_VALUES_MAX {
            return Err(Fault::invalid("too_many_kinds", "a filter names too many kinds of job"));
        }
        let limit = page.limit.clamp(1, JobPageRequest::LIMIT_MAX);
        let rows = self.0.db.fetch_all(sql::list(filter, page, limit + 1)).await?;
        let mut jobs = rows.iter().map(sql::job).collect::<Result<Vec<Job>, Fault>>()?;
        let is_more = jobs.len() > limit;
        jobs.truncate(limit);
        let next = jobs.last().filter(|_| is_more).map(|job| job.id.clone());
        Ok(JobPage { jobs, next })
    }

    /// The number of jobs by kind and state.
    pub async fn counts(&self) -> Result<Vec<JobCount>, Fault> {
        sql::counts(&self.0.db).await
    }

    /// Cancels a queued job at once. A running job becomes cancelled when its handler stops, unless
    /// it completes first. Cancelling a cancelled job succeeds; a completed or failed job is a
    /// conflict, `job_finished`.
    pub async fn cancel(&self, id: &str) -> Result<Job, Fault> {
        let mut tx = self.0.db.begin().await?;
        let cancelled = self.cancel_in(&mut tx, id).await?;
        tx.commit().await?;
        let Some(job) = cancelled else {
            let job = self.get(id).await?;
            return if job.state == JobState::Cancelled { Ok(job) } else { Err(finished(&job)) };
        };
        self.notify_cancelled(&job);
        Ok(job)
    }

    /// Cancels in the caller's transaction; `None` where the job is finished or does not exist.
    /// Call [`Jobs::notify_cancelled`] after the commit, or a running job stops only at its next
    /// renewal.
    pub async fn cancel_in(&self, tx: &mut Tx, id: &str) -> Result<Option<Job>, Fault> {
        if is_id(id) { sql::cancel(tx, id, self.now()).await } else { Ok(None) }
    }

    /// Stops a cancelled job that runs in this process, and wakes its waiters.
    pub fn notify_cancelled(&self, job: &Job) {
        if job.state == JobState::Running {
            self.0.wakeups.stop(&job.id, StopReason::Cancelled);
        }
        self.0.wakeups.changed(&job.id);
    }

    /// Those of the jobs that are queued or running.
    pub async fn unfinished(&self, ids: &[String]) -> Result<BTreeSet<String>, Fault> {
        let mut unfinished = BTreeSet::new();
        for batch in ids.chunks(BATCH_MAX as usize) {
            let rows = self.0.db.fetch_all(sql::unfinished(batch)).await?;
            for row in rows {
                unfinished.insert(row.text(0)?);
            }
        }
        Ok(unfinished)
    }

    /// Queues a failed job again, with all its attempts.
    pub async fn retry(&self, id: &str) -> Result<Job, Fault> {
        let mut tx = self.0.db.begin().await?;
        let retried = if is_id(id) { sql::retry(&mut tx, id, self.now()).await } else { Ok(None) };
        let retried = retried.map_err(|fault| match fault.code() {
            "already_exists" => {
                let message = format!("another job with the key of job {id} is running_job");
                Fault::new(Kind::Conflict, "job_exists", message).caused_by(fault)
            }
            _ => fault,
        })?;
        tx.commit().await?;
        let Some(job) = retried else {
            let job = self.get(id).await?;
            let message =
                format!("job {id} is {}, and only a failed one is retried", state_name(&job));
            return Err(Fault::new(Kind::Conflict, "job_not_failed", message));
        };
        self.0.wakeups.ready();
        self.0.wakeups.changed(id);
        Ok(job)
    }

    /// Deletes jobs of a kind that finished before a time, at most 10,000 in one call and 500 in a
    /// transaction; returns their number.
    pub async fn delete_finished_before(&self, kind: &str, time: Millis) -> Result<u64, Fault> {
        let mut forgotten = 0;
        for _ in 0..DELETE_BATCHES_MAX {
            let batch = i64::from(BATCH_MAX);
            let gone = self.0.db.execute(sql::delete_finished(kind, time, batch)).await?;
            forgotten += gone;
            if gone < u64::from(BATCH_MAX) {
                break;
            }
        }
        Ok(forgotten)
    }

    /// Deletes jobs in the caller's transaction, also unfinished ones: a worker that holds one
    /// loses it. Returns their number.
    pub async fn delete_in(&self, tx: &mut Tx, ids: &[String]) -> Result<u64, Fault> {
        let mut forgotten = 0;
        for batch in ids.chunks(BATCH_MAX as usize) {
            forgotten += sql::delete(tx, batch).await?;
        }
        Ok(forgotten)
    }

    /// Deletes those of the jobs whose payload or result contains this id, in the caller's
    /// transaction, also unfinished ones. Returns their number.
    pub async fn delete_mentioning_in(
        &self,
        tx: &mut Tx,
        jobs: &[String],
        id: &str,
    ) -> Result<u64, Fault> {
        let mut deleted = 0;
        for batch in jobs.chunks(BATCH_MAX as usize).filter(|_| is_id(id)) {
            deleted += sql::delete_mentioning(tx, batch, id).await?;
        }
        Ok(deleted)
    }

    pub(crate) fn now(&self) -> Millis {
        self.0.clock.now()
    }
}

/// Whether the text has the form of a job id; any other text is not looked up.
fn is_id(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

fn state_name(job: &Job) -> &'static str {
    job.state.as_str()
}

fn unknown(id: &str) -> Fault {
    let shown = crate::new::clipped(id, 64);
    Fault::not_found("job_not_found", format!("there is no job {shown:?}"))
}

fn finished(job: &Job) -> Fault {
    let message = format!("job {} is {} already", job.id, state_name(job));
    Fault::new(Kind::Conflict, "job_finished", message)
}
