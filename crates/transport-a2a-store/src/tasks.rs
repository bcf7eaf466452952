//! The task store over SQL.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use fault::Fault;
use jobs::{Jobs, NewJob};
use store::{Db, Sql, SqlRow, SqlValue, Tx, sql, sql_built};
use tokio_util::sync::CancellationToken;
use transport_a2a::{
    NextNotification, PushConfig, PushNotification, RUN_ATTEMPTS_MAX, RunRequest, TaskFilter,
    TaskPage, TaskRecord, TaskRunner, TaskStore,
};

use crate::notifications;
use crate::runs::{self, RunPayload};

const COLUMNS: &str = "t.owner, t.agent, t.created_ms, t.updated_ms, t.version, t.task, r.job";

const FROM: &str = "FROM a2a_task t LEFT JOIN a2a_run r ON r.agent = t.agent AND r.owner = t.owner \
     AND r.task = t.id";

const RUNNING: &str = "t.state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')";

/// Running tasks whose jobs one search for lost tasks reads.
const RUNNING_MAX: usize = 1_000;

/// Tasks in the database, their runs in the job queue.
#[derive(Clone)]
pub struct SqlTaskStore {
    pub(crate) db: Db,
    pub(crate) jobs: Jobs,
}

/// A record and the job of its run.
struct Stored {
    record: TaskRecord,
    job: Option<String>,
}

/// The columns of [`COLUMNS`], in their order.
fn read(row: &SqlRow) -> Result<Stored, Fault> {
    let record = TaskRecord {
        owner: row.text(0)?,
        agent: row.text(1)?,
        created_ms: row.int(2)?,
        updated_ms: row.int(3)?,
        version: row.int(4)?,
        lost: false,
        task: serde_json::from_str(row.text_ref(5)?).map_err(Fault::internal)?,
    };
    Ok(Stored { record, job: row.text_or_null(6)? })
}

/// The conditions of a filter with their values.
struct Where {
    text: String,
    values: Vec<SqlValue>,
}

impl Where {
    fn of(agent: &str, owner: &str, filter: &TaskFilter) -> Self {
        let mut it = Self { text: "t.agent = $1 AND t.owner = $2".to_owned(), values: Vec::new() };
        it.values.extend([agent.into(), owner.into()]);
        if let Some(context) = &filter.context_id {
            it.and("t.context_id =", context.into());
        }
        if let Some(state) = filter.state {
            it.and("t.state =", state.as_str().into());
        }
        if let Some(since_ms) = filter.since_ms {
            it.and("t.updated_ms >=", since_ms.into());
        }
        it
    }

    fn and(&mut self, condition: &'static str, value: SqlValue) {
        self.values.push(value);
        self.text.push_str(&format!(" AND {condition} ${}", self.values.len()));
    }

    /// Adds the condition that a task comes after the last one of the previous page.
    fn after(&mut self, filter: &TaskFilter) {
        let Some(cursor) = &filter.after else { return };
        let at = self.values.len();
        self.values.extend([cursor.updated_ms.into(), SqlValue::from(&cursor.id)]);
        let (time, id) = (at + 1, at + 2);
        let behind =
            format!(" AND (t.updated_ms < ${time} OR (t.updated_ms = ${time} AND t.id < ${id}))");
        self.text.push_str(&behind);
    }

    fn statement(&self, before: &str, after: &str) -> Sql {
        let text = format!("{before} WHERE {} {after}", self.text);
        sql_built(text).bind_all(self.values.iter().cloned())
    }
}

impl SqlTaskStore {
    /// The database must have been given [`crate::MIGRATIONS`] and those of `jobs`.
    pub fn new(db: Db, jobs: Jobs) -> Self {
        Self { db, jobs }
    }

    /// Marks the records that say they run but have no unfinished job.
    async fn mark_lost(&self, stored: Vec<Stored>) -> Result<Vec<TaskRecord>, Fault> {
        let running = stored.iter().filter(|it| it.record.state().is_running());
        let ids: Vec<String> = running.filter_map(|it| it.job.clone()).collect();
        let live: BTreeSet<String> = self.jobs.unfinished(&ids).await?;
        let mark = |Stored { record, job }| {
            TaskRecord::with_run(record, job.is_some_and(|job| live.contains(&job)))
        };
        Ok(stored.into_iter().map(mark).collect())
    }

    /// Deletes tasks of an owner or of all, with their webhooks, notifications and runs.
    async fn delete(&self, tasks: Sql, agent: &str, owner: Option<&str>) -> Result<(), Fault> {
        let mut tx = self.db.begin().await?;
        if tx.execute(tasks).await? > 0 {
            let narrowed = if owner.is_some() { "AND owner = $2" } else { "" };
            for table in ["a2a_webhook", "a2a_notice", "a2a_run"] {
                let orphans = orphans(table, narrowed).bind(agent).bind_all(owner);
                tx.execute(orphans).await?;
            }
        }
        tx.commit().await
    }
}

