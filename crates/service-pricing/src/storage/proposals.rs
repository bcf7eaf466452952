//! Proposals and their states: pending → applied → reverted, or cancelled, or expired.
//!
//! Every step is one transaction that writes the proposal's state, the catalogue's price, the audit
//! log, and the pushes and webhook events. A price is changed only if it is still the one that the
//! proposal was computed from, so of two proposals from one price at most one is applied.

use clock::{DAY_MS, Millis};
use fault::{Fault, Kind};
use pricing_engine::{Amount, Proposal};
use serde_json::{Value, json};
use store::{Db, Sql, SqlRow, SqlValue, Tx, sql, sql_built};

use crate::push::{EventKind, NewPrice, Outbox};
use crate::storage::audit::{self, AuditEntry};
use crate::storage::products::{self, Repricing};
use crate::storage::switch;

const COLUMNS: &str = "id, sku, status, current_price, proposed_price, by_subject, created_ms, \
                       expires_ms, ended_ms, body";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Pending,
    Applied,
    Cancelled,
    Expired,
    Reverted,
}

impl Status {
    const ALL: [Self; 5] =
        [Self::Pending, Self::Applied, Self::Cancelled, Self::Expired, Self::Reverted];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Applied => "applied",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Reverted => "reverted",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }
}

/// A proposal as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct StoredProposal {
    pub(crate) id: String,
    pub(crate) sku: String,
    pub(crate) status: Status,
    pub(crate) current: Amount,
    pub(crate) proposed: Amount,
    pub(crate) by: String,
    pub(crate) created: Millis,
    pub(crate) expires: Millis,
    /// When it was applied, cancelled or reverted.
    pub(crate) ended: Option<Millis>,
    pub(crate) body: Proposal,
}

impl StoredProposal {
    /// The state at a moment: a pending proposal expires by the clock, without a write.
    pub(crate) fn status_at(&self, now: Millis) -> Status {
        match self.status {
            Status::Pending if self.expires <= now => Status::Expired,
            other => other,
        }
    }
}

/// Who makes a change, when, and an optional note for the audit log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChangeContext<'a> {
    pub(crate) by: &'a str,
    pub(crate) now: Millis,
    pub(crate) note: Option<&'a str>,
}

/// Stores a new proposal; storing it again changes nothing.
pub(crate) async fn insert(
    tx: &mut Tx,
    outbox: &Outbox,
    stored: &StoredProposal,
) -> Result<(), Fault> {
    let statement = sql(
        "INSERT INTO pricing_proposal (id, sku, status, current_price, proposed_price, by_subject,
             created_ms, expires_ms, ended_ms, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING",
    );
    let body = serde_json::to_string(&stored.body).map_err(Fault::internal)?;
    let bound = statement
        .bind(stored.id.as_str())
        .bind(stored.sku.as_str())
        .bind(stored.status.word())
        .bind(stored.current.micros())
        .bind(stored.proposed.micros())
        .bind(stored.by.as_str())
        .bind(stored.created.0)
        .bind(stored.expires.0)
        .bind(stored.ended.map(|it| it.0))
        .bind(body);
    if tx.execute(bound).await? == 0 {
        return Ok(());
    }
    let change = ChangeContext { by: &stored.by, now: stored.created, note: None };
    let entry = entry("proposed", stored, change);
    outbox.queue_event(tx, EventKind::Proposed, change.now, event_data(&entry)).await?;
    audit::write(tx, &entry).await
}

/// Whether the text has the form of a proposal's id; any other text needs no query.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

pub(crate) async fn find(db: &Db, id: &str) -> Result<StoredProposal, Fault> {
    if !is_id(id) {
        return Err(unknown());
    }
    let row = db.fetch_optional(one(id)).await?;
    row.map_or_else(|| Err(unknown()), |row| read(&row))
}

async fn find_in(tx: &mut Tx, id: &str) -> Result<StoredProposal, Fault> {
    let row = tx.fetch_optional(one(id)).await?;
    row.map_or_else(|| Err(unknown()), |row| read(&row))
}

fn one(id: &str) -> Sql {
    sql_built(format!("SELECT {COLUMNS} FROM pricing_proposal WHERE id = $1")).bind(id)
}

/// The filter of a list of proposals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProposalQuery<'a> {
    pub(crate) sku: Option<&'a str>,
    pub(crate) status: Option<Status>,
    /// Only SKUs that begin with one of these.
    pub(crate) prefixes: Option<&'a [String]>,
    /// Only proposals older than this id.
    pub(crate) before: Option<&'a str>,
    pub(crate) now: Millis,
}

