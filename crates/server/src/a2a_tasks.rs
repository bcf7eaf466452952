//! Tasks of agents and their webhooks, kept in the store so that they outlive the process and every
//! copy of the server sees them.

use async_trait::async_trait;
use fault::Fault;
use store::{Db, Migrations, Sql, SqlRow, SqlValue, sql, sql_built};
use transport_a2a::{
    Lease, NextNotification, PushConfig, PushNotification, TaskFilter, TaskPage, TaskRecord,
    TaskStore,
};

mod notifications;
#[cfg(test)]
mod tests;

pub(crate) const MIGRATIONS: Migrations =
    Migrations { owner: "a2a", sqlite: SCHEMA, postgres: SCHEMA };

const SCHEMA: &[&str] = &[CREATE, notifications::CREATE];

/// `lease_until` is set exactly while a task is worked at. `task` and `config` are the protocol's
/// own JSON.
const CREATE: &str = "
CREATE TABLE a2a_task (
    agent TEXT NOT NULL,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    context_id TEXT NOT NULL,
    state TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    version BIGINT NOT NULL,
    runner TEXT,
    lease_until BIGINT,
    task TEXT NOT NULL,
    PRIMARY KEY (agent, owner, id)
);
CREATE INDEX a2a_task_newest ON a2a_task (agent, owner, updated_ms, id);
CREATE INDEX a2a_task_old ON a2a_task (agent, updated_ms);
CREATE INDEX a2a_task_leased ON a2a_task (agent, lease_until) WHERE lease_until IS NOT NULL;
CREATE TABLE a2a_webhook (
    agent TEXT NOT NULL,
    owner TEXT NOT NULL,
    task TEXT NOT NULL,
    id TEXT NOT NULL,
    config TEXT NOT NULL,
    PRIMARY KEY (agent, owner, task, id)
)";

const COLUMNS: &str = "owner, agent, created_ms, updated_ms, version, runner, lease_until, task";

pub(crate) struct SqlTaskStore(pub(crate) Db);

/// The columns of [`COLUMNS`], in their order.
fn read(row: &SqlRow) -> Result<TaskRecord, Fault> {
    let lease = match (row.text_or_null(5)?, row.int_or_null(6)?) {
        (Some(runner), Some(until_ms)) => Some(Lease { runner, until_ms }),
        _ => None,
    };
    Ok(TaskRecord {
        owner: row.text(0)?,
        agent: row.text(1)?,
        created_ms: row.int(2)?,
        updated_ms: row.int(3)?,
        version: row.int(4)?,
        lease,
        task: serde_json::from_str(row.text_ref(7)?).map_err(Fault::internal)?,
    })
}

/// Conditions with their values, as a filter has them.
struct Where {
    text: String,
    values: Vec<SqlValue>,
}

impl Where {
    fn of(agent: &str, owner: &str, filter: &TaskFilter) -> Self {
        let mut it = Self { text: "agent = $1 AND owner = $2".to_owned(), values: Vec::new() };
        it.values.extend([agent.into(), owner.into()]);
        if let Some(context) = &filter.context_id {
            it.and("context_id =", context.into());
        }
        if let Some(state) = filter.state {
            it.and("state =", state.word().into());
        }
        if let Some(since_ms) = filter.since_ms {
            it.and("updated_ms >=", since_ms.into());
        }
        it
    }

    fn and(&mut self, condition: &'static str, value: SqlValue) {
        self.values.push(value);
        self.text.push_str(&format!(" AND {condition} ${}", self.values.len()));
    }

    /// Everything behind the last task of a page.
    fn after(&mut self, filter: &TaskFilter) {
        let Some(place) = &filter.after else { return };
        let at = self.values.len();
        self.values.extend([place.updated_ms.into(), SqlValue::from(&place.id)]);
        let (time, id) = (at + 1, at + 2);
        let behind =
            format!(" AND (updated_ms < ${time} OR (updated_ms = ${time} AND id < ${id}))");
        self.text.push_str(&behind);
    }

