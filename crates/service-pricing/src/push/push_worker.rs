//! Sends queued prices and events. A job of a push sends the price that is in force when it runs,
//! so an older price never follows a newer one; what the shop answered and the end of the job are
//! one transaction.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use clock::Clock;
use fault::{Fault, Kind};
use jobs::{JobContext, JobHandler, JobOutcome};
use serde_json::json;
use store::Db;

use crate::push::PushMeter;
use crate::push::outbox::{EventKind, Outbox, PushPayload, WEBHOOK_KIND, WebhookPayload};
use crate::push::shop::{Shop, ShopListing, is_final, title};
use crate::push::webhook::{self, PriceWebhook};
use crate::storage::audit::{self, AuditEntry};
use crate::storage::pushes::{self, Push, PushState};
use crate::storage::{products, switch};

/// How many newer prices one run sends, if the price changes while it is sent.
const ROUNDS_MAX: usize = 10;
/// The wait of a run after that many newer prices.
const OVERTAKEN_WAIT: Duration = Duration::from_secs(1);

pub(crate) struct PushWorker {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) shops: Vec<Arc<dyn Shop>>,
    pub(crate) webhook: Option<PriceWebhook>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) meter: Option<Arc<dyn PushMeter>>,
}

#[async_trait]
impl JobHandler for PushWorker {
    async fn run(&self, context: JobContext) -> JobOutcome {
        let stopping = context.stopping().clone();
        let work = async {
            match context.kind() == WEBHOOK_KIND {
                true => self.send_event(&context).await,
                false => self.push_price(&context).await,
            }
        };
        tokio::select! {
            biased;
            _ = context.cancelled() => JobOutcome::Cancelled,
            () = stopping.cancelled() => JobOutcome::Release,
            ended = work => ended.unwrap_or_else(JobOutcome::from),
        }
    }
}

/// How sending one price ended.
enum Sent {
    Delivered,
    /// Nothing was sent, because a newer price is in force or the kill switch was turned on.
    Obsolete,
}

impl PushWorker {
    async fn push_price(&self, context: &JobContext) -> Result<JobOutcome, Fault> {
        let PushPayload { target, sku } = context.payload()?;
        let shop = self.shops.iter().find(|it| it.name() == target);
        let shop = shop.ok_or_else(|| Fault::internal("a push for a shop that is not set"))?;
        for _ in 0..ROUNDS_MAX {
            let push = pushes::find(&self.db, &target, &sku).await?;
            let Some(push) = push.filter(|it| it.state == PushState::Pending) else {
                if self.complete_without_push(context, &target, &sku).await? {
                    return Ok(JobOutcome::Committed);
                }
                continue;
            };
            if switch::is_on(&self.db).await? {
                // The price stays pending; `Requeuer` queues it once the switch is off.
                let done = json!({ "stopped_by": "kill_switch" });
                return Ok(JobOutcome::done(&done));
            }
            let started = Instant::now();
            let sent = self.set_price_in_shop(shop.as_ref(), &push, context).await;
            self.record(&target, sent.as_ref().map(drop), started.elapsed());
            let ended = match sent {
                Ok(Sent::Obsolete) => false,
                Ok(Sent::Delivered) => self.end_push(context, &push, None).await?,
                Err(fault) if is_final(&fault) || is_last(context) => {
                    self.end_push(context, &push, Some(&fault)).await?
                }
                Err(fault) => {
                    pushes::note_attempt(&self.db, &push.id, fault.message(), self.clock.now())
                        .await?;
                    return Ok(JobOutcome::Retry { fault, after: None });
                }
            };
            if ended {
                return Ok(JobOutcome::Committed);
            }
        }
        let fault =
            Fault::unavailable("push_overtaken", "the price changes faster than it is sent");
        Ok(JobOutcome::Retry { fault, after: Some(OVERTAKEN_WAIT) })
    }

    /// Sets the price in the shop unless the shop has it already, so that a repeated attempt after
    /// a crash writes nothing twice.
    async fn set_price_in_shop(
        &self,
        shop: &dyn Shop,
        push: &Push,
        cx: &JobContext,
    ) -> Result<Sent, Fault> {
        let listing = shop.find(&push.sku).await?;
        self.check_currency(shop.name(), push, &listing).await?;
        if listing.price == Some(push.price) {
            return Ok(Sent::Delivered);
        }
        // The last check before the write: this worker holds the job, and the price is in force.
        let mut tx = self.db.begin().await?;
        cx.fence().ensure_held(&mut tx).await?;
        let in_force = pushes::is_pending(&mut tx, &push.id).await?;
        drop(tx);
        if !in_force || switch::is_on(&self.db).await? {
            return Ok(Sent::Obsolete);
        }
        shop.set_price(&listing, push.price).await?;
        Ok(Sent::Delivered)
    }

