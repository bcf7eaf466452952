//! Subscriptions to resources: one task each, at most 64 per session, ended with the session. A
//! notification only says that the resource changed; the client reads it again.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use contract::{
    Call, CallFailure, ConnectionCredential, Pipeline, Progress, RequestMeta, StreamInput,
    StreamRef, Subscription,
};
use fault::Kind;
use futures_util::FutureExt;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::answer;
use crate::resource_templates::resume_argument;

/// Subscriptions of one session.
pub(crate) const SUBSCRIPTIONS_MAX: usize = 64;

/// How long to wait before an ended stream is opened again: at first, and at most.
const WAIT_MIN: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Events that one notification may cover; a slow client is notified less often.
const MERGED_MAX: usize = 256;

/// The subscriptions of one session. Dropping it ends every task.
pub(crate) struct SessionSubscriptions {
    permits: Arc<Semaphore>,
    running: Mutex<Running>,
    /// Cancelled when the session ends or the server stops.
    pub(crate) ended: CancellationToken,
}

#[derive(Default)]
struct Running {
    tasks: JoinSet<()>,
    by_uri: HashMap<String, AbortHandle>,
}

impl Running {
    /// Removes the tasks that ended by themselves.
    fn sweep(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        self.by_uri.retain(|_, task| !task.is_finished());
    }
}

impl SessionSubscriptions {
    /// Cancelling `until` ends all subscriptions.
    pub(crate) fn new(until: &CancellationToken) -> Self {
        let permits = Arc::new(Semaphore::new(SUBSCRIPTIONS_MAX));
        Self { permits, running: Mutex::default(), ended: until.child_token() }
    }

    fn running(&self) -> parking_lot::MutexGuard<'_, Running> {
        self.running.lock()
    }

    /// Permits for `count` more subscriptions; dropping them gives them back.
    pub(crate) fn acquire(&self, count: usize) -> Result<OwnedSemaphorePermit, ErrorData> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.permits).try_acquire_many_owned(count);
        permit.map_err(|_| answer::too_many_subscriptions(SUBSCRIPTIONS_MAX))
    }

    pub(crate) fn has(&self, uri: &str) -> bool {
        let mut running = self.running();
        running.sweep();
        running.by_uri.contains_key(uri)
    }

    /// Notifies a session of changes until it ends or unsubscribes.
    pub(crate) fn start(
        &self,
        subscription: ResourceSubscription,
        feed: Subscription,
        session: Peer<RoleServer>,
        permit: OwnedSemaphorePermit,
    ) {
        let ended = self.ended.clone();
        let uri = subscription.uri.clone();
        let mut running = self.running();
        running.sweep();
        let task = running.tasks.spawn(async move {
            let _permit = permit;
            let sink = UpdateSink::Session(session);
            let following = subscription.follow(feed, &sink);
            if let Some(Some(failure)) = ended.run_until_cancelled(following).await {
                // A session cannot be sent an error. It is notified of a change, reads, and gets
                // the error.
                tracing::debug!(
                    uri = subscription.uri,
                    code = failure.code,
                    "a subscription ended"
                );
                sink.notify(&subscription.uri).await;
            }
        });
        if let Some(before) = running.by_uri.insert(uri, task) {
            before.abort();
        }
    }

    pub(crate) fn stop(&self, uri: &str) {
        if let Some(task) = self.running().by_uri.remove(uri) {
            task.abort();
        }
    }
}

impl Drop for SessionSubscriptions {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

/// Receives change notifications: a session of the older protocol, or one request of the newer.
pub(crate) enum UpdateSink<'a> {
    Session(Peer<RoleServer>),
    Request(&'a SubscriptionSink),
}

impl UpdateSink<'_> {
    /// Sends a notification; whether the client is still connected.
    async fn notify(&self, uri: &str) -> bool {
        let failed = match self {
            Self::Session(peer) => {
                let changed = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(changed).await.err().map(|error| error.to_string())
            }
            Self::Request(sink) => {
                sink.notify_resource_updated(uri).await.err().map(|error| error.to_string())
            }
        };
        if let Some(error) = &failed {
            tracing::debug!(error, "a change notification could not be sent");
        }
        failed.is_none()
    }
}

