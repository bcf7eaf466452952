//! Telling webhooks what happened to a task: a bounded queue, in order for each task, with a few
//! tries for each notice. How a notice travels is the courier's.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fault::Fault;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::store::{TaskRecord, TaskStore};
use crate::wire::{PushConfig, StreamResponse};

/// Notices of one task wait behind each other; those of others mostly do not.
const LANES: usize = 8;
const LANE_MAX: usize = 256;
const TRIES: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Brings one notice to one address. An error that is retryable is tried again.
#[async_trait]
pub trait Courier: Send + Sync {
    /// Whether notices may be sent to an address at all, as far as its text says.
    fn accepts(&self, url: &str) -> Result<(), Fault>;

    async fn deliver(&self, push: &PushConfig, json: &str) -> Result<(), Fault>;
}

/// The end of the queue where tasks put their news.
#[derive(Clone)]
pub(crate) struct Push(Arc<[mpsc::Sender<Notice>]>);

struct Notice {
    agent: String,
    owner: String,
    task: String,
    json: Vec<String>,
}

impl Push {
    /// Starts the lanes; they end when the server stops.
    pub(crate) fn start(
        courier: &Arc<dyn Courier>,
        store: &Arc<dyn TaskStore>,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Self {
        let lane = |_| {
            let (sender, waiting) = mpsc::channel(LANE_MAX);
            let (courier, store) = (Arc::clone(courier), Arc::clone(store));
            let stop = stop.clone();
            tasks.spawn(async move {
                stop.run_until_cancelled(carry(waiting, courier, store)).await;
            });
            sender
        };
        Self((0..LANES).map(lane).collect())
    }

    /// Never waits: a webhook must not hold up the work it is told about.
    pub(crate) fn tell(&self, record: &TaskRecord, events: &[StreamResponse]) {
        let mut hasher = DefaultHasher::new();
        record.task.id.hash(&mut hasher);
        let at = usize::try_from(hasher.finish() % LANES as u64).unwrap_or_default();
        let Some(lane) = self.0.get(at) else { return };
        let notice = Notice {
            agent: record.agent.clone(),
            owner: record.owner.clone(),
            task: record.task.id.clone(),
            json: events.iter().filter_map(|it| serde_json::to_string(it).ok()).collect(),
        };
        if lane.try_send(notice).is_err() {
            tracing::warn!(task = record.task.id, "too many notices wait; one was dropped");
        }
    }
}

async fn carry(
    mut waiting: mpsc::Receiver<Notice>,
    courier: Arc<dyn Courier>,
    store: Arc<dyn TaskStore>,
) {
    while let Some(notice) = waiting.recv().await {
        // Asked for now, so that what was deleted meanwhile is not told.
        let pushes = store.pushes(&notice.agent, &notice.owner, &notice.task).await;
        let pushes = pushes.unwrap_or_else(|fault| {
            tracing::warn!(%fault, "a task's webhooks could not be read");
            Vec::new()
        });
        for push in &pushes {
            for json in &notice.json {
                if let Err(fault) = delivered(&*courier, push, json).await {
                    let (task, webhook) = (&notice.task, &push.id);
                    tracing::warn!(task, webhook, "a webhook was not told: {fault}");
                    break;
                }
            }
        }
    }
}

async fn delivered(courier: &dyn Courier, push: &PushConfig, json: &str) -> Result<(), Fault> {
    let mut wait = FIRST_WAIT;
    for _ in 1..TRIES {
        match courier.deliver(push, json).await {
            Err(fault) if fault.kind().is_retryable() => sleep(wait).await,
            answer => return answer,
        }
        wait *= 3;
    }
    courier.deliver(push, json).await
}
