//! Undelivered notifications: stored in the transaction of the change that they report, so that a
//! crash in between loses none.

use fault::Fault;
use store::{Db, Sql, Tx, placeholders, sql, sql_built};
use transport_a2a::{NextNotification, PushNotification, TaskRecord};

/// Stores the events for every webhook of the task.
pub(crate) async fn insert(
    tx: &mut Tx,
    record: &TaskRecord,
    events: &[String],
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
    if !record.has_room_for_notifications(waiting, webhooks * events.len() as u64) {
        return Ok(());
    }
    for (part, json) in (0_i64..).zip(events) {
        let insert =
            sql("INSERT INTO a2a_notice (agent, owner, task, webhook, version, part, tries, \
             due_ms, json) SELECT agent, owner, task, id, $4, $5, 0, $6, $7 FROM a2a_webhook \
             WHERE agent = $1 AND owner = $2 AND task = $3");
        let insert = insert.bind(&record.agent).bind(&record.owner).bind(&record.task.id);
        let insert = insert.bind(record.version).bind(part).bind(record.updated_ms).bind(json);
        tx.execute(insert).await?;
    }
    Ok(())
}

/// Takes the notification that has waited longest, if it is due.
pub(crate) async fn next(
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
    let taken = keyed("UPDATE a2a_notice SET due_ms = $7", " AND due_ms = $8", &notification);
    match db.execute(taken.bind(lease_ms).bind(due_ms)).await? {
        1 => Ok(NextNotification::Due(Box::new(notification))),
        // Another process took it; there may be more.
        _ => Ok(NextNotification::Later(now_ms)),
    }
}

pub(crate) async fn done(db: &Db, notification: &PushNotification) -> Result<(), Fault> {
    db.execute(keyed("DELETE FROM a2a_notice", "", notification)).await.map(drop)
}

pub(crate) async fn failed(
    db: &Db,
    notification: &PushNotification,
    due_ms: i64,
) -> Result<(), Fault> {
    let failed = keyed("UPDATE a2a_notice SET tries = tries + 1, due_ms = $7", "", notification);
    db.execute(failed.bind(due_ms)).await.map(drop)
}

/// Deletes all notifications of a webhook.
pub(crate) fn of_webhook() -> Sql {
    sql("DELETE FROM a2a_notice WHERE agent = $1 AND owner = $2 AND task = $3 AND webhook = $4")
}

/// A statement about one notification, whose key takes the first six placeholders.
fn keyed(before: &str, after: &str, notification: &PushNotification) -> Sql {
    let text = format!(
        "{before} WHERE agent = $1 AND owner = $2 AND task = $3 AND webhook = $4 AND version = $5 \
         AND part = $6{after}"
    );
    let PushNotification { agent, owner, push, version, part, .. } = notification;
    let statement = sql_built(text).bind(agent).bind(owner).bind(&push.task_id).bind(&push.id);
    statement.bind(*version).bind(*part)
}
