//! Schedules of collections. A run is due at `next`; taking it moves `next` on in the same
//! transaction that queues its job, so that each due time is run once by one server.

use clock::Millis;
use fault::Fault;
use store::{Db, SqlRow, Tx, sql, sql_built};

const COLUMNS: &str = "id, recurrence, sku, market, connector, depth, paused, next_ms, last_ms, \
                       last_job, by_subject, created_ms";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    pub(crate) id: String,
    /// The text of the schedule, such as `every 6h`.
    pub(crate) recurrence: String,
    /// `None` for every product of the catalogue.
    pub(crate) sku: Option<String>,
    pub(crate) market: String,
    pub(crate) connector: String,
    pub(crate) depth: u32,
    pub(crate) paused: bool,
    pub(crate) next: Millis,
    /// When it last ran, and the job of that run.
    pub(crate) last: Option<Millis>,
    pub(crate) last_job: Option<String>,
    pub(crate) by: String,
    pub(crate) created: Millis,
}

/// Adds a schedule; `false` if there are `most` already.
pub(crate) async fn add(tx: &mut Tx, it: &Schedule, most: u32) -> Result<bool, Fault> {
    let statement =
        sql("INSERT INTO pricing_schedule (id, recurrence, sku, market, connector, depth,
             paused, next_ms, last_ms, last_job, by_subject, created_ms)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL, $9, $10
         WHERE (SELECT COUNT(*) FROM pricing_schedule) < $11");
    let bound = statement
        .bind(it.id.as_str())
        .bind(it.recurrence.as_str())
        .bind(it.sku.as_deref())
        .bind(it.market.as_str())
        .bind(it.connector.as_str())
        .bind(it.depth)
        .bind(it.paused)
        .bind(it.next.0)
        .bind(it.by.as_str())
        .bind(it.created.0)
        .bind(most);
    Ok(tx.execute(bound).await? == 1)
}

/// All schedules, oldest first.
pub(crate) async fn all(db: &Db) -> Result<Vec<Schedule>, Fault> {
    let statement = sql_built(format!("SELECT {COLUMNS} FROM pricing_schedule ORDER BY id"));
    db.fetch_all(statement).await?.iter().map(read).collect()
}

pub(crate) async fn find(db: &Db, id: &str) -> Result<Schedule, Fault> {
    let statement = format!("SELECT {COLUMNS} FROM pricing_schedule WHERE id = $1");
    let row = db.fetch_optional(sql_built(statement).bind(id)).await?;
    row.map_or_else(|| Err(unknown_schedule(id)), |row| read(&row))
}

/// The due schedules, the longest due first.
pub(crate) async fn due(db: &Db, now: Millis, limit: u32) -> Result<Vec<Schedule>, Fault> {
    let statement = sql_built(format!(
        "SELECT {COLUMNS} FROM pricing_schedule WHERE paused = FALSE AND next_ms <= $1
         ORDER BY next_ms LIMIT $2"
    ));
    db.fetch_all(statement.bind(now.0).bind(limit)).await?.iter().map(read).collect()
}

/// Takes a due run; `false` if another server took it, or the schedule was paused or removed.
pub(crate) async fn take_due_run(
    tx: &mut Tx,
    schedule: &Schedule,
    next: Millis,
    now: Millis,
) -> Result<bool, Fault> {
    let statement = sql("UPDATE pricing_schedule SET next_ms = $1, last_ms = $2
         WHERE id = $3 AND next_ms = $4 AND paused = FALSE");
    let bound = statement.bind(next.0).bind(now.0).bind(schedule.id.as_str()).bind(schedule.next.0);
    Ok(tx.execute(bound).await? == 1)
}

pub(crate) async fn set_last_job(tx: &mut Tx, id: &str, job: &str) -> Result<(), Fault> {
    let statement = sql("UPDATE pricing_schedule SET last_job = $1 WHERE id = $2");
    tx.execute(statement.bind(job).bind(id)).await.map(drop)
}

/// Pauses a schedule, or resumes it with its next time; `false` if there is no such schedule.
pub(crate) async fn set_paused(
    db: &Db,
    id: &str,
    paused: bool,
    next: Millis,
) -> Result<bool, Fault> {
    let statement = sql("UPDATE pricing_schedule SET paused = $1, next_ms = $2 WHERE id = $3");
    Ok(db.execute(statement.bind(paused).bind(next.0).bind(id)).await? == 1)
}

pub(crate) async fn remove(db: &Db, id: &str) -> Result<bool, Fault> {
    let statement = sql("DELETE FROM pricing_schedule WHERE id = $1");
    Ok(db.execute(statement.bind(id)).await? == 1)
}

pub(crate) fn unknown_schedule(id: &str) -> Fault {
    let shown: String = id.chars().take(64).collect();
    let message = format!("there is no schedule {shown:?}; list_schedules lists those there are");
    Fault::not_found("schedule_not_found", message)
}

fn read(row: &SqlRow) -> Result<Schedule, Fault> {
    Ok(Schedule {
        id: row.text(0)?,
        recurrence: row.text(1)?,
        sku: row.text_or_null(2)?,
        market: row.text(3)?,
        connector: row.text(4)?,
        depth: u32::try_from(row.int(5)?).map_err(Fault::internal)?,
        paused: row.flag(6)?,
        next: Millis(row.int(7)?),
        last: row.int_or_null(8)?.map(Millis),
        last_job: row.text_or_null(9)?,
        by: row.text(10)?,
        created: Millis(row.int(11)?),
    })
}