/// The proposals that match a filter, newest first.
pub(crate) async fn page(
    db: &Db,
    search: ProposalQuery<'_>,
    limit: u32,
) -> Result<Vec<StoredProposal>, Fault> {
    let ProposalQuery { sku, status, prefixes, before, now } = search;
    let mut text = format!("SELECT {COLUMNS} FROM pricing_proposal WHERE ");
    let mut values: Vec<SqlValue> = Vec::new();
    let mut and = |condition: &str, value: SqlValue| {
        values.push(value);
        text.push_str(&condition.replace('?', &format!("${}", values.len())));
        text.push_str(" AND ");
    };
    if let Some(sku) = sku {
        and("sku = ?", sku.into());
    }
    if let Some(before) = before {
        and("id < ?", before.into());
    }
    match status {
        Some(Status::Pending) => {
            // Older proposals have expired, so they need not be read.
            and("id >= ?", oldest(now).into());
            and("status = 'pending' AND expires_ms > ?", now.0.into());
        }
        Some(Status::Expired) => and("status = 'pending' AND expires_ms <= ?", now.0.into()),
        Some(other) => and("status = ?", other.word().into()),
        None => {}
    }
    text.push_str(&within(prefixes, &mut values));
    values.push(limit.into());
    text.push_str(&format!(" ORDER BY id DESC LIMIT ${}", values.len()));
    db.fetch_all(sql_built(text).bind_all(values)).await?.iter().map(read).collect()
}

/// The longest time in which a proposal can be applied: 7 days.
pub(crate) const LIFE_MAX_MS: i64 = 7 * DAY_MS;

/// The smallest id of a proposal that has not expired: an id begins with the time of its creation.
fn oldest(now: Millis) -> String {
    let since = now.0.saturating_sub(LIFE_MAX_MS).max(0);
    format!("{:08x}-{:04x}-0000-0000-000000000000", since >> 16, since & 0xffff)
}

/// The condition that a row's SKU begins with one of the prefixes. It compares substrings, because
/// the engines sort texts differently.
pub(crate) fn within(prefixes: Option<&[String]>, values: &mut Vec<SqlValue>) -> String {
    let Some(prefixes) = prefixes else { return "TRUE".to_owned() };
    let mut conditions = vec!["FALSE".to_owned()];
    for prefix in prefixes {
        values.push(prefix.as_str().into());
        let at = values.len();
        conditions.push(format!("substr(sku, 1, length(${at})) = ${at}"));
    }
    format!("({})", conditions.join(" OR "))
}

/// Applies a proposal. Applying it again changes nothing and returns the first result, also while
/// the kill switch is on.
pub(crate) async fn apply(
    db: &Db,
    outbox: &Outbox,
    id: &str,
    change: ChangeContext<'_>,
) -> Result<StoredProposal, Fault> {
    let mut tx = db.begin().await?;
    if !step(&mut tx, id, (Status::Pending, Status::Applied), change.now).await? {
        let stored = find_in(&mut tx, id).await?;
        return match stored.status_at(change.now) {
            Status::Applied => Ok(stored),
            other => Err(not_in_state(&stored, other, "applied")),
        };
    }
    switch::must_be_off(db, &mut tx).await?;
    let stored = find_in(&mut tx, id).await?;
    let was_simulated = products::is_price_simulated(&mut tx, &stored.sku).await?;
    set_from_simulated(&mut tx, id, was_simulated).await?;
    // An equal price stays simulated or observed, as it was.
    let is_same = stored.current == stored.proposed;
    let repricing = Repricing {
        expected: stored.current,
        new: stored.proposed,
        simulated: if is_same { was_simulated } else { stored.body.simulated },
    };
    let entry = entry("applied", &stored, change);
    set_price(&mut tx, outbox, &stored, repricing, (EventKind::Applied, entry)).await?;
    tx.commit().await?;
    outbox.notify();
    Ok(stored)
}

/// Changes the catalogue's price, queues pushes and events, and writes the audit log.
async fn set_price(
    tx: &mut Tx,
    outbox: &Outbox,
    stored: &StoredProposal,
    repricing: Repricing,
    (event, entry): (EventKind, AuditEntry),
) -> Result<(), Fault> {
    if !products::reprice(tx, &stored.sku, repricing, entry.at).await? {
        let found = products::find_in(tx, &stored.sku).await?.and_then(|it| it.price);
        return Err(stale(stored, repricing.expected, found));
    }
    let set = NewPrice {
        sku: &stored.sku,
        price: repricing.new,
        proposal: &stored.id,
        simulated: repricing.simulated,
        at: entry.at,
    };
    outbox.queue_new_price(tx, &set).await?;
    outbox.queue_event(tx, event, entry.at, event_data(&entry)).await?;
    audit::write(tx, &entry).await
}

