//! The prices to be set in shops: one row for each shop and SKU, with the state of its push. The
//! id changes with every price, so that a worker that sent an older price cannot end the newer one.

use clock::Millis;
use fault::Fault;
use pricing_engine::Amount;
use store::{Db, SqlRow, SqlValue, Tx, placeholders, sql, sql_built};

use crate::storage::proposals::within;

const COLUMNS: &str = "id, target, sku, price, proposal_id, state, attempts, reason, created_ms, \
                       updated_ms";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PushState {
    Pending,
    Delivered,
    Failed,
    /// Never sent, because simulated ticks took part in the price.
    Withheld,
}

impl PushState {
    pub(crate) const ALL: [Self; 4] =
        [Self::Pending, Self::Delivered, Self::Failed, Self::Withheld];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Withheld => "withheld",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Push {
    pub(crate) id: String,
    pub(crate) target: String,
    pub(crate) sku: String,
    pub(crate) price: Amount,
    pub(crate) proposal: String,
    pub(crate) state: PushState,
    pub(crate) attempts: u32,
    /// Why it failed, was withheld, or waits for another attempt.
    pub(crate) reason: Option<String>,
    pub(crate) created: Millis,
    pub(crate) updated: Millis,
}

/// The filter of a list of pushes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PushQuery<'a> {
    pub(crate) sku: Option<&'a str>,
    pub(crate) target: Option<&'a str>,
    pub(crate) state: Option<PushState>,
    /// Only SKUs that begin with one of these.
    pub(crate) prefixes: Option<&'a [String]>,
    /// Only pushes older than this id.
    pub(crate) before: Option<&'a str>,
}

/// How many pushes of a shop are in a state.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PushCount {
    pub(crate) target: String,
    pub(crate) state: PushState,
    pub(crate) count: u64,
}

