//! The statements of the queue.
//!
//! PostgreSQL selects and locks the rows to change and skips rows that another transaction has
//! locked. SQLite has one writer and uses the same text without the lock.

use clock::Millis;
use fault::Fault;
use store::{Db, Sql, SqlRow, SqlValue, Tx, placeholders, sql, sql_built};

use crate::job::{Job, JobCount, JobError, JobFilter, JobPageRequest, JobProgress, JobState};
use crate::new::NewJob;
use crate::worker::turns::ClaimRequest;

const COLUMNS: &str = "id, kind, payload, unique_key, owner, priority, state, attempt, \
     max_attempts, revision, run_at, lease_until, worker, cancel_asked, progress_done, \
     progress_total, progress_note, result, error_code, error_message, created_at, started_at, \
     finished_at, fence";

/// The column after those of a job.
const FENCE: usize = 23;

/// The columns of [`COLUMNS`], in their order.
pub(crate) fn job(row: &SqlRow) -> Result<Job, Fault> {
    let error = match (row.text_or_null(18)?, row.text_or_null(19)?) {
        (Some(code), Some(message)) => Some(JobError { code, message }),
        _ => None,
    };
    let total = row.int_or_null(15)?.map(u64::try_from).transpose().map_err(Fault::internal)?;
    let small = |column: usize| u32::try_from(row.int(column)?).map_err(Fault::internal);
    Ok(Job {
        id: row.text(0)?,
        kind: row.text(1)?,
        payload: row.text(2)?,
        key: row.text_or_null(3)?,
        owner: row.text_or_null(4)?,
        priority: i32::try_from(row.int(5)?).map_err(Fault::internal)?,
        state: state(row, 6)?,
        attempt: small(7)?,
        max_attempts: small(8)?,
        revision: row.count(9)?,
        run_at: Millis(row.int(10)?),
        lease_until: row.int_or_null(11)?.map(Millis),
        worker: row.text_or_null(12)?,
        cancel_requested: row.flag(13)?,
        progress: JobProgress { done: row.count(14)?, total, note: row.text_or_null(16)? },
        result: row.text_or_null(17)?,
        error,
        created_at: Millis(row.int(20)?),
        started_at: row.int_or_null(21)?.map(Millis),
        finished_at: row.int_or_null(22)?.map(Millis),
    })
}

fn state(row: &SqlRow, column: usize) -> Result<JobState, Fault> {
    let word = row.text_ref(column)?;
    JobState::parse(word).ok_or_else(|| Fault::internal(format!("a job's state is {word:?}")))
}

/// A count as a column value; one that does not fit becomes the largest.
fn capped(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn lock(db: &Db) -> &'static str {
    db.choose("", "FOR UPDATE SKIP LOCKED")
}

/// Inserts the job; `None` where an unfinished one has its key.
pub(crate) async fn insert(
    tx: &mut Tx,
    new: &NewJob,
    id: &str,
    now: Millis,
) -> Result<Option<Job>, Fault> {
    let run_at = now.0.saturating_add(millis(new.delay));
    let insert = format!(
        "INSERT INTO job (id, kind, payload, unique_key, owner, priority, max_attempts, run_at, \
             created_at, state, attempt, fence, revision, cancel_asked, progress_done) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'queued', 0, 0, 1, FALSE, 0) \
         ON CONFLICT DO NOTHING RETURNING {COLUMNS}"
    );
    let insert = sql_built(insert)
        .bind(id)
        .bind(&new.kind)
        .bind(&new.payload)
        .bind(new.key.as_ref())
        .bind(new.owner.as_ref())
        .bind(new.priority)
        .bind(new.max_attempts)
        .bind(run_at)
        .bind(now.0);
    tx.fetch_optional(insert).await?.as_ref().map(job).transpose()
}

pub(crate) fn millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) async fn unfinished_with_key(
    tx: &mut Tx,
    kind: &str,
    key: &str,
) -> Result<Option<Job>, Fault> {
    let select = format!(
        "SELECT {COLUMNS} FROM job WHERE kind = $1 AND unique_key = $2 \
         AND state IN ('queued', 'running')"
    );
    tx.fetch_optional(sql_built(select).bind(kind).bind(key)).await?.as_ref().map(job).transpose()
}