/// One subscription, with what it needs to open its stream again.
pub(crate) struct ResourceSubscription {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) uri: String,
    pub(crate) stream: StreamRef,
    pub(crate) args: Map<String, Value>,
    pub(crate) credential: ConnectionCredential,
    pub(crate) transport: &'static str,
    pub(crate) request_id: Arc<str>,
    pub(crate) ended: CancellationToken,
}

impl ResourceSubscription {
    /// Opens the stream after a resume point, or from now on.
    pub(crate) async fn open(&self, after: Option<&str>) -> Result<Subscription, CallFailure> {
        let mut args = self.args.clone();
        if let Some(after) = after {
            let spec = &self.stream.row().spec;
            args.insert(spec.resume.clone(), resume_argument(spec, after));
        }
        let (request_id, credential) = (Arc::clone(&self.request_id), self.credential.current());
        let call = Call {
            args,
            meta: RequestMeta::new(request_id, credential),
            transport: self.transport,
            cancel: self.ended.child_token(),
            progress: Progress::default(),
        };
        self.pipeline.open(&self.stream, call, StreamInput::Json).await
    }

    /// Notifies of every change, reopening the stream when it ends. Returns when the client
    /// disconnects, or with the first failure that waiting does not cure.
    pub(crate) async fn follow(
        &self,
        feed: Subscription,
        to: &UpdateSink<'_>,
    ) -> Option<CallFailure> {
        let mut after: Option<Arc<str>> = None;
        let mut wait = WAIT_MIN;
        let mut feed = Some(feed);
        loop {
            while let Some(point) = next_change(&mut feed).await {
                after = Some(point);
                wait = WAIT_MIN;
                if !to.notify(&self.uri).await {
                    return None;
                }
            }
            feed = loop {
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(WAIT_MAX);
                match self.open(after.as_deref()).await {
                    Ok(feed) => break Some(feed),
                    Err(failure) if is_temporary(failure.kind) => {
                        let retry_after = failure.retry_after.unwrap_or_default();
                        wait = wait.max(retry_after).min(WAIT_MAX);
                    }
                    // Opening without a resume point would be refused as well.
                    Err(failure) if is_denied(failure.kind) => return Some(failure),
                    // The events in between are lost, which counts as a change.
                    Err(_) if after.take().is_some() => {
                        if !to.notify(&self.uri).await {
                            return None;
                        }
                    }
                    Err(failure) => return Some(failure),
                }
            };
        }
    }
}

/// Waits for a change and returns the newest resume point. Events without a resume point change
/// nothing that can be read. An ended feed is removed, because it must not be polled again.
async fn next_change(feed: &mut Option<Subscription>) -> Option<Arc<str>> {
    let open = feed.as_mut()?;
    let mut newest = loop {
        let Some(event) = open.next().await else {
            *feed = None;
            return None;
        };
        if let Some(point) = &event.resume {
            break Arc::clone(point);
        }
    };
    for _ in 0..MERGED_MAX {
        match open.next().now_or_never() {
            Some(Some(event)) => newest = event.resume.clone().unwrap_or(newest),
            Some(None) => {
                *feed = None;
                break;
            }
            None => break,
        }
    }
    Some(newest)
}

/// Whether the stream may open later. An internal fault is retried too, rather than leave the
/// subscription silent.
fn is_temporary(kind: Kind) -> bool {
    kind.is_retryable() || kind == Kind::Internal
}

/// Whether the caller is refused, and not the resource.
fn is_denied(kind: Kind) -> bool {
    matches!(kind, Kind::Unauthenticated | Kind::Forbidden)
}
