//! The sources of ticks: the result of each one's last check, and the files that were imported.

use std::collections::HashMap;

use clock::Millis;
use fault::Fault;
use store::{Db, Tx, sql};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SourceCheck {
    pub(crate) at: Millis,
    /// What went wrong, if anything did.
    pub(crate) trouble: Option<String>,
}

pub(crate) async fn checks(db: &Db) -> Result<HashMap<String, SourceCheck>, Fault> {
    let rows = db.fetch_all(sql("SELECT name, status, checked_ms, note FROM pricing_source"));
    let mut checks = HashMap::new();
    for row in rows.await? {
        let failed = row.text_ref(1)? == "error";
        let note = row.text_or_null(3)?.filter(|_| failed);
        let trouble = note.or_else(|| failed.then(String::new));
        checks.insert(row.text(0)?, SourceCheck { at: Millis(row.int(2)?), trouble });
    }
    Ok(checks)
}

/// Stores the result of a check; an older check does not replace a newer one.
pub(crate) async fn checked(tx: &mut Tx, name: &str, check: &SourceCheck) -> Result<(), Fault> {
    let status = if check.trouble.is_some() { "error" } else { "active" };
    let statement =
        sql("INSERT INTO pricing_source (name, status, checked_ms, note) VALUES ($1, $2, $3, $4)
         ON CONFLICT (name) DO UPDATE SET status = excluded.status,
             checked_ms = excluded.checked_ms, note = excluded.note
         WHERE pricing_source.checked_ms <= excluded.checked_ms");
    let statement = statement.bind(name).bind(status).bind(check.at.0);
    tx.execute(statement.bind(check.trouble.as_deref())).await.map(drop)
}

/// Whether a file with this content was imported before.
pub(crate) async fn is_imported(db: &Db, hash: &str) -> Result<bool, Fault> {
    let found = db.fetch_optional(sql("SELECT 1 FROM pricing_file WHERE hash = $1").bind(hash));
    Ok(found.await?.is_some())
}

/// Records an imported file; `false` if it was recorded before.
pub(crate) async fn record_import(
    tx: &mut Tx,
    hash: &str,
    name: &str,
    now: Millis,
) -> Result<bool, Fault> {
    let statement = sql("INSERT INTO pricing_file (hash, name, taken_ms) VALUES ($1, $2, $3)
         ON CONFLICT DO NOTHING");
    Ok(tx.execute(statement.bind(hash).bind(name).bind(now.0)).await? == 1)
}
