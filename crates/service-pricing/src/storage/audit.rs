//! The audit log: who changed which price, when and how. The transaction of a change adds its row;
//! rows are never updated.

use clock::Millis;
use fault::Fault;
use pricing_engine::Amount;
use store::{Db, SqlRow, SqlValue, Tx, sql, sql_built};

use crate::storage::proposals::within;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AuditEntry {
    pub(crate) at: Millis,
    /// `proposed`, `applied`, `cancelled`, `reverted`, `pushed`, `push_failed`, `policy`,
    /// `kill_switch`, `simulated_ticks_removed`.
    pub(crate) action: String,
    /// Empty if the change concerns no single product.
    pub(crate) sku: String,
    pub(crate) proposal: Option<String>,
    pub(crate) by: String,
    pub(crate) from: Option<Amount>,
    pub(crate) to: Option<Amount>,
    pub(crate) note: Option<String>,
    /// Whether simulated ticks took part in the price.
    pub(crate) simulated: bool,
}

impl AuditEntry {
    pub(crate) fn new(at: Millis, action: &str, sku: &str, by: &str) -> Self {
        Self {
            at,
            action: action.to_owned(),
            sku: sku.to_owned(),
            by: by.to_owned(),
            proposal: None,
            from: None,
            to: None,
            note: None,
            simulated: false,
        }
    }
}

pub(crate) async fn write(tx: &mut Tx, entry: &AuditEntry) -> Result<(), Fault> {
    let statement =
        sql("INSERT INTO pricing_audit (at_ms, action, sku, proposal_id, by_subject, from_price,
             to_price, note, simulated) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)");
    let bound = statement
        .bind(entry.at.0)
        .bind(entry.action.as_str())
        .bind(entry.sku.as_str())
        .bind(entry.proposal.as_deref())
        .bind(entry.by.as_str())
        .bind(entry.from.map(Amount::micros))
        .bind(entry.to.map(Amount::micros))
        .bind(entry.note.as_deref())
        .bind(entry.simulated);
    tx.execute(bound).await.map(drop)
}

/// Entries before `before` (a number this returned), newest first, each with its number.
pub(crate) async fn page(
    db: &Db,
    (sku, prefixes): (Option<&str>, Option<&[String]>),
    before: i64,
    limit: u32,
) -> Result<Vec<(i64, AuditEntry)>, Fault> {
    let mut values: Vec<SqlValue> = vec![before.into(), limit.into()];
    let mut of = within(prefixes, &mut values);
    if let Some(sku) = sku {
        values.push(sku.into());
        of.push_str(&format!(" AND sku = ${}", values.len()));
    }
    let statement = sql_built(format!(
        "SELECT seq, at_ms, action, sku, proposal_id, by_subject, from_price, to_price, note,
             simulated
         FROM pricing_audit WHERE seq < $1 AND {of} ORDER BY seq DESC LIMIT $2"
    ));
    let statement = statement.bind_all(values);
    db.fetch_all(statement).await?.iter().map(read).collect()
}

/// The last change of a product's price, with the price in force.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LastChange {
    pub(crate) sku: String,
    /// The catalogue's price, which an import may have changed since.
    pub(crate) price: Option<Amount>,
    pub(crate) currency: Option<String>,
    pub(crate) previous: Option<Amount>,
    pub(crate) at: Millis,
    pub(crate) action: String,
    pub(crate) proposal: Option<String>,
    pub(crate) simulated: bool,
}

/// The last change of each product whose price a proposal set, in the order of SKUs after `after`.
pub(crate) async fn last_changes(
    db: &Db,
    after: &str,
    prefixes: Option<&[String]>,
    limit: u32,
) -> Result<Vec<LastChange>, Fault> {
    let mut values: Vec<SqlValue> = vec![after.into(), limit.into()];
    let of = within(prefixes, &mut values);
    let statement = sql_built(format!(
        "SELECT a.sku, p.price, p.currency, a.from_price, a.at_ms, a.action, a.proposal_id,
             a.simulated
         FROM pricing_audit a JOIN pricing_product p ON p.sku = a.sku
         WHERE a.seq IN (
             SELECT MAX(seq) FROM pricing_audit
             WHERE action IN ('applied', 'reverted') AND sku > $1 AND {of}
             GROUP BY sku ORDER BY sku LIMIT $2)
         ORDER BY a.sku"
    ));
    let amount =
        |row: &SqlRow, at| Ok::<_, Fault>(row.int_or_null(at)?.and_then(Amount::from_micros));
    let change = |row: &SqlRow| {
        Ok(LastChange {
            sku: row.text(0)?,
            price: amount(row, 1)?,
            currency: row.text_or_null(2)?,
            previous: amount(row, 3)?,
            at: Millis(row.int(4)?),
            action: row.text(5)?,
            proposal: row.text_or_null(6)?,
            simulated: row.flag(7)?,
        })
    };
    db.fetch_all(statement.bind_all(values)).await?.iter().map(change).collect()
}

fn read(row: &SqlRow) -> Result<(i64, AuditEntry), Fault> {
    let entry = AuditEntry {
        at: Millis(row.int(1)?),
        action: row.text(2)?,
        sku: row.text(3)?,
        proposal: row.text_or_null(4)?,
        by: row.text(5)?,
        from: row.int_or_null(6)?.and_then(Amount::from_micros),
        to: row.int_or_null(7)?.and_then(Amount::from_micros),
        note: row.text_or_null(8)?,
        simulated: row.flag(9)?,
    };
    Ok((row.int(0)?, entry))
}
