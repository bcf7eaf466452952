//! Delivers notifications to webhooks: in order for each task and webhook, with up to eight
//! attempts. Notifications are stored with the change that they report; [`PushSender`] sends them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fault::{Fault, Kind};
use tokio::sync::Notify;
use tokio::task::{Id, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::store::{NextNotification, PushNotification, TaskStore};
use crate::updater::Now;
use crate::wire::{PushConfig, StreamResponse};

/// Deliveries at once, in all and for one owner, so that the slow webhooks of one owner do not
/// delay those of others.
const DELIVERIES_MAX: usize = 16;
const DELIVERIES_PER_OWNER_MAX: usize = 4;
/// The longest delivery.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(15);
/// Longer than a delivery. When a process dies, another delivers its notifications after this time.
const LEASE_MS: i64 = 20_000;
/// Eight attempts take about eighteen minutes.
const ATTEMPTS_MAX: u32 = 8;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait between attempts, also where a webhook asks for a longer one.
const WAIT_MAX: Duration = Duration::from_mins(15);
/// How often the store is polled for notifications of other processes.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// How long a stopping server waits for its deliveries.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends notifications. A delivery that fails with a retryable fault is tried again.
#[async_trait]
pub trait PushSender: Send + Sync {
    /// Refuses an address to which no notification may be sent.
    fn accepts(&self, url: &str) -> Result<(), Fault>;

    /// Sends one notification.
    async fn deliver(&self, push: &PushConfig, json: &str) -> Result<(), Fault>;
}

/// Wakes the worker that delivers notifications.
#[derive(Clone)]
pub(crate) struct PushWaker(Arc<Notify>);

/// The events as bodies of notifications.
pub(crate) fn serialize_events(events: &[StreamResponse]) -> Vec<String> {
    events.iter().filter_map(|it| serde_json::to_string(it).ok()).collect()
}

impl PushWaker {
    /// Starts the worker that delivers notifications; it ends when the server stops.
    pub(crate) fn start(
        push_sender: &Arc<dyn PushSender>,
        store: &Arc<dyn TaskStore>,
        now: &Now,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Self {
        let wake = Arc::new(Notify::new());
        let worker = PushWorker {
            push_sender: Arc::clone(push_sender),
            store: Arc::clone(store),
            now: Arc::clone(now),
            wake: Arc::clone(&wake),
            stop: stop.clone(),
        };
        tasks.spawn(worker.run());
        Self(wake)
    }

    /// Wakes the worker. The notification is in the store, so a missed wake-up only delays it.
    pub(crate) fn wake(&self) {
        self.0.notify_one();
    }
}

#[derive(Clone)]
struct PushWorker {
    push_sender: Arc<dyn PushSender>,
    store: Arc<dyn TaskStore>,
    now: Now,
    wake: Arc<Notify>,
    stop: CancellationToken,
}

impl PushWorker {
    async fn run(self) {
        let mut deliveries = JoinSet::new();
        let mut owners: HashMap<Id, String> = HashMap::new();
        loop {
            let wait = self.start_due(&mut deliveries, &mut owners).await;
            tokio::select! {
                () = self.stop.cancelled() => break,
                Some(done) = deliveries.join_next_with_id() => {
                    owners.remove(&done.map_or_else(|error| error.id(), |(id, ())| id));
                }
                () = self.wake.notified() => {}
                () = sleep(wait) => {}
            }
        }
        // A delivery that is cut off here is repeated after the next start.
        let ended = async { while deliveries.join_next().await.is_some() {} };
        drop(timeout(SHUTDOWN_TIMEOUT, ended).await);
    }

    /// Starts all due deliveries and returns how long to wait for the next one.
    async fn start_due(
        &self,
        deliveries: &mut JoinSet<()>,
        owners: &mut HashMap<Id, String>,
    ) -> Duration {
        while deliveries.len() < DELIVERIES_MAX {
            let mut counts: HashMap<&String, usize> = HashMap::new();
            owners.values().for_each(|owner| *counts.entry(owner).or_default() += 1);
            let full = counts.into_iter().filter(|(_, count)| *count >= DELIVERIES_PER_OWNER_MAX);
            let busy: Vec<String> = full.map(|(owner, _)| owner.clone()).collect();
            let now_ms = (self.now)();
            match self.store.next_notification(now_ms, now_ms.saturating_add(LEASE_MS), &busy).await
            {
                Ok(NextNotification::Due(notification)) => {
                    let owner = notification.owner.clone();
                    let handle = deliveries.spawn(self.clone().deliver(notification));
                    owners.insert(handle.id(), owner);
                }
                Ok(NextNotification::Later(due_ms)) => {
                    let wait = u64::try_from(due_ms.saturating_sub(now_ms)).unwrap_or_default();
                    return Duration::from_millis(wait.max(1)).min(POLL_INTERVAL);
                }
                Ok(NextNotification::Nothing) => break,
                Err(fault) => {
                    tracing::warn!(%fault, "notifications to webhooks could not be read");
                    break;
                }
            }
        }
        POLL_INTERVAL
    }

    async fn deliver(self, notification: Box<PushNotification>) {
        let (task, webhook) = (&notification.push.task_id, &notification.push.id);
        let tries = notification.tries + 1;
        let delivery = self.push_sender.deliver(&notification.push, &notification.json);
        let late = |_| Err(Fault::new(Kind::Timeout, "webhook_slow", "it takes too long"));
        let kept = match timeout(DELIVERY_TIMEOUT, delivery).await.unwrap_or_else(late) {
            Ok(()) => self.store.notification_delivered(&notification).await,
            Err(fault) if fault.kind().is_retryable() && tries < ATTEMPTS_MAX => {
                let own = FIRST_WAIT * 3_u32.saturating_pow(notification.tries);
                let wait = fault
                    .retry_wait()
                    .map_or(own, |retry_after| retry_after.max(own))
                    .min(WAIT_MAX);
                tracing::debug!(
                    task,
                    webhook,
                    tries,
                    "a notification was not delivered yet: {fault}"
                );
                let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
                self.store
                    .notification_failed(&notification, (self.now)().saturating_add(wait_ms))
                    .await
            }
            Err(fault) => self.store.drop_notifications(&notification).await.map(|dropped| {
                tracing::warn!(task, webhook, tries, dropped, "a webhook is given up: {fault}");
            }),
        };
        if let Err(fault) = kept {
            // Its lease expires, and then it is delivered again.
            tracing::warn!(
                task,
                webhook,
                "what became of a notification could not be kept: {fault}"
            );
        }
    }
}