pub(crate) async fn queued(tx: &mut Tx, kind: &str) -> Result<u64, Fault> {
    let count = sql("SELECT COUNT(*) FROM job WHERE state = 'queued' AND kind = $1").bind(kind);
    tx.fetch_optional(count).await?.map_or(Ok(0), |row| row.count(0))
}

pub(crate) fn by_id(id: &str) -> Sql {
    sql_built(format!("SELECT {COLUMNS} FROM job WHERE id = $1")).bind(id)
}

pub(crate) fn list(filter: &JobFilter, page: &JobPageRequest, limit: usize) -> Sql {
    let mut conditions = vec!["1 = 1".to_owned()];
    let mut values: Vec<SqlValue> = Vec::new();
    let mut among = |column: &str, words: Vec<SqlValue>| {
        if !words.is_empty() {
            let list = placeholders(values.len() + 1, words.len());
            conditions.push(format!("{column} IN ({list})"));
            values.extend(words);
        }
    };
    among("kind", filter.kinds.iter().map(SqlValue::from).collect());
    among("state", filter.states.iter().map(|state| SqlValue::from(state.as_str())).collect());
    among("owner", filter.owner.iter().map(SqlValue::from).collect());
    among("unique_key", filter.key.iter().map(SqlValue::from).collect());
    if let Some(before) = &page.before {
        values.push(before.into());
        conditions.push(format!("id < ${}", values.len()));
    }
    values.push(capped(limit as u64).into());
    let (conditions, last) = (conditions.join(" AND "), values.len());
    let select =
        format!("SELECT {COLUMNS} FROM job WHERE {conditions} ORDER BY id DESC LIMIT ${last}");
    sql_built(select).bind_all(values)
}

pub(crate) async fn counts(db: &Db) -> Result<Vec<JobCount>, Fault> {
    let count = "SELECT kind, state, COUNT(*) FROM job GROUP BY kind, state ORDER BY kind, state";
    let rows = db.fetch_all(sql(count)).await?;
    let read = |row: &SqlRow| {
        Ok(JobCount { kind: row.text(0)?, state: state(row, 1)?, jobs: row.count(2)? })
    };
    rows.iter().map(read).collect()
}

/// Cancels a queued job and marks a running one.
pub(crate) async fn cancel(tx: &mut Tx, id: &str, now: Millis) -> Result<Option<Job>, Fault> {
    let cancel = format!(
        "UPDATE job SET cancel_asked = TRUE, revision = revision + 1, \
             finished_at = CASE WHEN state = 'queued' THEN $2 ELSE finished_at END, \
             state = CASE WHEN state = 'queued' THEN 'cancelled' ELSE state END \
         WHERE id = $1 AND state IN ('queued', 'running') RETURNING {COLUMNS}"
    );
    tx.fetch_optional(sql_built(cancel).bind(id).bind(now.0)).await?.as_ref().map(job).transpose()
}

/// Queues a failed job again and resets its attempts.
pub(crate) async fn retry(tx: &mut Tx, id: &str, now: Millis) -> Result<Option<Job>, Fault> {
    let retry = format!(
        "UPDATE job SET state = 'queued', attempt = 0, cancel_asked = FALSE, run_at = $2, \
             finished_at = NULL, revision = revision + 1 \
         WHERE id = $1 AND state = 'failed' RETURNING {COLUMNS}"
    );
    tx.fetch_optional(sql_built(retry).bind(id).bind(now.0)).await?.as_ref().map(job).transpose()
}

/// Deletes at most `limit` jobs of a kind that finished before a time, the oldest first.
pub(crate) fn delete_finished(kind: &str, before: Millis, limit: i64) -> Sql {
    sql("DELETE FROM job WHERE id IN (SELECT id FROM job WHERE kind = $1 \
         AND finished_at IS NOT NULL AND finished_at < $2 ORDER BY finished_at LIMIT $3)")
    .bind(kind)
    .bind(before.0)
    .bind(limit)
}

