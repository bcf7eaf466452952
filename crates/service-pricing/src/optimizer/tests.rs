//! The optimizer as a whole, on both engines.

mod concurrency;
mod explanations;
mod limits;
mod model;
mod pushes;
mod rules;

use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use contract::{Authenticator, Call, Caller, Catalog, Credential, Pipeline};
use fault::Fault;
use jobs::{Jobs, QueueLimits};
use pricing_engine::Amount;
use serde_json::{Value, json};
use store::Db;
use testkit::FakeClock;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::storage::products::{self, Product};
use crate::storage::ticks::{self, Tick};
use crate::{OptimizerParts, PushTargets, ServiceInfo, optimizer};

const NOW: Millis = Millis(1_800_000_000_000);
const LIFE: Duration = Duration::from_hours(24);

/// Refuses every credential; the tests pass the caller to the pipeline themselves.
struct Closed;

#[async_trait::async_trait]
impl Authenticator for Closed {
    async fn authenticate(&self, _: &Credential, _: &str) -> Result<Caller, Fault> {
        Err(Fault::internal("the tests say who calls"))
    }
}

struct NoMeter;

impl contract::Meter for NoMeter {
    fn record(&self, _: &contract::CallRecord<'_>) {}
}

struct Fixture {
    pipeline: Pipeline,
    db: Db,
    clock: Arc<FakeClock>,
    /// May do everything.
    master: Caller,
}

fn caller(subject: &str, scopes: &[&str]) -> Caller {
    let scopes: Vec<String> = scopes.iter().map(|&it| it.to_owned()).collect();
    Caller::new(subject, scopes)
}

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

impl Fixture {
    async fn new(db: &Db) -> Self {
        db.migrate(&[jobs::MIGRATIONS, crate::MIGRATIONS]).await.unwrap();
        let clock = Arc::new(FakeClock::new(NOW));
        let service_info = ServiceInfo {
            service: "price-optimizer",
            version: "0".to_owned(),
            build: None,
            commit: None,
            clock: Arc::clone(&clock) as _,
            started: NOW,
            counters: Box::new(|| json!({})),
        };
        let jobs = Jobs::new(db.clone(), Arc::clone(&clock) as _, QueueLimits::default());
        let parts = OptimizerParts {
            db: db.clone(),
            service_info,
            proposal_life: LIFE,
            jobs,
            push_targets: PushTargets::default(),
            job_meter: None,
            push_meter: None,
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        };
        let catalog = Catalog::new(vec![optimizer(parts).unwrap()]).unwrap();
        let timeout = Duration::from_secs(120);
        let pipeline = Pipeline::new(catalog, Arc::new(Closed), Arc::new(NoMeter), timeout);
        let master = caller("master", &["read", "write", "propose", "explain", "apply", "admin"]);
        Self { pipeline, db: db.clone(), clock, master }
    }

    /// The answer, or the error object.
    async fn call_as(&self, caller: &Caller, tool: &str, args: Value) -> Result<Value, Value> {
        let Value::Object(mut args) = args else { panic!("arguments are an object") };
        args.insert("capability_token".to_owned(), json!("t"));
        let tool = self.pipeline.catalog().find(None, tool).unwrap();
        let outcome = self.pipeline.call_for(caller, tool, Call::new(args)).await;
        outcome.map(|reply| reply.result()).map_err(|failure| failure.tool_error)
    }

    async fn call(&self, tool: &str, args: Value) -> Result<Value, Value> {
        self.call_as(&self.master, tool, args).await
    }

    async fn ok(&self, tool: &str, args: Value) -> Value {
        self.call(tool, args).await.unwrap()
    }

    /// The word of the error that this must be.
    async fn refused(&self, caller: &Caller, tool: &str, args: Value) -> String {
        let error = self.call_as(caller, tool, args).await.unwrap_err();
        error["error_code"].as_str().unwrap().to_owned()
    }

    async fn proposed(&self, args: Value) -> Value {
        self.ok("propose_price", args).await["proposal"].clone()
    }

    async fn import(&self, product: Product) {
        let mut tx = self.db.begin().await.unwrap();
        products::save(&mut tx, &[product], self.now()).await.unwrap();
        tx.commit().await.unwrap();
    }

    async fn price(&self, sku: &str) -> Option<Amount> {
        products::find(&self.db, sku).await.unwrap().and_then(|it| it.price)
    }

    async fn ingest(&self, ticks: &[Tick]) {
        let mut tx = self.db.begin().await.unwrap();
        ticks::add(&mut tx, ticks, self.now()).await.unwrap();
        tx.commit().await.unwrap();
    }

    fn now(&self) -> Millis {
        clock::Clock::now(&*self.clock)
    }
}

fn tick(sku: &str, at: Millis) -> Tick {
    Tick {
        sku: sku.to_owned(),
        market: "DEFAULT".to_owned(),
        at,
        our_price: amount("20"),
        competitor: Some("rival".to_owned()),
        competitor_price: Some(amount("19.5")),
        demand_index: None,
        units: None,
        in_stock: Some(true),
        source: "test".to_owned(),
        origin: ticks::TickOrigin::Observed,
    }
}
