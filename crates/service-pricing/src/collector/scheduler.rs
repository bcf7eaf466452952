//! Starts the collections that are due. A schedule of one product queues its collection; one of the
//! whole catalogue queues a run that goes through the catalogue page by page.

use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, Millis};
use fault::Fault;
use jobs::{JobContext, Jobs, NewJob};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use store::{Db, Tx};

use crate::collector::KIND;
use crate::collector::collection_job::JobPayload;
use crate::collector::recurrence::Recurrence;
use crate::storage::products;
use crate::storage::schedules::{self, Schedule};

/// The kind of a run over the catalogue in the queue.
pub(crate) const RUN_KIND: &str = "pricing.schedule";
/// The scheduler reads the due schedules this often.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The most schedules that one reading starts.
const DUE_MAX: u32 = 100;
/// One transaction of a run queues the collections of this many products.
const PRODUCTS_PER_PAGE: u32 = 200;
const COLLECTION_ATTEMPTS: u32 = 3;
/// The attempts of a run; each one may find the queue full.
const RUN_ATTEMPTS: u32 = 100;
/// The SKU of a collection of every product.
const EVERY_PRODUCT: &str = "*";

/// The payload of a run over the catalogue.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RunPayload {
    schedule: String,
    market: String,
    connector: String,
    depth: u32,
    owner: String,
    /// The last SKU of the previous page.
    after: String,
}

#[derive(Clone)]
pub(crate) struct Scheduler {
    pub(crate) db: Db,
    pub(crate) jobs: Jobs,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Scheduler {
    /// Starts due collections until the future is dropped.
    pub(crate) async fn run(self) {
        loop {
            if let Err(fault) = self.start_due().await {
                tracing::warn!(code = fault.code(), "due collections were not started: {fault}");
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Starts every collection that is due now; one that was missed several times runs once.
    pub(crate) async fn start_due(&self) -> Result<(), Fault> {
        let now = self.clock.now();
        for schedule in schedules::due(&self.db, now, DUE_MAX).await? {
            self.start(&schedule, now).await?;
        }
        Ok(())
    }

    async fn start(&self, schedule: &Schedule, now: Millis) -> Result<(), Fault> {
        let recurrence = Recurrence::parse(&schedule.recurrence);
        let Some(next) = recurrence.and_then(|it| it.next(schedule.next, now)) else {
            let message = "a stored schedule cannot be read; it was paused";
            tracing::error!(schedule = schedule.id, "{message}");
            return schedules::set_paused(&self.db, &schedule.id, true, now).await.map(drop);
        };
        let mut tx = self.db.begin().await?;
        if schedules::take_due_run(&mut tx, schedule, next, now).await? {
            let job = self.jobs.push_in(&mut tx, &first_job(schedule)?).await?.job;
            schedules::set_last_job(&mut tx, &schedule.id, &job.id).await?;
            tx.commit().await?;
            self.jobs.notify_workers();
        }
        Ok(())
    }

    /// Queues the collections of one page of the catalogue and the run of the next page, in the
    /// transaction that completes this run.
    pub(crate) async fn run_page(&self, context: &JobContext) -> Result<(), Fault> {
        let run: RunPayload = context.payload()?;
        let with_sources = run.connector == "http";
        let skus =
            products::skus_after(&self.db, &run.after, with_sources, PRODUCTS_PER_PAGE).await?;
        let mut tx = self.db.begin().await?;
        for sku in &skus {
            self.queue_collection(&mut tx, &run, sku).await?;
        }
        if let Some(last) = skus.last().filter(|_| skus.len() == PRODUCTS_PER_PAGE as usize) {
            let rest = RunPayload { after: last.clone(), ..run };
            self.jobs.push_in(&mut tx, &run_job(&rest)?).await?;
        }
        context.fence().complete_in(&mut tx, &json!({ "started": skus.len() })).await?;
        tx.commit().await?;
        self.jobs.notify_workers();
        Ok(())
    }

    async fn queue_collection(
        &self,
        tx: &mut Tx,
        run: &RunPayload,
        sku: &str,
    ) -> Result<(), Fault> {
        let payload = JobPayload {
            sku: sku.to_owned(),
            market: run.market.clone(),
            connector: run.connector.clone(),
            depth: run.depth,
            trial: false,
        };
        let job = collection_job(&payload, &run.schedule, &run.owner)?;
        self.jobs.push_in(tx, &job).await.map(drop)
    }
}

/// The job that a due schedule queues.
fn first_job(schedule: &Schedule) -> Result<NewJob, Fault> {
    let Schedule { id, market, connector, depth, by, .. } = schedule;
    let files = connector == "file";
    // One collection from the drop folder has the ticks of every product.
    let sku = schedule.sku.as_deref().or(files.then_some(EVERY_PRODUCT));
    let (market, connector, depth) = (market.clone(), connector.clone(), *depth);
    match sku {
        Some(sku) => {
            let sku = sku.to_owned();
            let payload = JobPayload { sku, market, connector, depth, trial: false };
            collection_job(&payload, id, by)
        }
        None => {
            let (schedule, owner, after) = (id.clone(), by.clone(), String::new());
            run_job(&RunPayload { schedule, market, connector, depth, owner, after })
        }
    }
}

/// A collection of a schedule: none is queued while the one before it is unfinished.
fn collection_job(payload: &JobPayload, schedule: &str, owner: &str) -> Result<NewJob, Fault> {
    let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(payload.sku.as_bytes())[..16]);
    let job = NewJob::new(KIND, payload)?.key(format!("schedule:{schedule}:{digest}"));
    Ok(job.owner(owner).max_attempts(COLLECTION_ATTEMPTS))
}

fn run_job(run: &RunPayload) -> Result<NewJob, Fault> {
    Ok(NewJob::new(RUN_KIND, run)?.owner(run.owner.as_str()).max_attempts(RUN_ATTEMPTS))
}