pub(crate) fn unfinished(ids: &[String]) -> Sql {
    let marks = placeholders(1, ids.len());
    let select =
        format!("SELECT id FROM job WHERE id IN ({marks}) AND state IN ('queued', 'running')");
    sql_built(select).bind_all(ids)
}

/// Deletes jobs in any state.
pub(crate) async fn delete(tx: &mut Tx, ids: &[String]) -> Result<u64, Fault> {
    let marks = placeholders(1, ids.len());
    let delete = sql_built(format!("DELETE FROM job WHERE id IN ({marks})"));
    tx.execute(delete.bind_all(ids)).await
}

/// Deletes jobs that contain an id, which has no character that `LIKE` takes for a pattern.
pub(crate) async fn delete_mentioning(
    tx: &mut Tx,
    jobs: &[String],
    id: &str,
) -> Result<u64, Fault> {
    let (marks, at) = (placeholders(1, jobs.len()), jobs.len() + 1);
    let delete = sql_built(format!(
        "DELETE FROM job WHERE id IN ({marks}) AND (payload LIKE ${at} OR result LIKE ${at})"
    ));
    tx.execute(delete.bind_all(jobs).bind(format!("%{id}%"))).await
}

/// The owner of a job as the index `job_ready` has it; no owner's name is empty.
const OWNER_KEY: &str = "COALESCE(owner, '')";

/// The owners who have due jobs of a kind, at most `limit`, in the order of their names: those
/// after `last` first, then the others. An empty name stands for jobs without an owner.
///
/// The index is entered once for each owner: a thousand jobs of one owner cost what one does.
pub(crate) async fn waiting_owners(
    tx: &mut Tx,
    kind: &str,
    last: Option<&str>,
    now: Millis,
    limit: usize,
) -> Result<Vec<String>, Fault> {
    let mut owners: Vec<String> = Vec::new();
    for after in [last, None].into_iter().skip(usize::from(last.is_none())) {
        for row in tx.fetch_all(owners_after(kind, after, now, limit)).await? {
            let owner = row.text(0)?;
            if owners.len() < limit && !owners.contains(&owner) {
                owners.push(owner);
            }
        }
    }
    Ok(owners)
}

fn owners_after(kind: &str, after: Option<&str>, now: Millis, limit: usize) -> Sql {
    let select = sql_built(owners_text(after.is_some()));
    let select = select.bind(kind).bind(now.0).bind(capped(limit as u64));
    match after {
        Some(after) => select.bind(after),
        None => select,
    }
}

/// `$4` is the name after which the owners begin.
pub(crate) fn owners_text(is_after: bool) -> String {
    let next = |condition: &str| {
        format!(
            "SELECT (SELECT {OWNER_KEY} FROM job WHERE state = 'queued' AND kind = $1 {condition} \
             ORDER BY {OWNER_KEY} LIMIT 1)"
        )
    };
    let first = if is_after { format!("AND {OWNER_KEY} > $4") } else { String::new() };
    format!(
        "WITH RECURSIVE waiting (who) AS ({} UNION ALL {} FROM waiting WHERE who IS NOT NULL) \
         SELECT who FROM waiting WHERE who IS NOT NULL AND EXISTS (SELECT 1 FROM job \
             WHERE state = 'queued' AND kind = $1 AND {OWNER_KEY} = who AND run_at <= $2) LIMIT $3",
        next(&first),
        next(&format!("AND {OWNER_KEY} > who")),
    )
}