/// Stores whether the price before a proposal was simulated, for its revert.
async fn set_from_simulated(tx: &mut Tx, id: &str, simulated: bool) -> Result<(), Fault> {
    let statement = sql("UPDATE pricing_proposal SET from_simulated = $1
         WHERE id = $2 AND from_simulated <> $1");
    tx.execute(statement.bind(simulated).bind(id)).await.map(drop)
}

async fn from_simulated(tx: &mut Tx, id: &str) -> Result<bool, Fault> {
    let statement = sql("SELECT from_simulated FROM pricing_proposal WHERE id = $1");
    let row = tx.fetch_optional(statement.bind(id)).await?;
    row.map_or(Ok(false), |row| row.flag(0))
}

pub(crate) async fn cancel(
    db: &Db,
    id: &str,
    change: ChangeContext<'_>,
) -> Result<StoredProposal, Fault> {
    let mut tx = db.begin().await?;
    let done = step(&mut tx, id, (Status::Pending, Status::Cancelled), change.now).await?;
    let stored = find_in(&mut tx, id).await?;
    if !done {
        return match stored.status_at(change.now) {
            Status::Cancelled => Ok(stored),
            other => Err(not_in_state(&stored, other, "cancelled")),
        };
    }
    audit::write(&mut tx, &entry("cancelled", &stored, change)).await?;
    tx.commit().await?;
    Ok(stored)
}

/// Sets the price back to the one before the proposal, unless it has changed since.
pub(crate) async fn revert(
    db: &Db,
    outbox: &Outbox,
    id: &str,
    change: ChangeContext<'_>,
) -> Result<StoredProposal, Fault> {
    let mut tx = db.begin().await?;
    let done = step(&mut tx, id, (Status::Applied, Status::Reverted), change.now).await?;
    let stored = find_in(&mut tx, id).await?;
    if !done {
        return match stored.status_at(change.now) {
            Status::Reverted => Ok(stored),
            other => Err(not_in_state(&stored, other, "reverted")),
        };
    }
    switch::must_be_off(db, &mut tx).await?;
    let repricing = Repricing {
        expected: stored.proposed,
        new: stored.current,
        simulated: from_simulated(&mut tx, id).await?,
    };
    let mut entry = entry("reverted", &stored, change);
    std::mem::swap(&mut entry.from, &mut entry.to);
    set_price(&mut tx, outbox, &stored, repricing, (EventKind::Reverted, entry)).await?;
    tx.commit().await?;
    outbox.notify();
    Ok(stored)
}

/// Moves a proposal from one state to another; `false` if it was not in the first one.
async fn step(
    tx: &mut Tx,
    id: &str,
    (from, to): (Status, Status),
    now: Millis,
) -> Result<bool, Fault> {
    let statement = sql("UPDATE pricing_proposal SET status = $1, ended_ms = $2
         WHERE id = $3 AND status = $4 AND ($4 <> 'pending' OR expires_ms > $2)");
    let bound = statement.bind(to.word()).bind(now.0).bind(id).bind(from.word());
    Ok(tx.execute(bound).await? == 1)
}

fn entry(action: &str, stored: &StoredProposal, change: ChangeContext<'_>) -> AuditEntry {
    AuditEntry {
        proposal: Some(stored.id.clone()),
        from: Some(stored.current),
        to: Some(stored.proposed),
        note: change.note.map(str::to_owned),
        simulated: stored.body.simulated,
        ..AuditEntry::new(change.now, action, &stored.sku, change.by)
    }
}

/// The `data` of a webhook event about an entry of the audit log.
fn event_data(entry: &AuditEntry) -> Value {
    json!({ "sku": entry.sku, "proposal_id": entry.proposal, "by": entry.by,
        "from_price": entry.from, "to_price": entry.to, "note": entry.note,
        "simulated": entry.simulated })
}

fn read(row: &SqlRow) -> Result<StoredProposal, Fault> {
    let lost = || Fault::internal("a proposal in storage cannot be read");
    let amount = |column| Amount::from_micros(row.int(column)?).ok_or_else(lost);
    Ok(StoredProposal {
        id: row.text(0)?,
        sku: row.text(1)?,
        status: Status::parse(row.text_ref(2)?).ok_or_else(lost)?,
        current: amount(3)?,
        proposed: amount(4)?,
        by: row.text(5)?,
        created: Millis(row.int(6)?),
        expires: Millis(row.int(7)?),
        ended: row.int_or_null(8)?.map(Millis),
        body: serde_json::from_str(row.text_ref(9)?).map_err(Fault::internal)?,
    })
}

fn unknown() -> Fault {
    let message = "there is no proposal with this id; list_proposals lists those there are";
    Fault::not_found("proposal_not_found", message)
}

fn not_in_state(stored: &StoredProposal, found: Status, wanted: &str) -> Fault {
    if found == Status::Expired {
        let at = stored.expires.to_rfc3339();
        let message = format!("the proposal expired at {at}; propose again for a fresh one");
        return Fault::new(Kind::Conflict, "proposal_expired", message);
    }
    let message = format!("the proposal is {}, so it cannot be {wanted}", found.word());
    Fault::new(Kind::Conflict, "proposal_state", message)
}

fn stale(stored: &StoredProposal, expected: Amount, found: Option<Amount>) -> Fault {
    let found = found.map_or_else(|| "unknown".to_owned(), |price| price.to_string());
    let sku = &stored.sku;
    let message = format!(
        "the price of {sku} is {found} now, not {expected} as when the proposal counted on it; \
         propose again from the present price"
    );
    Fault::new(Kind::Conflict, "proposal_stale", message)
}
