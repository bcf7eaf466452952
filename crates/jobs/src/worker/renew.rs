//! Keeps the leases of a worker's jobs, writes their progress, and hears that they should stop.

use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use fault::Fault;

use super::WorkerConfig;
use super::crew::Crew;
use crate::context::{Live, Said, Stop};
use crate::queue::Jobs;
use crate::sql::{self, Renewed, millis};

/// However short a configuration is.
const RENEW_LEAST: Duration = Duration::from_millis(5);

/// Never returns.
pub(super) async fn keep_renewing(jobs: &Jobs, crew: &Crew, config: &WorkerConfig) {
    let every = config.progress_every.min(config.lease / 3).max(RENEW_LEAST);
    loop {
        tokio::time::sleep(every).await;
        let due = due(crew, millis(config.lease), jobs.now());
        if due.is_empty() {
            continue;
        }
        // One that fails is tried again at the next turn; a lease bears a few.
        if let Err(fault) = renew_all(jobs, due, config).await {
            tracing::warn!(fault = %fault, code = fault.code(), "leases could not be renewed");
        }
    }
}

/// Those with something new to say, and those whose lease has lost a third.
fn due(crew: &Crew, lease_ms: i64, now: Millis) -> Vec<(Arc<Live>, Said)> {
    let members = crew.members().into_iter().map(|live| {
        let said = live.progress();
        (live, said)
    });
    let left = |live: &Live| live.lease_until().0.saturating_sub(now.0);
    members.filter(|(live, said)| said.is_news() || left(live) <= lease_ms / 3 * 2).collect()
}

async fn renew_all(
    jobs: &Jobs,
    due: Vec<(Arc<Live>, Said)>,
    config: &WorkerConfig,
) -> Result<(), Fault> {
    let db = &jobs.0.db;
    let mut tx = db.begin().await?;
    let until = Millis(jobs.now().0.saturating_add(millis(config.lease)));
    let mut renewed = Vec::with_capacity(due.len());
    for (live, said) in &due {
        renewed.push(sql::renew(db, &mut tx, live.hold(), until, &said.value).await?);
    }
    tx.commit().await?;
    for ((live, said), renewed) in due.iter().zip(renewed) {
        match renewed {
            Renewed::Held { cancel_asked } => {
                live.renewed(until, said);
                if cancel_asked {
                    live.stop(Stop::Cancelled);
                }
                if said.is_news() {
                    jobs.0.hub.changed(&live.job.id);
                }
            }
            Renewed::Locked => {}
            Renewed::Lost => live.stop(Stop::LeaseLost),
        }
    }
    Ok(())
}