/// Takes at most `limit` due jobs of an owner and returns them with their fences.
pub(crate) async fn claim(
    tx: &mut Tx,
    request: &ClaimRequest<'_>,
    owner: &str,
    limit: usize,
) -> Result<Vec<(Job, i64)>, Fault> {
    let claim = format!(
        "WITH picked AS MATERIALIZED (SELECT id AS picked_id FROM job \
             WHERE state = 'queued' AND kind = $1 AND {OWNER_KEY} = $6 AND run_at <= $2 \
             ORDER BY priority DESC, run_at, id LIMIT $3 {}) \
         UPDATE job SET state = 'running', attempt = attempt + 1, fence = fence + 1, \
             revision = revision + 1, worker = $4, lease_until = $5, started_at = $2, \
             progress_done = 0, progress_total = NULL, progress_note = NULL \
         FROM picked WHERE id = picked_id RETURNING {COLUMNS}",
        lock(request.db)
    );
    let (now, lease_until) = request.times;
    let claim = sql_built(claim)
        .bind(request.kind)
        .bind(now.0)
        .bind(capped(limit as u64))
        .bind(request.worker)
        .bind(lease_until.0)
        .bind(owner);
    let rows = tx.fetch_all(claim).await?;
    let read = |row: &SqlRow| Ok((job(row)?, row.int(FENCE)?));
    let mut claimed: Vec<(Job, i64)> = rows.iter().map(read).collect::<Result<_, Fault>>()?;
    // An update returns its rows in no order.
    claimed.sort_by(|(left, _), (right, _)| {
        let hold_key = |job: &Job| (std::cmp::Reverse(job.priority), job.run_at);
        hold_key(left).cmp(&hold_key(right)).then_with(|| left.id.cmp(&right.id))
    });
    Ok(claimed)
}

/// Whether a job of these kinds is due, and whether any lease has expired.
pub(crate) async fn check_ready(
    db: &Db,
    kinds: &[String],
    now: Millis,
) -> Result<(bool, bool), Fault> {
    let poll = format!(
        "SELECT CAST(CASE WHEN EXISTS (SELECT 1 FROM job WHERE state = 'queued' \
             AND kind IN ({}) AND run_at <= $1) THEN 1 ELSE 0 END AS BIGINT), \
         CAST(CASE WHEN EXISTS (SELECT 1 FROM job WHERE state = 'running' \
             AND lease_until <= $1) THEN 1 ELSE 0 END AS BIGINT)",
        placeholders(2, kinds.len())
    );
    let row = db.fetch_optional(sql_built(poll).bind(now.0).bind_all(kinds)).await?;
    row.map_or(Ok((false, false)), |row| Ok((row.int(0)? == 1, row.int(1)? == 1)))
}

/// A job that was taken from a lost worker, with its new state.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReapedJob {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) state: JobState,
}

/// Takes jobs whose leases have expired. The attempt counts, so that a job that kills its workers
/// is not repeated for ever.
pub(crate) async fn reap(
    db: &Db,
    tx: &mut Tx,
    limit: i64,
    now: Millis,
) -> Result<Vec<ReapedJob>, Fault> {
    let reap = format!(
        "WITH picked AS MATERIALIZED (SELECT id AS picked_id FROM job \
             WHERE state = 'running' AND lease_until <= $1 ORDER BY lease_until LIMIT $2 {}) \
         UPDATE job SET lease_until = NULL, run_at = $1, revision = revision + 1, \
             error_code = 'worker_lost', \
             error_message = 'the worker stopped renewing its lease', \
             finished_at = CASE WHEN cancel_asked OR attempt >= max_attempts THEN $1 END, \
             state = CASE WHEN cancel_asked THEN 'cancelled' \
                 WHEN attempt >= max_attempts THEN 'failed' ELSE 'queued' END \
         FROM picked WHERE id = picked_id RETURNING id, kind, state",
        lock(db)
    );
    let rows = tx.fetch_all(sql_built(reap).bind(now.0).bind(limit)).await?;
    let read = |row: &SqlRow| {
        Ok(ReapedJob { id: row.text(0)?, kind: row.text(1)?, state: state(row, 2)? })
    };
    rows.iter().map(read).collect()
}

/// One hold of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobHold<'a> {
    pub(crate) id: &'a str,
    pub(crate) fence: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RenewResult {
    Held {
        cancel_requested: bool,
    },
    /// A transaction of the handler has locked the row.
    Locked,
    Lost,
}