/// Stores a price for a shop in place of the one before.
pub(crate) async fn set(tx: &mut Tx, push: &Push) -> Result<(), Fault> {
    let statement = sql("INSERT INTO pricing_push (id, target, sku, price, proposal_id, state,
             attempts, reason, created_ms, updated_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (target, sku) DO UPDATE SET id = excluded.id, price = excluded.price,
             proposal_id = excluded.proposal_id, state = excluded.state,
             attempts = excluded.attempts, reason = excluded.reason,
             created_ms = excluded.created_ms, updated_ms = excluded.updated_ms");
    let bound = statement
        .bind(push.id.as_str())
        .bind(push.target.as_str())
        .bind(push.sku.as_str())
        .bind(push.price.micros())
        .bind(push.proposal.as_str())
        .bind(push.state.word())
        .bind(push.attempts)
        .bind(push.reason.as_deref())
        .bind(push.created.0)
        .bind(push.updated.0);
    tx.execute(bound).await.map(drop)
}

pub(crate) async fn find(db: &Db, target: &str, sku: &str) -> Result<Option<Push>, Fault> {
    let text = format!("SELECT {COLUMNS} FROM pricing_push WHERE target = $1 AND sku = $2");
    let row = db.fetch_optional(sql_built(text).bind(target).bind(sku)).await?;
    row.map(|row| read(&row)).transpose()
}

/// Whether this price is still the one in force and was not sent.
pub(crate) async fn is_pending(tx: &mut Tx, id: &str) -> Result<bool, Fault> {
    let statement = sql("SELECT 1 FROM pricing_push WHERE id = $1 AND state = 'pending'");
    Ok(tx.fetch_optional(statement.bind(id)).await?.is_some())
}

/// Whether a price of this shop and SKU is pending; the row cannot change before the transaction
/// ends.
pub(crate) async fn lock_pending(tx: &mut Tx, target: &str, sku: &str) -> Result<bool, Fault> {
    // An update that changes no value locks the row on both engines.
    let statement = sql("UPDATE pricing_push SET updated_ms = updated_ms
         WHERE target = $1 AND sku = $2");
    tx.execute(statement.bind(target).bind(sku)).await?;
    let statement =
        sql("SELECT 1 FROM pricing_push WHERE target = $1 AND sku = $2 AND state = 'pending'");
    Ok(tx.fetch_optional(statement.bind(target).bind(sku)).await?.is_some())
}

/// Ends the push of one price; `false` if another price is in force meanwhile.
pub(crate) async fn end(
    tx: &mut Tx,
    id: &str,
    state: PushState,
    reason: Option<&str>,
    now: Millis,
) -> Result<bool, Fault> {
    let statement = sql("UPDATE pricing_push SET state = $1, attempts = attempts + 1, reason = $2,
             updated_ms = $3 WHERE id = $4 AND state = 'pending'");
    let bound = statement.bind(state.word()).bind(reason).bind(now.0).bind(id);
    Ok(tx.execute(bound).await? == 1)
}

/// Records a failed attempt that will be repeated.
pub(crate) async fn note_attempt(
    db: &Db,
    id: &str,
    reason: &str,
    now: Millis,
) -> Result<(), Fault> {
    let statement = sql("UPDATE pricing_push SET attempts = attempts + 1, reason = $1,
             updated_ms = $2 WHERE id = $3 AND state = 'pending'");
    db.execute(statement.bind(reason).bind(now.0).bind(id)).await.map(drop)
}

/// The pushes that match a filter, newest first.
pub(crate) async fn page(db: &Db, query: PushQuery<'_>, limit: u32) -> Result<Vec<Push>, Fault> {
    let (mut of, mut values) = conditions(query);
    values.push(limit.into());
    of.push_str(&format!(" ORDER BY id DESC LIMIT ${}", values.len()));
    let text = format!("SELECT {COLUMNS} FROM pricing_push WHERE {of}");
    db.fetch_all(sql_built(text).bind_all(values)).await?.iter().map(read).collect()
}

fn conditions(query: PushQuery<'_>) -> (String, Vec<SqlValue>) {
    let mut values: Vec<SqlValue> = Vec::new();
    let mut of = within(query.prefixes, &mut values);
    let mut and = |column: &str, value: &str| {
        values.push(value.into());
        of.push_str(&format!(" AND {column} ${}", values.len()));
    };
    if let Some(sku) = query.sku {
        and("sku =", sku);
    }
    if let Some(target) = query.target {
        and("target =", target);
    }
    if let Some(state) = query.state {
        and("state =", state.word());
    }
    if let Some(before) = query.before {
        and("id <", before);
    }
    (of, values)
}

/// How many pushes there are, by shop and state.
pub(crate) async fn counts(db: &Db, prefixes: Option<&[String]>) -> Result<Vec<PushCount>, Fault> {
    let mut values: Vec<SqlValue> = Vec::new();
    let of = within(prefixes, &mut values);
    let text = format!(
        "SELECT target, state, COUNT(*) FROM pricing_push WHERE {of} GROUP BY target, state"
    );
    let rows = db.fetch_all(sql_built(text).bind_all(values)).await?;
    let count = |row: &SqlRow| {
        let state = PushState::parse(row.text_ref(1)?).ok_or_else(lost)?;
        Ok(PushCount { target: row.text(0)?, state, count: row.count(2)? })
    };
    rows.iter().map(count).collect()
}

/// Pending pushes to these shops after an id, oldest first.
pub(crate) async fn pending_after(
    db: &Db,
    targets: &[&str],
    after: &str,
    limit: u32,
) -> Result<Vec<Push>, Fault> {
    if targets.is_empty() {
        return Ok(Vec::new());
    }
    let of = placeholders(3, targets.len());
    let text = format!(
        "SELECT {COLUMNS} FROM pricing_push WHERE state = 'pending' AND id > $1 AND target IN ({of})
         ORDER BY id LIMIT $2"
    );
    let statement = sql_built(text).bind(after).bind(limit).bind_all(targets.iter().copied());
    db.fetch_all(statement).await?.iter().map(read).collect()
}

/// Makes failed pushes pending again, the newest first, and returns them.
pub(crate) async fn retry_failed(
    tx: &mut Tx,
    query: PushQuery<'_>,
    now: Millis,
    limit: u32,
) -> Result<Vec<Push>, Fault> {
    let (of, mut values) =
        conditions(PushQuery { state: Some(PushState::Failed), before: None, ..query });
    values.push(now.0.into());
    let at = values.len();
    values.push(limit.into());
    let most = values.len();
    let text = format!(
        "UPDATE pricing_push SET state = 'pending', attempts = 0, reason = NULL, updated_ms = ${at}
         WHERE id IN (SELECT id FROM pricing_push WHERE {of} ORDER BY id DESC LIMIT ${most})
         RETURNING {COLUMNS}"
    );
    tx.fetch_all(sql_built(text).bind_all(values)).await?.iter().map(read).collect()
}

fn lost() -> Fault {
    Fault::internal("a push in storage cannot be read")
}

fn read(row: &SqlRow) -> Result<Push, Fault> {
    Ok(Push {
        id: row.text(0)?,
        target: row.text(1)?,
        sku: row.text(2)?,
        price: Amount::from_micros(row.int(3)?).ok_or_else(lost)?,
        proposal: row.text(4)?,
        state: PushState::parse(row.text_ref(5)?).ok_or_else(lost)?,
        attempts: u32::try_from(row.int(6)?).unwrap_or(u32::MAX),
        reason: row.text_or_null(7)?,
        created: Millis(row.int(8)?),
        updated: Millis(row.int(9)?),
    })
}
