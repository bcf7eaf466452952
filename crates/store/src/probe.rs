//! Checks for health tools that the database can be read and written. A check writes one row, at most
//! once in 2 seconds for each probe, whatever the number of callers.

use std::time::Duration;

use fault::{Fault, Kind};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::db::Db;
use crate::sql::sql;

/// How long a result is used for.
const FRESH: Duration = Duration::from_secs(2);
/// How long a caller waits for a result.
const WAIT: Duration = Duration::from_secs(3);

/// The table that checks write to, one row for each probe.
pub(crate) const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS store_probe (name TEXT PRIMARY KEY, checks BIGINT NOT NULL)";

/// The health of a database that was migrated.
pub struct StoreProbe {
    db: Db,
    name: &'static str,
    last: Mutex<Option<ProbeResult>>,
}

struct ProbeResult {
    at: Instant,
    trouble: Option<String>,
}

impl StoreProbe {
    /// `name` is the row of this probe.
    pub fn new(db: Db, name: &'static str) -> Self {
        Self { db, name, last: Mutex::default() }
    }

    /// What is wrong with the database, if anything. Callers that come during a check wait for its
    /// result.
    pub async fn trouble(&self) -> Option<String> {
        let deadline = Instant::now() + WAIT;
        let late = || Some(format!("the database does not take a write within {WAIT:?}"));
        let Ok(mut last) = timeout_at(deadline, self.last.lock()).await else { return late() };
        if let Some(fresh) = last.as_ref().filter(|it| it.at.elapsed() < FRESH) {
            return fresh.trouble.clone();
        }
        let trouble = match timeout_at(deadline, read_and_write(&self.db, self.name)).await {
            Ok(checked) => checked.err().map(|fault| described(&fault)),
            Err(_) => late(),
        };
        *last = Some(ProbeResult { at: Instant::now(), trouble: trouble.clone() });
        trouble
    }
}

/// Logs the cause, which is not shown to callers.
fn described(fault: &Fault) -> String {
    let cause = std::error::Error::source(fault).map(ToString::to_string);
    tracing::warn!(code = fault.code(), cause, "the database failed a health check: {fault}");
    match fault.kind() {
        Kind::Internal => "the database cannot be read or written; see the log".to_owned(),
        _ => fault.message().to_owned(),
    }
}

/// Reads the probe's row through the readers, then writes it and commits.
async fn read_and_write(db: &Db, name: &str) -> Result<(), Fault> {
    db.fetch_optional(sql("SELECT checks FROM store_probe WHERE name = $1").bind(name)).await?;
    let statement = sql("INSERT INTO store_probe (name, checks) VALUES ($1, 1)
         ON CONFLICT (name) DO UPDATE SET checks = store_probe.checks + 1");
    db.execute(statement.bind(name)).await.map(drop)
}