/// Writes a record, as a new one or in place of the version `replaces`. False where the stored
/// version is another.
pub(crate) async fn write(
    tx: &mut Tx,
    record: &TaskRecord,
    replaces: Option<i64>,
) -> Result<bool, Fault> {
    let json = serde_json::to_string(&record.task).map_err(Fault::internal)?;
    let statement = match replaces {
        None => sql("INSERT INTO a2a_task (agent, owner, id, context_id, state, created_ms, \
             updated_ms, version, task) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
             ON CONFLICT DO NOTHING"),
        Some(_) => sql("UPDATE a2a_task SET context_id = $4, state = $5, created_ms = $6, \
             updated_ms = $7, version = $8, task = $9 \
             WHERE agent = $1 AND owner = $2 AND id = $3 AND version = $10"),
    };
    let statement = statement
        .bind(&record.agent)
        .bind(&record.owner)
        .bind(&record.task.id)
        .bind(&record.task.context_id)
        .bind(record.state().as_str())
        .bind(record.created_ms)
        .bind(record.updated_ms)
        .bind(record.version)
        .bind(json)
        .bind_all(replaces);
    Ok(tx.execute(statement).await? == 1)
}

#[async_trait]
impl TaskStore for SqlTaskStore {
    async fn submit(
        &self,
        record: &TaskRecord,
        replaces: Option<i64>,
        run: &RunRequest,
    ) -> Result<bool, Fault> {
        let attempts = if run.resume.is_some() { RUN_ATTEMPTS_MAX } else { 1 };
        let payload = RunPayload::of(record);
        let job = NewJob::new(runs::kind(&record.agent), &payload)?.max_attempts(attempts);
        let mut tx = self.db.begin().await?;
        let job = self.jobs.push_in(&mut tx, &job).await?.job;
        if !write(&mut tx, record, replaces).await? {
            return Ok(false);
        }
        runs::insert(&mut tx, record, &job.id, run.resume.as_ref()).await?;
        if let Some(push) = &run.push {
            tx.execute(upsert_webhook(&record.agent, &record.owner, push)?).await?;
        }
        tx.commit().await?;
        self.jobs.notify_workers();
        Ok(true)
    }

    async fn run_tasks(
        &self,
        agents: &[String],
        runner: Arc<dyn TaskRunner>,
        concurrency: usize,
        stop: CancellationToken,
    ) {
        runs::run(self, agents, runner, concurrency, stop).await;
    }

    async fn put(
        &self,
        record: &TaskRecord,
        replaces: i64,
        events: &[String],
    ) -> Result<bool, Fault> {
        let mut tx = self.db.begin().await?;
        // The job before the task, as a run does it: two orders could wait for each other.
        let job = match runs::job(&mut tx, record).await? {
            Some(job) => self.jobs.cancel_in(&mut tx, &job).await?,
            None => None,
        };
        if !write(&mut tx, record, Some(replaces)).await? {
            return Ok(false);
        }
        runs::delete(&mut tx, record).await?;
        notifications::insert(&mut tx, record, events).await?;
        tx.commit().await?;
        if let Some(job) = job {
            self.jobs.notify_cancelled(&job);
        }
        Ok(true)
    }

    async fn get(&self, agent: &str, owner: &str, id: &str) -> Result<Option<TaskRecord>, Fault> {
        let select = sql_built(format!(
            "SELECT {COLUMNS} {FROM} WHERE t.agent = $1 AND t.owner = $2 AND t.id = $3"
        ));
        let row = self.db.fetch_optional(select.bind(agent).bind(owner).bind(id)).await?;
        let stored = row.as_ref().map(read).transpose()?;
        Ok(self.mark_lost(stored.into_iter().collect()).await?.pop())
    }

    async fn list(&self, agent: &str, owner: &str, filter: &TaskFilter) -> Result<TaskPage, Fault> {
        let mut wanted = Where::of(agent, owner, filter);
        let mut tx = self.db.snapshot().await?;
        let count = wanted.statement("SELECT COUNT(*) FROM a2a_task t", "");
        let total = tx.fetch_optional(count).await?.map_or(Ok(0), |row| row.count(0))?;
        wanted.after(filter);
        let page = format!("ORDER BY t.updated_ms DESC, t.id DESC LIMIT {}", filter.limit);
        let page = wanted.statement(&format!("SELECT {COLUMNS} {FROM}"), &page);
        let rows = tx.fetch_all(page).await?;
        drop(tx);
        let stored = rows.iter().map(read).collect::<Result<_, _>>()?;
        Ok(TaskPage { tasks: self.mark_lost(stored).await?, total })
    }

    async fn lost(
        &self,
        agent: &str,
        owner: Option<&str>,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, Fault> {
        let of_owner = if owner.is_some() { "AND t.owner = $2" } else { "" };
        let select = sql_built(format!(
            "SELECT {COLUMNS} {FROM} WHERE t.agent = $1 AND {RUNNING} {of_owner} \
             ORDER BY t.updated_ms LIMIT {RUNNING_MAX}"
        ));
        let rows = self.db.fetch_all(select.bind(agent).bind_all(owner)).await?;
        let stored = rows.iter().map(read).collect::<Result<_, _>>()?;
        let records = self.mark_lost(stored).await?.into_iter();
        Ok(records.filter(|record| record.lost).take(limit).collect())
    }

    async fn delete_oldest(&self, agent: &str, owner: &str, keep: usize) -> Result<(), Fault> {
        let last = sql_built(format!(
            "SELECT updated_ms, id FROM a2a_task WHERE agent = $1 AND owner = $2 \
             ORDER BY updated_ms DESC, id DESC LIMIT 1 OFFSET {}",
            keep.saturating_sub(1)
        ));
        let last = self.db.fetch_optional(last.bind(agent).bind(owner)).await?;
        let Some(last) = last else { return Ok(()) };
        let delete = sql_built(format!(
            "DELETE FROM a2a_task AS t WHERE t.agent = $1 AND t.owner = $2 AND NOT {RUNNING} \
             AND (t.updated_ms < $3 OR (t.updated_ms = $3 AND t.id < $4))"
        ));
        let delete = delete.bind(agent).bind(owner).bind(last.int(0)?).bind(last.text(1)?);
        self.delete(delete, agent, Some(owner)).await
    }

    async fn delete_older(&self, agent: &str, updated_ms: i64) -> Result<(), Fault> {
        let delete = sql_built(format!(
            "DELETE FROM a2a_task AS t WHERE t.agent = $1 AND NOT {RUNNING} AND t.updated_ms < $2"
        ));
        self.delete(delete.bind(agent).bind(updated_ms), agent, None).await
    }

    async fn put_push_config(
        &self,
        agent: &str,
        owner: &str,
        push: &PushConfig,
    ) -> Result<(), Fault> {
        self.db.execute(upsert_webhook(agent, owner, push)?).await.map(drop)
    }

    async fn push_configs(
        &self,
        agent: &str,
        owner: &str,
        task: &str,
    ) -> Result<Vec<PushConfig>, Fault> {
        let found =
            sql("SELECT config FROM a2a_webhook WHERE agent = $1 AND owner = $2 AND task = $3 \
             ORDER BY id");
        let rows = self.db.fetch_all(found.bind(agent).bind(owner).bind(task)).await?;
        let config = |row: &SqlRow| serde_json::from_str(row.text_ref(0)?).map_err(Fault::internal);
        rows.iter().map(config).collect()
    }

    async fn delete_push_config(
        &self,
        agent: &str,
        owner: &str,
        task: &str,
        id: &str,
    ) -> Result<(), Fault> {
        let gone = [
            sql(
                "DELETE FROM a2a_webhook WHERE agent = $1 AND owner = $2 AND task = $3 AND id = $4",
            ),
            notifications::of_webhook(),
        ];
        let mut tx = self.db.begin().await?;
        for statement in gone {
            tx.execute(statement.bind(agent).bind(owner).bind(task).bind(id)).await?;
        }
        tx.commit().await
    }

    async fn next_notification(
        &self,
        now_ms: i64,
        lease_ms: i64,
        busy: &[String],
    ) -> Result<NextNotification, Fault> {
        notifications::next(&self.db, now_ms, lease_ms, busy).await
    }

    async fn notification_delivered(&self, notification: &PushNotification) -> Result<(), Fault> {
        notifications::done(&self.db, notification).await
    }

    async fn notification_failed(
        &self,
        notification: &PushNotification,
        due_ms: i64,
    ) -> Result<(), Fault> {
        notifications::failed(&self.db, notification, due_ms).await
    }

    async fn drop_notifications(&self, notification: &PushNotification) -> Result<u64, Fault> {
        let PushNotification { agent, owner, push, .. } = notification;
        let gone =
            notifications::of_webhook().bind(agent).bind(owner).bind(&push.task_id).bind(&push.id);
        self.db.execute(gone).await
    }
}

/// Deletes the rows of a table whose tasks no longer exist.
fn orphans(table: &'static str, narrowed: &'static str) -> Sql {
    sql_built(format!(
        "DELETE FROM {table} WHERE agent = $1 {narrowed} AND NOT EXISTS (SELECT 1 FROM a2a_task \
         WHERE a2a_task.agent = {table}.agent AND a2a_task.owner = {table}.owner \
         AND a2a_task.id = {table}.task)"
    ))
}

fn upsert_webhook(agent: &str, owner: &str, push: &PushConfig) -> Result<Sql, Fault> {
    let upsert = sql(
        "INSERT INTO a2a_webhook (agent, owner, task, id, config) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (agent, owner, task, id) DO UPDATE SET config = excluded.config",
    );
    let json = serde_json::to_string(push).map_err(Fault::internal)?;
    Ok(upsert.bind(agent).bind(owner).bind(&push.task_id).bind(&push.id).bind(json))
}
