//! Telling webhooks what happened to a task: notices are kept with the change they tell of, brought
//! in order for each task and webhook, and tried again for a while. How a notice travels is the
//! courier's.

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

/// Notices under way at once, and those of one owner among them, so that an owner whose webhooks
/// are slow holds up nobody else's.
const DELIVERIES_MAX: usize = 16;
const DELIVERIES_PER_OWNER_MAX: usize = 4;
/// No courier takes longer, whatever it waits for.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(15);
/// Longer than that. Whoever dies meanwhile has its notice told by another.
const LEASE_MS: i64 = 20_000;
/// Over about eighteen minutes.
const ATTEMPTS_MAX: u32 = 8;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// A webhook that wants to be left alone for longer is asked again all the same.
const WAIT_MAX: Duration = Duration::from_mins(15);
/// Notices that other servers left behind are looked for so often.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// What is under way when the server stops may take so long to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Brings one notice to one address. An error that is retryable is tried again.
#[async_trait]
pub trait PushSender: Send + Sync {
    /// Whether notices may be sent to an address at all, as far as its text says.
    fn accepts(&self, url: &str) -> Result<(), Fault>;

    async fn deliver(&self, push: &PushConfig, json: &str) -> Result<(), Fault>;
}

/// Where tasks say that there is news to bring.
#[derive(Clone)]
pub(crate) struct PushWaker(Arc<Notify>);

/// Changes as webhooks are told of them.
pub(crate) fn serialize_events(events: &[StreamResponse]) -> Vec<String> {
    events.iter().filter_map(|it| serde_json::to_string(it).ok()).collect()
}

impl PushWaker {
    /// Starts the one who brings notices; it ends when the server stops.
    pub(crate) fn start(
        push_sender: &Arc<dyn PushSender>,
        store: &Arc<dyn TaskStore>,
        now: &Now,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Self {
        let wake = Arc::new(Notify::new());
        let post = PushWorker {
            push_sender: Arc::clone(push_sender),
            store: Arc::clone(store),
            now: Arc::clone(now),
            wake: Arc::clone(&wake),
            stop: stop.clone(),
        };
        tasks.spawn(post.carry());
        Self(wake)
    }

    /// There may be a notice. It is in the store, so that nothing is lost if nobody hears this.
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
    async fn carry(self) {
        let mut under_way = JoinSet::new();
        let mut owners: HashMap<Id, String> = HashMap::new();
        loop {
            let wait = self.begin(&mut under_way, &mut owners).await;
            tokio::select! {
                () = self.stop.cancelled() => break,
                Some(done) = under_way.join_next_with_id() => {
                    owners.remove(&done.map_or_else(|error| error.id(), |(id, ())| id));
                }
                () = self.wake.notified() => {}
                () = sleep(wait) => {}
            }
        }
        // What is cut off here is told again after the next start.
        let ended = async { while under_way.join_next().await.is_some() {} };
        drop(timeout(SHUTDOWN_TIMEOUT, ended).await);
    }

    /// Begins with all that is due, and says how long there is nothing more to do.
    async fn begin(
        &self,
        under_way: &mut JoinSet<()>,
        owners: &mut HashMap<Id, String>,
    ) -> Duration {
        while under_way.len() < DELIVERIES_MAX {
            let mut counts: HashMap<&String, usize> = HashMap::new();
            owners.values().for_each(|owner| *counts.entry(owner).or_default() += 1);
            let full = counts.into_iter().filter(|(_, count)| *count >= DELIVERIES_PER_OWNER_MAX);
            let busy: Vec<String> = full.map(|(owner, _)| owner.clone()).collect();
            let now_ms = (self.now)();
            match self.store.next_notification(now_ms, now_ms.saturating_add(LEASE_MS), &busy).await
            {
                Ok(NextNotification::Due(notification)) => {
                    let owner = notification.owner.clone();
                    let handle = under_way.spawn(self.clone().bring(notification));
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

    async fn bring(self, notification: Box<PushNotification>) {
        let (task, webhook) = (&notification.push.task_id, &notification.push.id);
        let tries = notification.tries + 1;
        let delivery = self.push_sender.deliver(&notification.push, &notification.json);
        let late = |_| Err(Fault::new(Kind::Timeout, "webhook_slow", "it takes too long"));
        let kept = match timeout(DELIVERY_TIMEOUT, delivery).await.unwrap_or_else(late) {
            Ok(()) => self.store.notification_delivered(&notification).await,
            Err(fault) if fault.kind().is_retryable() && tries < ATTEMPTS_MAX => {
                let own = FIRST_WAIT * 3_u32.saturating_pow(notification.tries);
                let wait = fault.retry_wait().map_or(own, |told| told.max(own)).min(WAIT_MAX);
                tracing::debug!(task, webhook, tries, "a webhook was not told yet: {fault}");
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
            // Its lease ends, and then it is told again.
            tracing::warn!(
                task,
                webhook,
                "what became of a notification could not be kept: {fault}"
            );
        }
    }
}
