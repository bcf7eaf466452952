//! The runs of tasks as jobs: `jobs` leases them, fences their writes and hands them to another
//! process when the lease expires.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use fault::Fault;
use jobs::{JobContext, JobOutcome, Worker, WorkerConfig};
use serde::{Deserialize, Serialize};
use store::{Db, Sql, Tx, sql};
use tokio_util::sync::CancellationToken;
use transport_a2a::{TaskRecord, TaskRun, TaskRunner};

use crate::notifications;
use crate::tasks::{self, SqlTaskStore};

/// How long a run stays with a process that does not renew it.
const LEASE: Duration = Duration::from_secs(15);
/// The task record outlives its job, which is of no use once it has ended.
const FINISHED_RETENTION: Duration = Duration::from_secs(3600);

/// The kind of the jobs of an agent. A process takes only the jobs of agents that it serves.
pub(crate) fn kind(agent: &str) -> String {
    format!("a2a.{agent}")
}

/// Names the task of a job.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunPayload {
    agent: String,
    owner: String,
    task: String,
}

impl RunPayload {
    pub(crate) fn of(record: &TaskRecord) -> Self {
        let (agent, owner) = (record.agent.clone(), record.owner.clone());
        Self { agent, owner, task: record.task.id.clone() }
    }
}

pub(crate) async fn insert(
    tx: &mut Tx,
    record: &TaskRecord,
    job: &str,
    resume: Option<&String>,
) -> Result<(), Fault> {
    let insert = sql("INSERT INTO a2a_run (agent, owner, task, job, resume) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (agent, owner, task) \
         DO UPDATE SET job = excluded.job, resume = excluded.resume");
    tx.execute(keyed(insert, record).bind(job).bind(resume)).await.map(drop)
}

/// The job of a task's run.
pub(crate) async fn job(tx: &mut Tx, record: &TaskRecord) -> Result<Option<String>, Fault> {
    let select = sql("SELECT job FROM a2a_run WHERE agent = $1 AND owner = $2 AND task = $3");
    tx.fetch_optional(keyed(select, record)).await?.map(|row| row.text(0)).transpose()
}

pub(crate) async fn delete(tx: &mut Tx, record: &TaskRecord) -> Result<(), Fault> {
    let delete = sql("DELETE FROM a2a_run WHERE agent = $1 AND owner = $2 AND task = $3");
    tx.execute(keyed(delete, record)).await.map(drop)
}

fn keyed(statement: Sql, record: &TaskRecord) -> Sql {
    statement.bind(&record.agent).bind(&record.owner).bind(&record.task.id)
}

/// Runs the jobs of the agents until `stop`.
pub(crate) async fn run(
    store: &SqlTaskStore,
    agents: &[String],
    runner: Arc<dyn TaskRunner>,
    concurrency: usize,
    stop: CancellationToken,
) {
    let kinds: Vec<String> = agents.iter().map(|agent| kind(agent)).collect();
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    let config = WorkerConfig {
        lease: LEASE,
        finished_retention: Some(FINISHED_RETENTION),
        ..WorkerConfig::default()
    };
    let db = store.db.clone();
    let handler = move |context: JobContext| run_job(db.clone(), Arc::clone(&runner), context);
    let worker = Worker::new(store.jobs.clone(), config);
    worker.run(&kinds, concurrency, Arc::new(handler), stop).await;
}

async fn run_job(db: Db, runner: Arc<dyn TaskRunner>, context: JobContext) -> JobOutcome {
    let run = match SqlRun::open(db, context).await {
        Ok(Some(run)) => Arc::new(run),
        // The task was deleted or ended, and its run with it.
        Ok(None) => return JobOutcome::Cancelled,
        Err(fault) => return fault.into(),
    };
    runner.run(Arc::clone(&run) as _).await;
    if run.ended.load(Ordering::SeqCst) {
        return JobOutcome::Committed;
    }
    if run.context.is_cancelled() {
        return JobOutcome::Cancelled;
    }
    // The runner could not store how the task ended, so the task is lost and its next reader fails it.
    JobOutcome::Fail(Fault::internal("a run ended without storing the end of its task"))
}

/// One attempt: a job that this process holds.
struct SqlRun {
    db: Db,
    context: JobContext,
    payload: RunPayload,
    resume: Option<String>,
    /// Whether the end of the task was stored and the job completed with it.
    ended: AtomicBool,
}

impl SqlRun {
    /// `None` where the job is no longer the run of its task.
    async fn open(db: Db, context: JobContext) -> Result<Option<Self>, Fault> {
        let payload: RunPayload = context.payload()?;
        let select = sql("SELECT resume FROM a2a_run WHERE agent = $1 AND owner = $2 \
             AND task = $3 AND job = $4");
        let select = select.bind(&payload.agent).bind(&payload.owner).bind(&payload.task);
        let Some(row) = db.fetch_optional(select.bind(context.id())).await? else {
            return Ok(None);
        };
        let resume = row.text_or_null(0)?;
        Ok(Some(Self { db, context, payload, resume, ended: AtomicBool::new(false) }))
    }
}

#[async_trait]
impl TaskRun for SqlRun {
    fn agent(&self) -> &str {
        &self.payload.agent
    }

    fn owner(&self) -> &str {
        &self.payload.owner
    }

    fn task_id(&self) -> &str {
        &self.payload.task
    }

    fn resume(&self) -> Option<&str> {
        self.resume.as_deref()
    }

    async fn put(
        &self,
        record: &TaskRecord,
        replaces: i64,
        events: &[String],
    ) -> Result<bool, Fault> {
        let fence = self.context.fence();
        let mut tx = self.db.begin().await?;
        match fence.ensure_held(&mut tx).await {
            Err(fault) if fault.code() == "lease_lost" => return Ok(false),
            held => held?,
        }
        // A task that was ended elsewhere has lost its run, though the job may not have stopped yet.
        if job(&mut tx, record).await?.as_deref() != Some(self.context.id()) {
            return Ok(false);
        }
        if !tasks::write(&mut tx, record, Some(replaces)).await? {
            return Ok(false);
        }
        notifications::insert(&mut tx, record, events).await?;
        let ends = !record.state().is_running();
        if ends {
            delete(&mut tx, record).await?;
            fence.complete_in(&mut tx, &()).await?;
        }
        tx.commit().await?;
        if ends {
            self.ended.store(true, Ordering::SeqCst);
        }
        Ok(true)
    }

    async fn stopped(&self) {
        self.context.cancelled().await;
    }
}
