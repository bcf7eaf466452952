//! The collector's contract: ticks in, features out, and the collections in between.

pub(crate) mod catalogue;
pub(crate) mod catalogue_csv;
mod collection_job;
mod collection_worker;
mod job_follower;
pub(crate) mod names;
mod recurrence;
mod schedule_reply;
mod scheduler;
pub(crate) mod tick;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::market::Millis;
use clock::IdGenerator;
use contract::{Contract, ContractError, Scope, Service, Tools};
use jobs::{JobMeter, Jobs, Worker, WorkerConfig};
use store::{Db, StoreProbe};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::collector::scheduler::Scheduler;
use crate::connectors::file::DropFolder;
use crate::connectors::http::{FetchPolicy, Pages};
use crate::connectors::mock::MockConnector;
use crate::connectors::{Connector, Connectors};
use crate::service_info::{Dependency, HealthReporting, ServiceInfo};
use crate::storage::tick_writer::TickWriter;
use crate::tools::{auth_metrics, health_check, ping_health, version_info};

/// The kind of a collection in the queue.
pub(crate) const KIND: &str = "pricing.collect";
/// Collections that run at once in one process.
const CONCURRENCY: usize = 4;
/// How long a collection may go on once the server is stopping.
const GRACE: Duration = Duration::from_secs(2);

/// What the collector is built from. The database has this crate's migrations and those of `jobs`.
pub struct CollectorParts {
    pub db: Db,
    pub jobs: Jobs,
    pub service_info: ServiceInfo,
    /// The data folder; the file connector reads ticks from `pricing/drop` in it.
    pub data: PathBuf,
    /// The seed of the mock connector's simulated market.
    pub seed: u64,
    /// Whether the http connector may request addresses of private networks.
    pub private_addresses: bool,
    pub meter: Option<Arc<dyn JobMeter>>,
    pub tasks: TaskTracker,
    pub stop: CancellationToken,
}

pub(crate) struct Collector {
    db: Db,
    jobs: Jobs,
    tick_writer: TickWriter,
    connectors: Arc<Connectors>,
    private: bool,
    service_info: ServiceInfo,
    probe: StoreProbe,
    ids: IdGenerator,
}

impl Collector {
    fn now(&self) -> Millis {
        self.service_info.now()
    }
}

impl HealthReporting for Collector {
    fn service_info(&self) -> &ServiceInfo {
        &self.service_info
    }

    async fn dependencies(&self) -> Vec<Dependency> {
        let trouble = self.probe.trouble().await;
        vec![Dependency { name: "database", trouble, vital: true }]
    }
}

/// The service with its tool table, and a worker for its collections on the given tracker.
pub fn collector(parts: CollectorParts) -> Result<Service, ContractError> {
    let contract = Contract::load("collector")?;
    Tools::of(Arc::new(assemble(parts)))
        .tool("start_collection", Scope::Collect, tools::start_collection::call)
        .tool("get_job_status", Scope::Read, tools::get_job_status::call)
        .tool("fetch_market_features", Scope::Read, tools::fetch_market_features::call)
        .tool("ingest_tick", Scope::Write, tools::ingest_tick::call)
        .tool("import_product_catalog", Scope::Import, tools::import_product_catalog::call)
        .tool("list_sources", Scope::Read, tools::list_sources::call)
        .tool("remove_simulated_ticks", Scope::Write, tools::remove_simulated_ticks::call)
        .tool("schedule_collection", Scope::Collect, tools::schedule_collection::call)
        .tool("list_schedules", Scope::Read, tools::list_schedules::call)
        .tool("pause_schedule", Scope::Collect, tools::pause_schedule::call)
        .tool("remove_schedule", Scope::Collect, tools::remove_schedule::call)
        .tool("auth_metrics", Scope::Admin, auth_metrics::call::<Collector>)
        .tool("ping_health", Scope::Open, ping_health::call::<Collector>)
        .tool("health_check", Scope::Open, health_check::call::<Collector>)
        .tool("version_info", Scope::Open, version_info::call::<Collector>)
        .follow("start_collection", job_follower::follow)
        .bind(contract, crate::envelope::PricingEnvelope)
}

fn assemble(parts: CollectorParts) -> Collector {
    let CollectorParts { db, jobs, service_info, data, tasks, stop, .. } = parts;
    let clock = Arc::clone(&service_info.clock);
    let pages = Pages::new(FetchPolicy::defaults(parts.private_addresses), Arc::clone(&clock));
    let folder = data.join("pricing").join("drop");
    let connectors: Connectors = vec![
        Arc::new(MockConnector { seed: parts.seed }) as Arc<dyn Connector>,
        Arc::new(DropFolder { folder, db: db.clone() }),
        Arc::new(pages),
    ];
    let connectors = Arc::new(connectors);
    let scheduler = Scheduler { db: db.clone(), jobs: jobs.clone(), clock: Arc::clone(&clock) };
    let handler = collection_worker::CollectionWorker {
        db: db.clone(),
        clock: Arc::clone(&clock),
        connectors: Arc::clone(&connectors),
        scheduler: scheduler.clone(),
    };
    let config =
        WorkerConfig { stop_grace: GRACE, shutdown_grace: GRACE, ..WorkerConfig::default() };
    let worker = Worker::new(jobs.clone(), config);
    let worker = parts.meter.into_iter().fold(worker, Worker::meter);
    let ends = stop.clone();
    let kinds = [KIND, scheduler::RUN_KIND];
    tasks.spawn(async move { worker.run(&kinds, CONCURRENCY, Arc::new(handler), ends).await });
    let ends = stop.clone();
    tasks.spawn(async move { ends.run_until_cancelled(scheduler.run()).await });
    let tick_writer = TickWriter::start(db.clone(), clock, &tasks, stop);
    let probe = StoreProbe::new(db.clone(), "collector");
    let private = parts.private_addresses;
    let ids = IdGenerator::default();
    Collector { db, jobs, tick_writer, connectors, private, service_info, probe, ids }
}

#[cfg(test)]
mod tests;
