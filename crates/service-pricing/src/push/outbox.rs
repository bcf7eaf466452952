//! The outbox: the transaction that changes a price also stores what is to be pushed and queues its
//! job, so that a crash in between loses nothing. Each shop and SKU has one row, the price in
//! force; a newer price replaces an older one that was not delivered.

use clock::{IdGenerator, Millis};
use fault::Fault;
use jobs::{JobState, Jobs, NewJob};
use pricing_engine::Amount;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use store::{Db, Tx};

use crate::push::shop::ShopStatus;
use crate::push::webhook;
use crate::storage::pushes::{self, Push, PushState};

/// The kind of a webhook's job.
pub(super) const WEBHOOK_KIND: &str = "pricing.webhook";
/// With waits of up to 15 minutes, a shop may fail for about 17 hours.
const PUSH_ATTEMPTS: u32 = 100;
/// With waits of up to 15 minutes, a webhook may fail for about 2 hours.
const WEBHOOK_ATTEMPTS: u32 = 20;
pub(crate) const SIMULATED: &str =
    "simulated ticks took part in this price, so it is not pushed to a shop";

/// A price that a proposal has put in force, by being applied or reverted.
pub(crate) struct NewPrice<'a> {
    pub(crate) sku: &'a str,
    pub(crate) price: Amount,
    pub(crate) proposal: &'a str,
    /// Whether simulated ticks took part in the price.
    pub(crate) simulated: bool,
    pub(crate) at: Millis,
}

/// The kinds of events that the webhook receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    Proposed,
    Applied,
    Reverted,
    PushFailed,
}

impl EventKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Proposed => "price.proposed",
            Self::Applied => "price.applied",
            Self::Reverted => "price.reverted",
            Self::PushFailed => "price.push_failed",
        }
    }
}

/// The payload of a push's job; the price is read when the job runs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PushPayload {
    pub(super) target: String,
    pub(super) sku: String,
}

/// The payload of a webhook's job: the id of the event and its body.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WebhookPayload {
    pub(super) id: String,
    pub(super) body: String,
}

/// Queues pushes and events in the transactions of price changes.
pub(crate) struct Outbox {
    jobs: Jobs,
    ids: IdGenerator,
    pub(crate) shops: Vec<ShopStatus>,
    /// The last problem of the webhook; `None` if no webhook is set.
    pub(crate) webhook: Option<ShopStatus>,
}

impl Outbox {
    pub(super) fn new(jobs: Jobs, shops: Vec<ShopStatus>, has_webhook: bool) -> Self {
        let webhook = has_webhook.then(|| ShopStatus::new(webhook::NAME));
        Self { jobs, ids: IdGenerator::default(), shops, webhook }
    }