    fn statement(&self, before: &str, after: &str) -> Sql {
        let text = format!("{before} WHERE {} {after}", self.text);
        sql_built(text).bind_all(self.values.iter().cloned())
    }
}

#[async_trait]
impl TaskStore for SqlTaskStore {
    async fn put(
        &self,
        record: &TaskRecord,
        replaces: Option<i64>,
        news: &[String],
    ) -> Result<bool, Fault> {
        let json = serde_json::to_string(&record.task).map_err(Fault::internal)?;
        let statement = match replaces {
            None => sql("INSERT INTO a2a_task (agent, owner, id, context_id, state, created_ms, \
                 updated_ms, version, runner, lease_until, task) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING"),
            Some(_) => sql("UPDATE a2a_task SET context_id = $4, state = $5, created_ms = $6, \
                 updated_ms = $7, version = $8, runner = $9, lease_until = $10, task = $11 \
                 WHERE agent = $1 AND owner = $2 AND id = $3 AND version = $12"),
        };
        let statement = statement
            .bind(&record.agent)
            .bind(&record.owner)
            .bind(&record.task.id)
            .bind(&record.task.context_id)
            .bind(record.state().word())
            .bind(record.created_ms)
            .bind(record.updated_ms)
            .bind(record.version)
            .bind(record.lease.as_ref().map(|lease| lease.runner.clone()))
            .bind(record.lease.as_ref().map(|lease| lease.until_ms))
            .bind(json);
        let statement = match replaces {
            Some(version) => statement.bind(version),
            None => statement,
        };
        if news.is_empty() {
            return Ok(self.0.execute(statement).await? == 1);
        }
        let mut tx = self.0.begin().await?;
        if tx.execute(statement).await? != 1 {
            return Ok(false);
        }
        notifications::announce(&mut tx, record, news).await?;
        tx.commit().await?;
        Ok(true)
    }

    async fn get(&self, agent: &str, owner: &str, id: &str) -> Result<Option<TaskRecord>, Fault> {
        let text =
            format!("SELECT {COLUMNS} FROM a2a_task WHERE agent = $1 AND owner = $2 AND id = $3");
        let found = sql_built(text).bind(agent).bind(owner).bind(id);
        self.0.fetch_optional(found).await?.as_ref().map(read).transpose()
    }

    async fn list(&self, agent: &str, owner: &str, filter: &TaskFilter) -> Result<TaskPage, Fault> {
        let mut wanted = Where::of(agent, owner, filter);
        let mut tx = self.0.snapshot().await?;
        let count = wanted.statement("SELECT COUNT(*) FROM a2a_task", "");
        let total = tx.fetch_optional(count).await?.map_or(Ok(0), |row| row.count(0))?;
        wanted.after(filter);
        let page = format!("ORDER BY updated_ms DESC, id DESC LIMIT {}", filter.limit);
        let page = wanted.statement(&format!("SELECT {COLUMNS} FROM a2a_task"), &page);
        let rows = tx.fetch_all(page).await?;
        Ok(TaskPage { tasks: rows.iter().map(read).collect::<Result<_, _>>()?, total })
    }

    async fn renew(&self, record: &TaskRecord, lease: &Lease) -> Result<bool, Fault> {
        let renewed = sql("UPDATE a2a_task SET runner = $5, lease_until = $6 \
             WHERE agent = $1 AND owner = $2 AND id = $3 AND version = $4")
        .bind(&record.agent)
        .bind(&record.owner)
        .bind(&record.task.id)
        .bind(record.version)
        .bind(&lease.runner)
        .bind(lease.until_ms);
        Ok(self.0.execute(renewed).await? == 1)
    }

