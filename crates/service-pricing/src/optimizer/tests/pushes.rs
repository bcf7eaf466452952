//! Applied prices reach shops and webhooks: exactly, in order, after failures, and never when they
//! are simulated.

use crate::testing::{TestShopify, TestWooCommerce, Treatment, WebhookReceiver};
use clock::SystemClock;
use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jobs::Backoff;
use sha2::Sha256;
use testkit::{TestRng, on_every_engine};

use super::*;
use crate::optimizer::bind;
use crate::push::PushTiming;
use crate::{PriceWebhook, Shopify, WooCommerce};

mod deliveries;
mod faults;

const TOKEN: &str = "shpat_s3cret";
const KEYS: (&str, &str) = ("ck_s3cret", "cs_s3cret");
const HOOK_SECRET: &str = "a secret of the webhook";
const LONG: Duration = Duration::from_secs(60);

/// An optimizer with shops, on the wall clock. It stops when it is dropped.
struct PushFixture {
    fixture: Fixture,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl PushFixture {
    async fn new(db: &Db, targets: PushTargets) -> Self {
        db.migrate(&[jobs::MIGRATIONS, crate::MIGRATIONS]).await.unwrap();
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let service_info = ServiceInfo {
            service: "price-optimizer",
            version: "0".to_owned(),
            build: None,
            commit: None,
            clock: Arc::new(SystemClock),
            started: NOW,
            counters: Box::new(|| json!({})),
        };
        let parts = OptimizerParts {
            db: db.clone(),
            service_info,
            proposal_life: LIFE,
            jobs: Jobs::new(db.clone(), Arc::new(SystemClock), QueueLimits::default()),
            push_targets: targets,
            job_meter: None,
            push_meter: None,
            tasks: tasks.clone(),
            stop: stop.clone(),
        };
        let backoff = Backoff { first: Duration::from_millis(5), most: Duration::from_millis(20) };
        let timing = PushTiming { backoff, requeue: Duration::from_millis(100) };
        let catalog = Catalog::new(vec![bind(parts, timing).unwrap()]).unwrap();
        let pipeline = Pipeline::new(catalog, Arc::new(Closed), Arc::new(NoMeter), LONG);
        let master = caller("master", &["read", "write", "propose", "explain", "apply", "admin"]);
        let clock = Arc::new(FakeClock::new(clock::Clock::now(&SystemClock)));
        let fixture = Fixture { pipeline, db: db.clone(), clock, master };
        Self { fixture, tasks, stop }
    }

    /// Stops the worker without waiting for the shop.
    async fn close(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// A catalogue product in dollars.
    async fn sell(&self, sku: &str, price: &str) {
        let product = Product {
            sku: sku.to_owned(),
            price: Some(amount(price)),
            currency: Some("USD".to_owned()),
            ..Product::default()
        };
        self.fixture.import(product).await;
    }

    /// Proposes a price that differs from the present one, upwards or downwards.
    async fn propose(&self, sku: &str, up: bool) -> Value {
        let now = self.fixture.price(sku).await.unwrap();
        let rival = now.to_f64() * if up { 1.25 } else { 0.8 };
        let cost = now.to_f64() / if up { 1.4 } else { 4.0 };
        let args = json!({ "sku": sku, "our_price": now, "competitor_price": rival, "cost": cost,
            "min_margin": 0 });
        let made = self.fixture.proposed(args).await;
        assert_ne!(made["proposed_price"], made["current_price"], "{made}");
        made
    }

    /// Proposes a price and applies it; returns the answer of applying.
    async fn reprice(&self, sku: &str, up: bool) -> Value {
        let made = self.propose(sku, up).await;
        let id = json!({ "proposal_id": made["proposal_id"] });
        self.fixture.ok("apply_proposal", id).await["result"].clone()
    }

    async fn pushes(&self, args: Value) -> Vec<Value> {
        let listed = self.fixture.ok("list_price_pushes", args).await;
        listed["pushes"].as_array().unwrap().clone()
    }

    /// Waits until every push of a product is in this state.
    async fn until(&self, sku: &str, state: &str) -> Vec<Value> {
        let reached = async {
            loop {
                let found = self.pushes(json!({ "sku": sku })).await;
                if !found.is_empty() && found.iter().all(|it| it["state"] == state) {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        match tokio::time::timeout(LONG, reached).await {
            Ok(found) => found,
            Err(_) => panic!("{sku} is not {state}: {:?}", self.pushes(json!({})).await),
        }
    }

    /// The health check takes no token.
    async fn health(&self) -> Value {
        let Fixture { pipeline, master, .. } = &self.fixture;
        let tool = pipeline.catalog().find(None, "health_check").unwrap();
        let call = Call::new(serde_json::Map::new());
        pipeline.call_for(master, tool, call).await.map(|it| it.result()).ok().unwrap()
    }

    /// Whether a shop's price is the catalogue's.
    async fn is_in_force(&self, sku: &str, shown: Option<String>) -> bool {
        shown.and_then(|it| it.parse().ok()) == self.fixture.price(sku).await
    }

    /// The actions of a product's trail, oldest first.
    async fn trail(&self, sku: &str) -> Vec<String> {
        let args = json!({ "sku": sku, "limit": 100 });
        let listed = self.fixture.ok("list_price_changes", args).await;
        let changes = listed["changes"].as_array().unwrap().iter().rev();
        changes.map(|it| it["action"].as_str().unwrap().to_owned()).collect()
    }
}

/// Waits until something is so.
async fn eventually(is_so: impl Fn() -> bool) {
    let reached = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, reached).await.unwrap();
}

fn only_shopify(server: &TestShopify) -> PushTargets {
    let shopify = Shopify::with_timeout(&server.url(), TOKEN, Duration::from_secs(5)).unwrap();
    PushTargets { shopify: Some(shopify), ..PushTargets::default() }
}

fn only_woocommerce(server: &TestWooCommerce) -> PushTargets {
    let woocommerce = WooCommerce::new(&server.url(), KEYS.0, KEYS.1).unwrap();
    PushTargets { woocommerce: Some(woocommerce), ..PushTargets::default() }
}
