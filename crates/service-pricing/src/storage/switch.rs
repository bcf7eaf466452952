//! The kill switch: one row that stops every change of a price. The transaction of a change reads
//! and locks it, so that no change commits after the switch was turned on.

use clock::Millis;
use fault::{Fault, Kind};
use store::{Db, SqlRow, Tx, sql};

const FIND: &str =
    "SELECT is_on, reason, since_ms, by_subject FROM pricing_switch WHERE name = 'all'";
/// Locks the row on PostgreSQL until the transaction ends; SQLite has one writer at a time.
const HOLD: &str = "SELECT is_on, reason, since_ms, by_subject FROM pricing_switch
    WHERE name = 'all' FOR SHARE";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Switch {
    pub(crate) on: bool,
    pub(crate) reason: Option<String>,
    pub(crate) since: Millis,
    pub(crate) by: String,
}

/// The switch; `None` if it was never set.
pub(crate) async fn find(db: &Db) -> Result<Option<Switch>, Fault> {
    let found = db.fetch_optional(sql(FIND)).await?.map(|row| read(&row)).transpose()?;
    Ok(found.filter(|it| it.since.0 > 0))
}

pub(crate) async fn is_on(db: &Db) -> Result<bool, Fault> {
    Ok(find(db).await?.is_some_and(|it| it.on))
}

/// Fails while the switch is on.
pub(crate) async fn must_be_off(db: &Db, tx: &mut Tx) -> Result<(), Fault> {
    let found =
        tx.fetch_optional(sql(db.choose(FIND, HOLD))).await?.map(|row| read(&row)).transpose()?;
    let Some(switch) = found.filter(|it| it.on) else { return Ok(()) };
    let reason = switch.reason.map(|it| format!(": {it}")).unwrap_or_default();
    let since = switch.since.to_rfc3339();
    let message = format!(
        "all price changes are stopped since {since} by {}{reason}; set_kill_switch allows them again",
        switch.by
    );
    Err(Fault::new(Kind::Conflict, "kill_switch", message))
}

pub(crate) async fn set(tx: &mut Tx, switch: &Switch) -> Result<(), Fault> {
    let statement = sql("INSERT INTO pricing_switch (name, is_on, reason, since_ms, by_subject)
         VALUES ('all', $1, $2, $3, $4)
         ON CONFLICT (name) DO UPDATE SET is_on = excluded.is_on, reason = excluded.reason,
             since_ms = excluded.since_ms, by_subject = excluded.by_subject");
    let bound = statement
        .bind(switch.on)
        .bind(switch.reason.as_deref())
        .bind(switch.since.0)
        .bind(switch.by.as_str());
    tx.execute(bound).await.map(drop)
}

fn read(row: &SqlRow) -> Result<Switch, Fault> {
    Ok(Switch {
        on: row.flag(0)?,
        reason: row.text_or_null(1)?,
        since: Millis(row.int(2)?),
        by: row.text(3)?,
    })
}