    async fn abandoned(
        &self,
        agent: &str,
        owner: Option<&str>,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, Fault> {
        let of_owner = if owner.is_some() { "AND owner = $3" } else { "" };
        let found = sql_built(format!(
            "SELECT {COLUMNS} FROM a2a_task WHERE agent = $1 AND lease_until IS NOT NULL \
             AND lease_until < $2 {of_owner} ORDER BY lease_until LIMIT {limit}"
        ));
        let found = found.bind(agent).bind(now_ms);
        let found = match owner {
            Some(owner) => found.bind(owner),
            None => found,
        };
        self.0.fetch_all(found).await?.iter().map(read).collect()
    }

    async fn delete_oldest(&self, agent: &str, owner: &str, keep: usize) -> Result<(), Fault> {
        let last = sql_built(format!(
            "SELECT updated_ms, id FROM a2a_task WHERE agent = $1 AND owner = $2 \
             ORDER BY updated_ms DESC, id DESC LIMIT 1 OFFSET {}",
            keep.saturating_sub(1)
        ));
        let last = self.0.fetch_optional(last.bind(agent).bind(owner)).await?;
        let Some(last) = last else { return Ok(()) };
        let gone =
            sql("DELETE FROM a2a_task WHERE agent = $1 AND owner = $2 AND lease_until IS NULL \
             AND (updated_ms < $3 OR (updated_ms = $3 AND id < $4))");
        let gone = gone.bind(agent).bind(owner).bind(last.int(0)?).bind(last.text(1)?);
        self.forget(gone, agent, Some(owner)).await
    }

    async fn delete_older(&self, agent: &str, updated_ms: i64) -> Result<(), Fault> {
        let gone = sql(
            "DELETE FROM a2a_task WHERE agent = $1 AND lease_until IS NULL AND updated_ms < $2",
        );
        self.forget(gone.bind(agent).bind(updated_ms), agent, None).await
    }

    async fn put_push_config(
        &self,
        agent: &str,
        owner: &str,
        push: &PushConfig,
    ) -> Result<(), Fault> {
        let kept = sql(
            "INSERT INTO a2a_webhook (agent, owner, task, id, config) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (agent, owner, task, id) DO UPDATE SET config = excluded.config",
        );
        let json = serde_json::to_string(push).map_err(Fault::internal)?;
        let kept = kept.bind(agent).bind(owner).bind(&push.task_id).bind(&push.id).bind(json);
        self.0.execute(kept).await.map(drop)
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
        let rows = self.0.fetch_all(found.bind(agent).bind(owner).bind(task)).await?;
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
        let mut tx = self.0.begin().await?;
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
        notifications::next(&self.0, now_ms, lease_ms, busy).await
    }

    async fn notification_delivered(&self, notification: &PushNotification) -> Result<(), Fault> {
        notifications::done(&self.0, notification).await
    }

    async fn notification_failed(
        &self,
        notification: &PushNotification,
        due_ms: i64,
    ) -> Result<(), Fault> {
        notifications::failed(&self.0, notification, due_ms).await
    }

    async fn drop_notifications(&self, notification: &PushNotification) -> Result<u64, Fault> {
        let PushNotification { agent, owner, push, .. } = notification;
        let gone =
            notifications::of_webhook().bind(agent).bind(owner).bind(&push.task_id).bind(&push.id);
        self.0.execute(gone).await
    }
}

/// Deletes what belongs to tasks that are no longer there.
fn orphans(table: &'static str, narrowed: &'static str) -> Sql {
    sql_built(format!(
        "DELETE FROM {table} WHERE agent = $1 {narrowed} AND NOT EXISTS (SELECT 1 FROM a2a_task \
         WHERE a2a_task.agent = {table}.agent AND a2a_task.owner = {table}.owner \
         AND a2a_task.id = {table}.task)"
    ))
}

impl SqlTaskStore {
    /// Deletes tasks of an owner or of all, and with them their webhooks and notices.
    async fn forget(&self, tasks: Sql, agent: &str, owner: Option<&str>) -> Result<(), Fault> {
        let mut tx = self.0.begin().await?;
        if tx.execute(tasks).await? > 0 {
            let narrowed = if owner.is_some() { "AND owner = $2" } else { "" };
            for table in ["a2a_webhook", "a2a_notice"] {
                let gone = orphans(table, narrowed).bind(agent).bind_all(owner);
                tx.execute(gone).await?;
            }
        }
        tx.commit().await
    }
}
