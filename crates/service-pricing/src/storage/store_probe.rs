//! Checks for `health_check` that the database can be read and written. The check writes one row, at
//! most once in 2 seconds, whatever the number of callers.

use std::time::Duration;

use clock::Millis;
use fault::{Fault, Kind};
use store::{Db, sql};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

/// How long a result is used for.
const FRESH: Duration = Duration::from_secs(2);
/// How long a caller waits for a result.
const WAIT: Duration = Duration::from_secs(3);

pub(crate) struct StoreProbe {
    db: Db,
    service: &'static str,
    last: Mutex<Option<ProbeResult>>,
}

struct ProbeResult {
    at: Instant,
    trouble: Option<String>,
}

impl StoreProbe {
    pub(crate) fn new(db: Db, service: &'static str) -> Self {
        Self { db, service, last: Mutex::default() }
    }

    /// What is wrong with the database, if anything. Callers that come during a check wait for its
    /// result.
    pub(crate) async fn trouble(&self, now: Millis) -> Option<String> {
        let deadline = Instant::now() + WAIT;
        let late = || Some(format!("the database does not take a write within {WAIT:?}"));
        let Ok(mut last) = timeout_at(deadline, self.last.lock()).await else { return late() };
        if let Some(fresh) = last.as_ref().filter(|it| it.at.elapsed() < FRESH) {
            return fresh.trouble.clone();
        }
        let trouble = match timeout_at(deadline, look(&self.db, self.service, now)).await {
            Ok(looked) => looked.err().map(|fault| described(&fault)),
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

/// Reads a table of the service through the readers, then writes a row and commits it.
async fn look(db: &Db, service: &str, now: Millis) -> Result<(), Fault> {
    db.fetch_optional(sql("SELECT is_on FROM pricing_switch WHERE name = 'all'")).await?;
    let statement = sql("INSERT INTO pricing_probe (service, checked_ms) VALUES ($1, $2)
         ON CONFLICT (service) DO UPDATE SET checked_ms = excluded.checked_ms");
    db.execute(statement.bind(service).bind(now.0)).await.map(drop)
}