    /// The kinds of jobs that this process works on: those of the targets it knows.
    pub(super) fn kinds(&self) -> Vec<&'static str> {
        let shops = self.shops.iter().map(|it| push_kind(it.target));
        shops.chain(self.webhook.iter().map(|_| WEBHOOK_KIND)).collect()
    }

    pub(crate) fn targets(&self) -> Vec<&'static str> {
        self.shops.iter().map(|it| it.target).collect()
    }

    pub(crate) fn status(&self, target: &str) -> Option<&ShopStatus> {
        self.shops.iter().chain(&self.webhook).find(|it| it.target == target)
    }

    /// Stores the price for every shop and queues its push, in the transaction that set it.
    pub(crate) async fn queue_new_price(
        &self,
        tx: &mut Tx,
        set: &NewPrice<'_>,
    ) -> Result<(), Fault> {
        for shop in &self.shops {
            let (state, reason) = match set.simulated {
                true => (PushState::Withheld, Some(SIMULATED.to_owned())),
                false => (PushState::Pending, None),
            };
            let push = Push {
                id: self.ids.next(set.at),
                target: shop.target.to_owned(),
                sku: set.sku.to_owned(),
                price: set.price,
                proposal: set.proposal.to_owned(),
                state,
                attempts: 0,
                reason,
                created: set.at,
                updated: set.at,
            };
            pushes::set(tx, &push).await?;
            if state == PushState::Pending {
                self.enqueue(tx, shop.target, set.sku).await?;
            }
        }
        Ok(())
    }

    /// Queues the push of a stored price. A job that waits for its next attempt is replaced, so
    /// that a new price starts at once and with all its attempts.
    pub(crate) async fn enqueue(&self, tx: &mut Tx, target: &str, sku: &str) -> Result<(), Fault> {
        let job = push_job(target, sku)?;
        let Some(pushed) = self.push_in(tx, &job).await? else { return Ok(()) };
        let is_waiting = pushed.state == JobState::Queued && pushed.attempt > 0;
        if is_waiting && self.jobs.delete_in(tx, &[pushed.id]).await? == 1 {
            self.push_in(tx, &job).await?;
        }
        Ok(())
    }

    /// Queues the push of a stored price unless a job for it is unfinished.
    pub(super) async fn enqueue_missing(
        &self,
        tx: &mut Tx,
        target: &str,
        sku: &str,
    ) -> Result<(), Fault> {
        self.push_in(tx, &push_job(target, sku)?).await.map(drop)
    }

    /// Queues a job; `None` if the queue is full. The stored price then stays pending, and
    /// `Requeuer` queues it later.
    async fn push_in(&self, tx: &mut Tx, job: &NewJob) -> Result<Option<jobs::Job>, Fault> {
        match self.jobs.push_in(tx, job).await {
            Ok(pushed) => Ok(Some(pushed.job)),
            Err(fault) if fault.code() == "overloaded" => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Queues an event for the webhook, in the transaction of the change. An event that finds
    /// the queue full is dropped and logged, so that a dead webhook never stops prices.
    pub(crate) async fn queue_event(
        &self,
        tx: &mut Tx,
        kind: EventKind,
        at: Millis,
        data: Value,
    ) -> Result<(), Fault> {
        if self.webhook.is_none() {
            return Ok(());
        }
        let id = self.ids.next(at);
        let body = json!({ "type": kind.word(), "timestamp": at.to_rfc3339(), "data": data });
        let payload = WebhookPayload { id, body: body.to_string() };
        let job = NewJob::new(WEBHOOK_KIND, &payload)?.owner(webhook::NAME);
        let job = job.max_attempts(WEBHOOK_ATTEMPTS);
        if self.push_in(tx, &job).await?.is_none() {
            tracing::warn!(event = kind.word(), "the queue of the price webhook is full");
        }
        Ok(())
    }

    /// Wakes the workers; called after the commit.
    pub(crate) fn notify(&self) {
        if !self.shops.is_empty() || self.webhook.is_some() {
            self.jobs.notify_workers();
        }
    }

    /// Queues every pending push of a page that has no job; returns the id to go on from.
    pub(crate) async fn enqueue_pending(
        &self,
        db: &Db,
        after: &str,
        limit: u32,
    ) -> Result<Option<String>, Fault> {
        let pending = pushes::pending_after(db, &self.targets(), after, limit).await?;
        let Some(last) = pending.last() else { return Ok(None) };
        let mut tx = db.begin().await?;
        for push in &pending {
            self.enqueue_missing(&mut tx, &push.target, &push.sku).await?;
        }
        tx.commit().await?;
        self.notify();
        Ok((pending.len() == limit as usize).then(|| last.id.clone()))
    }
}

/// Jobs of a shop have a kind of their own, so that only a server that knows the shop takes them.
fn push_kind(target: &str) -> &'static str {
    match target {
        "shopify" => "pricing.push.shopify",
        _ => "pricing.push.woocommerce",
    }
}

/// The owner is the target, so that a slow shop does not hold every slot of the worker. The key
/// allows one unfinished job for a shop and SKU, which keeps their order.
fn push_job(target: &str, sku: &str) -> Result<NewJob, Fault> {
    let payload = PushPayload { target: target.to_owned(), sku: sku.to_owned() };
    let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(sku.as_bytes())[..16]);
    let job = NewJob::new(push_kind(target), &payload)?.key(digest).owner(target);
    Ok(job.max_attempts(PUSH_ATTEMPTS))
}
