//! Pushes the price that a proposal sets to Shopify and WooCommerce, and sends price events to a
//! webhook. `outbox` queues both in the transaction of the change,
//! `push_worker` sends them. A price that simulated ticks took part in is never pushed.

mod outbox;
mod push_worker;
mod requeue;
mod shop;
mod shop_client;
mod shopify;
mod webhook;
mod woocommerce;

use std::sync::Arc;
use std::time::Duration;

use clock::Clock;
use jobs::{Backoff, JobMeter, Jobs, Worker, WorkerConfig};
use store::Db;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use crate::push::outbox::{EventKind, NewPrice, Outbox};
pub(crate) use crate::push::push_worker::PushWorker;
pub(crate) use crate::push::requeue::Requeuer;
pub(crate) use crate::push::shop::{Shop, ShopStatus, title};
pub use crate::push::shopify::Shopify;
pub use crate::push::webhook::PriceWebhook;
pub use crate::push::woocommerce::WooCommerce;

/// At most this many requests to shops and to the webhook run at once in one process.
const CONCURRENCY: usize = 4;
/// A request may go on this long once the server is stopping.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// The shops and the webhook; each is absent unless its settings are set.
#[derive(Default)]
pub struct PushTargets {
    pub shopify: Option<Shopify>,
    pub woocommerce: Option<WooCommerce>,
    pub webhook: Option<PriceWebhook>,
}

impl PushTargets {
    pub(crate) fn shops(self) -> (Vec<Arc<dyn Shop>>, Option<PriceWebhook>) {
        let shopify = self.shopify.map(|it| Arc::new(it) as Arc<dyn Shop>);
        let woocommerce = self.woocommerce.map(|it| Arc::new(it) as Arc<dyn Shop>);
        (shopify.into_iter().chain(woocommerce).collect(), self.webhook)
    }
}

/// Receives the metrics of pushes.
pub trait PushMeter: Send + Sync {
    /// A price or an event was sent to this target; `outcome` is `ok` or the word of the failure.
    fn sent(&self, target: &str, outcome: &str, took: Duration);
    /// How many prices wait for this shop.
    fn waiting(&self, target: &str, count: u64);
}

/// The waits between attempts, and between two searches for pushes without a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PushTiming {
    pub(crate) backoff: Backoff,
    pub(crate) requeue: Duration,
}

impl Default for PushTiming {
    fn default() -> Self {
        let backoff = Backoff { first: Duration::from_secs(1), most: Duration::from_mins(15) };
        Self { backoff, requeue: Duration::from_secs(30) }
    }
}

/// What the worker needs beside the targets.
pub(crate) struct PushParts {
    pub(crate) db: Db,
    pub(crate) jobs: Jobs,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) job_meter: Option<Arc<dyn JobMeter>>,
    pub(crate) meter: Option<Arc<dyn PushMeter>>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    pub(crate) timing: PushTiming,
}

/// Starts the worker on the given tracker and returns the outbox that feeds it.
pub(crate) fn start(targets: PushTargets, parts: PushParts) -> Arc<Outbox> {
    let (shops, webhook) = targets.shops();
    let status: Vec<ShopStatus> = shops.iter().map(|it| ShopStatus::new(it.name())).collect();
    let outbox = Arc::new(Outbox::new(parts.jobs.clone(), status, webhook.is_some()));
    let kinds = outbox.kinds();
    if kinds.is_empty() {
        return outbox;
    }
    let PushParts { db, jobs, clock, job_meter, meter, tasks, stop, timing } = parts;
    let requeue = Requeuer {
        db: db.clone(),
        outbox: Arc::clone(&outbox),
        meter: meter.clone(),
        interval: timing.requeue,
    };
    let handler = PushWorker { db, clock, shops, webhook, outbox: Arc::clone(&outbox), meter };
    let config = WorkerConfig {
        backoff: timing.backoff,
        stop_grace: STOP_GRACE,
        shutdown_grace: STOP_GRACE,
        ..WorkerConfig::default()
    };
    let worker = job_meter.into_iter().fold(Worker::new(jobs, config), Worker::meter);
    let ends = stop.clone();
    tasks.spawn(async move { worker.run(&kinds, CONCURRENCY, Arc::new(handler), ends).await });
    tasks.spawn(async move { stop.run_until_cancelled(requeue.run()).await });
    outbox
}

#[cfg(test)]
mod tests;
