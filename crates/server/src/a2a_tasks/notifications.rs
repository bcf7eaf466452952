//! What webhooks have not been told yet: kept in the transaction of the change it tells of, so that
//! a crash in between loses nothing.

use fault::Fault;
use store::{Db, Sql, Tx, placeholders, sql, sql_built};
use transport_a2a::{NextNotification, PENDING_NOTIFICATIONS_MAX, PushNotification, TaskRecord};

/// Notices of one task to one webhook are ordered by `version` and `part`. `due_ms` is when the
/// next try may be made, and while one is under way, when it is to be believed dead.
pub(super) const CREATE: &str = "
CREATE TABLE a2a_notice (
    agent TEXT NOT NULL,
    owner TEXT NOT NULL,
    task TEXT NOT NULL,
    webhook TEXT NOT NULL,
    version BIGINT NOT NULL,
    part BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (agent, owner, task, webhook, version, part)
);
CREATE INDEX a2a_notice_due ON a2a_notice (due_ms)";

/// Keeps the news for every webhook of the task.
pub(super) async fn announce(
    tx: &mut Tx,
    record: &TaskRecord,
    news: &[String],
) -> Result<(), Fault> {
    let count = sql(
        "SELECT (SELECT COUNT(*) FROM a2a_webhook WHERE agent = $1 AND owner = $2 AND task = $3), \
             (SELECT COUNT(*) FROM a2a_notice WHERE agent = $1 AND owner = $2)",
    );
    let count = count.bind(&record.agent).bind(&record.owner).bind(&record.task.id);
    let Some(row) = tx.fetch_optional(count).await? else { return Ok(()) };
    let (webhooks, waiting) = (row.count(0)?, row.count(1)?);
    if webhooks == 0 {
        return Ok(());
    }
    if waiting + webhooks * news.len() as u64 > PENDING_NOTIFICATIONS_MAX as u64 {
        let task = &record.task.id;
        tracing::warn!(
            task,
            waiting,
            "too many notifications wait; webhooks are not told of a change"
        );
        return Ok(());
    }
    for (part, json) in (0_i64..).zip(news) {
        let kept =
            sql("INSERT INTO a2a_notice (agent, owner, task, webhook, version, part, tries, \
             due_ms, json) SELECT agent, owner, task, id, $4, $5, 0, $6, $7 FROM a2a_webhook \
             WHERE agent = $1 AND owner = $2 AND task = $3");
        let kept = kept.bind(&record.agent).bind(&record.owner).bind(&record.task.id);
        let kept = kept.bind(record.version).bind(part).bind(record.updated_ms).bind(json);
        tx.execute(kept).await?;
    }
    Ok(())
}

/// Takes the notice that has waited longest, if it is due.
pub(super) async fn next(
    db: &Db,
    now_ms: i64,
    lease_ms: i64,
    busy: &[String],
) -> Result<NextNotification, Fault> {
    let others = match busy.len() {
        0 => String::new(),
        count => format!("AND n.owner NOT IN ({})", placeholders(1, count)),
    };
    let head = sql_built(format!(
        "SELECT n.agent, n.owner, n.version, n.part, n.tries, n.due_ms, n.json, w.config \
         FROM a2a_notice n JOIN a2a_webhook w ON w.agent = n.agent AND w.owner = n.owner \
         AND w.task = n.task AND w.id = n.webhook \
         WHERE NOT EXISTS (SELECT 1 FROM a2a_notice e WHERE e.agent = n.agent \
         AND e.owner = n.owner AND e.task = n.task AND e.webhook = n.webhook \
         AND (e.version < n.version OR (e.version = n.version AND e.part < n.part))) {others} \
         ORDER BY n.due_ms LIMIT 1"
    ));
    let Some(row) = db.fetch_optional(head.bind_all(busy.iter().cloned())).await? else {
        return Ok(NextNotification::Nothing);
    };
    let due_ms = row.int(5)?;
    if due_ms > now_ms {
        return Ok(NextNotification::Later(due_ms));
    }
    let notification = PushNotification {
        agent: row.text(0)?,
        owner: row.text(1)?,
        push: serde_json::from_str(row.text_ref(7)?).map_err(Fault::internal)?,
        version: row.int(2)?,
        part: row.int(3)?,
        json: row.text(6)?,
        tries: u32::try_from(row.int(4)?).unwrap_or(u32::MAX),
    };
    let taken = placed("UPDATE a2a_notice SET due_ms = $7", " AND due_ms = $8", &notification);
    match db.execute(taken.bind(lease_ms).bind(due_ms)).await? {
        1 => Ok(NextNotification::Due(Box::new(notification))),
        // Another server was quicker; there may be more.
        _ => Ok(NextNotification::Later(now_ms)),
    }
}

pub(super) async fn done(db: &Db, notification: &PushNotification) -> Result<(), Fault> {
    db.execute(placed("DELETE FROM a2a_notice", "", notification)).await.map(drop)
}

pub(super) async fn failed(
    db: &Db,
    notification: &PushNotification,
    due_ms: i64,
) -> Result<(), Fault> {
    let failed = placed("UPDATE a2a_notice SET tries = tries + 1, due_ms = $7", "", notification);
    db.execute(failed.bind(due_ms)).await.map(drop)
}

/// Deletes all that waits for a webhook of a task.
pub(super) fn of_webhook() -> Sql {
    sql("DELETE FROM a2a_notice WHERE agent = $1 AND owner = $2 AND task = $3 AND webhook = $4")
}

/// A statement about one notice, which takes the first six places.
fn placed(before: &str, after: &str, notification: &PushNotification) -> Sql {
    let text = format!(
        "{before} WHERE agent = $1 AND owner = $2 AND task = $3 AND webhook = $4 AND version = $5 \
         AND part = $6{after}"
    );
    let PushNotification { agent, owner, push, version, part, .. } = notification;
    let statement = sql_built(text).bind(agent).bind(owner).bind(&push.task_id).bind(&push.id);
    statement.bind(*version).bind(*part)
}