/// Extends the lease and writes the progress. A row that the handler's own transaction has locked
/// is skipped: no worker can take it meanwhile, and waiting would delay the other renewals.
pub(crate) async fn renew(
    db: &Db,
    tx: &mut Tx,
    hold: JobHold<'_>,
    lease_until: Millis,
    progress: &JobProgress,
) -> Result<RenewResult, Fault> {
    let renew = format!(
        "WITH picked AS MATERIALIZED (SELECT id AS picked_id FROM job \
             WHERE id = $1 AND fence = $2 AND state = 'running' {}) \
         UPDATE job SET lease_until = $3, revision = revision + 1, progress_done = $4, \
             progress_total = $5, progress_note = $6 \
         FROM picked WHERE id = picked_id RETURNING cancel_asked",
        lock(db)
    );
    let renew = sql_built(renew).bind(hold.id).bind(hold.fence).bind(lease_until.0);
    if let Some(row) = tx.fetch_optional(bind_progress(renew, progress)).await? {
        return Ok(RenewResult::Held { cancel_requested: row.flag(0)? });
    }
    let is_held = held_state(tx, hold).await? == Some(JobState::Running);
    Ok(if is_held { RenewResult::Locked } else { RenewResult::Lost })
}

fn bind_progress(statement: Sql, progress: &JobProgress) -> Sql {
    statement
        .bind(capped(progress.done))
        .bind(progress.total.map(capped))
        .bind(progress.note.as_ref())
}

/// What is written at the end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JobEnding {
    pub(crate) state: JobState,
    /// False where the attempt does not count.
    pub(crate) is_counted: bool,
    pub(crate) run_at: Option<Millis>,
    pub(crate) result: Option<String>,
    pub(crate) error: Option<JobError>,
}

/// Ends a hold and returns the new state of the job; `None` where the hold was lost. A cancelled
/// job that did not complete becomes cancelled, whatever its handler returned.
pub(crate) async fn end(
    tx: &mut Tx,
    hold: JobHold<'_>,
    ending: &JobEnding,
    progress: &JobProgress,
    now: Millis,
) -> Result<Option<JobState>, Fault> {
    let end = "UPDATE job SET progress_done = $3, progress_total = $4, progress_note = $5, \
             state = CASE WHEN cancel_asked AND $6 <> 'completed' THEN 'cancelled' ELSE $6 END, \
             attempt = attempt - $7, run_at = COALESCE($8, run_at), result = $9, \
             error_code = CASE WHEN $6 = 'queued' THEN COALESCE($10, error_code) ELSE $10 END, \
             error_message = \
                 CASE WHEN $6 = 'queued' THEN COALESCE($11, error_message) ELSE $11 END, \
             finished_at = CASE WHEN $6 = 'queued' AND NOT cancel_asked THEN NULL ELSE $12 END, \
             lease_until = NULL, revision = revision + 1 \
         WHERE id = $1 AND fence = $2 AND state = 'running' RETURNING state";
    let (code, message) = match &ending.error {
        Some(error) => (Some(&error.code), Some(&error.message)),
        None => (None, None),
    };
    let end = bind_progress(sql(end).bind(hold.id).bind(hold.fence), progress)
        .bind(ending.state.as_str())
        .bind(i64::from(!ending.is_counted))
        .bind(ending.run_at.map(|at| at.0))
        .bind(ending.result.as_ref())
        .bind(code)
        .bind(message)
        .bind(now.0);
    tx.fetch_optional(end).await?.map(|row| state(&row, 0)).transpose()
}

/// The state of a job; `None` where this hold is not the latest.
pub(crate) async fn held_state(tx: &mut Tx, hold: JobHold<'_>) -> Result<Option<JobState>, Fault> {
    let poll = sql("SELECT state FROM job WHERE id = $1 AND fence = $2");
    let row = tx.fetch_optional(poll.bind(hold.id).bind(hold.fence)).await?;
    row.map(|row| state(&row, 0)).transpose()
}

/// Whether the hold is the latest. If it is, the job's row is locked, so that no other worker can
/// take the job before the transaction ends.
pub(crate) async fn lock_hold(db: &Db, tx: &mut Tx, hold: JobHold<'_>) -> Result<bool, Fault> {
    let select = db.choose(
        "SELECT fence FROM job WHERE id = $1 AND fence = $2 AND state = 'running'",
        "SELECT fence FROM job WHERE id = $1 AND fence = $2 AND state = 'running' FOR UPDATE",
    );
    Ok(tx.fetch_optional(sql(select).bind(hold.id).bind(hold.fence)).await?.is_some())
}
