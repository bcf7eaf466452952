//! Both pricing services on their own store, without a transport.

use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, SystemClock};
use contract::{Authenticator, Call, CallRecord, Caller, Catalog, Credential, Meter, Pipeline};
use fault::Fault;
use jobs::{Jobs, QueueLimits};
use serde_json::{Value, json};
use service_pricing::{
    CollectorParts, OptimizerParts, PushTargets, ServiceInfo, collector, optimizer,
};
use store::{Db, StoreConfig};
use testkit::TempFolder;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Outcome;

const DAY: Duration = Duration::from_hours(24);

pub(crate) struct PricingServices {
    pipeline: Pipeline,
    caller: Caller,
    db: Db,
    tasks: TaskTracker,
    stop: CancellationToken,
    _folder: TempFolder,
}

/// Refuses every credential: the benchmark passes its callers directly.
struct Closed;

#[async_trait::async_trait]
impl Authenticator for Closed {
    async fn authenticate(&self, _: &Credential, _: &str) -> Result<Caller, Fault> {
        Err(Fault::internal("who calls is known"))
    }
}

struct NoMeter;

impl Meter for NoMeter {
    fn record(&self, _: &CallRecord<'_>) {}
}

impl PricingServices {
    pub(crate) async fn open() -> Outcome<Self> {
        let folder = TempFolder::new();
        let db = Db::open(&StoreConfig::sqlite(folder.path())).await?;
        db.migrate(&[jobs::MIGRATIONS, service_pricing::MIGRATIONS]).await?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let service_info = |service| ServiceInfo {
            service,
            version: "0".to_owned(),
            build: None,
            commit: None,
            clock: Arc::clone(&clock),
            started: clock.now(),
            counters: Box::new(|| json!({})),
        };
        let jobs = Jobs::new(db.clone(), Arc::clone(&clock), QueueLimits::default());
        let collects = collector(CollectorParts {
            db: db.clone(),
            jobs: jobs.clone(),
            service_info: service_info("data-collector"),
            data: folder.path().to_owned(),
            seed: 1,
            private_addresses: false,
            meter: None,
            tasks: tasks.clone(),
            stop: stop.clone(),
        })?;
        let optimizes = optimizer(OptimizerParts {
            db: db.clone(),
            service_info: service_info("price-optimizer"),
            proposal_life: DAY,
            jobs,
            push_targets: PushTargets::default(),
            job_meter: None,
            push_meter: None,
            tasks: tasks.clone(),
            stop: stop.clone(),
        })?;
        let catalog = Catalog::new(vec![collects, optimizes])?;
        let pipeline = Pipeline::new(catalog, Arc::new(Closed), Arc::new(NoMeter), DAY);
        let scopes = ["read", "write", "propose", "apply"].map(str::to_owned);
        let caller = Caller::new("bench", scopes);
        Ok(Self { pipeline, caller, db, tasks, stop, _folder: folder })
    }

    /// The result, or the error object as text.
    pub(crate) async fn call(&self, tool: &str, args: Value) -> Result<Value, String> {
        let Value::Object(mut args) = args else { return Err("no arguments".to_owned()) };
        args.insert("capability_token".to_owned(), Value::from("known"));
        let found = self.pipeline.catalog().find(None, tool);
        let tool = found.ok_or_else(|| format!("there is no {tool}"))?;
        let outcome = self.pipeline.call_for(&self.caller, tool, Call::new(args)).await;
        outcome.map(|it| it.result()).map_err(|failure| failure.tool_error.to_string())
    }

    pub(crate) async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.db.close().await;
    }
}