    /// A price in another currency than the shop's is never written.
    async fn check_currency(
        &self,
        target: &str,
        push: &Push,
        listing: &ShopListing,
    ) -> Result<(), Fault> {
        let product = products::find(&self.db, &push.sku).await?;
        let (Some(ours), Some(theirs)) =
            (product.and_then(|it| it.currency), listing.currency.as_deref())
        else {
            return Ok(());
        };
        if ours.eq_ignore_ascii_case(theirs) {
            return Ok(());
        }
        let title = title(target);
        let message = format!("the price is in {ours}, and {title} has prices in {theirs}");
        Err(Fault::new(Kind::Conflict, "shop_currency", message))
    }

    /// Writes how a push ended and completes its job; `false` if a newer price is in force.
    async fn end_push(
        &self,
        context: &JobContext,
        push: &Push,
        failed: Option<&Fault>,
    ) -> Result<bool, Fault> {
        let now = self.clock.now();
        let state = if failed.is_some() { PushState::Failed } else { PushState::Delivered };
        let reason = failed.map(Fault::message);
        let mut tx = self.db.begin().await?;
        if !pushes::end(&mut tx, &push.id, state, reason, now).await? {
            return Ok(false);
        }
        let title = title(&push.target);
        let (action, note) = match failed {
            None => ("pushed", format!("to {title}")),
            Some(fault) => ("push_failed", format!("to {title}: {}", fault.message())),
        };
        let entry = AuditEntry {
            proposal: Some(push.proposal.clone()),
            to: Some(push.price),
            note: Some(note),
            ..AuditEntry::new(now, action, &push.sku, "server")
        };
        audit::write(&mut tx, &entry).await?;
        if let Some(fault) = failed {
            let data = json!({ "sku": push.sku, "price": push.price, "target": push.target,
                "proposal_id": push.proposal, "reason": fault.message() });
            self.outbox.queue_event(&mut tx, EventKind::PushFailed, now, data).await?;
            tracing::warn!(
                target_shop = push.target,
                code = fault.code(),
                "a price was not pushed"
            );
        }
        context.fence().complete_in(&mut tx, &json!({ "state": state.word() })).await?;
        tx.commit().await?;
        self.outbox.notify();
        Ok(true)
    }

    /// Completes a job whose price is not pending; `false` if it became pending meanwhile.
    async fn complete_without_push(
        &self,
        context: &JobContext,
        target: &str,
        sku: &str,
    ) -> Result<bool, Fault> {
        let mut tx = self.db.begin().await?;
        if pushes::lock_pending(&mut tx, target, sku).await? {
            return Ok(false);
        }
        context.fence().complete_in(&mut tx, &json!({})).await?;
        tx.commit().await?;
        Ok(true)
    }

    async fn send_event(&self, context: &JobContext) -> Result<JobOutcome, Fault> {
        let WebhookPayload { id, body } = context.payload()?;
        let webhook = self.webhook.as_ref();
        let webhook = webhook.ok_or_else(|| Fault::internal("there is no webhook"))?;
        let started = Instant::now();
        let sent = webhook.deliver(&id, &body, self.clock.now()).await;
        self.record(webhook::NAME, sent.as_ref().copied(), started.elapsed());
        Ok(match sent {
            Ok(()) => JobOutcome::done(&json!({})),
            Err(fault) if is_final(&fault) || is_last(context) => {
                tracing::warn!(code = fault.code(), "a price event is given up: {fault}");
                JobOutcome::Fail(fault)
            }
            Err(fault) => JobOutcome::Retry { fault, after: None },
        })
    }

    fn record(&self, target: &str, ended: Result<(), &Fault>, took: Duration) {
        if let Some(status) = self.outbox.status(target) {
            // A final fault of a shop concerns one SKU; the shop itself works.
            let is_of_sku = |fault: &&Fault| target != webhook::NAME && is_final(fault);
            status.record(ended.err().filter(|fault| !is_of_sku(fault)));
        }
        if let Some(meter) = &self.meter {
            meter.sent(target, ended.map_or_else(Fault::code, |()| "ok"), took);
        }
    }
}

fn is_last(context: &JobContext) -> bool {
    context.job().attempt >= context.job().max_attempts
}
