//! Resources that a client watches: one task each, bounded, ended with the session. What changed is
//! not told, only that something did; the client reads again.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use contract::{
    Call, CallFailure, Credential, Pipeline, Progress, RequestMeta, StreamInput, StreamSpec,
    Subscription,
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

/// Resources that one session may watch at once.
pub(crate) const SUBSCRIPTIONS_MAX: usize = 64;

/// How long to wait before a stream that ended is opened again: at first, and at most.
const WAIT_MIN: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Events that one notification may stand for. A client that reads slowly gets fewer notifications.
const MERGED_MAX: usize = 256;

/// What one session watches. Dropping it ends every task.
pub(crate) struct SessionSubscriptions {
    places: Arc<Semaphore>,
    running: Mutex<Running>,
    /// Fires when the session can no longer hear anything, or the server stops.
    pub(crate) over: CancellationToken,
}

#[derive(Default)]
struct Running {
    tasks: JoinSet<()>,
    by_uri: HashMap<String, AbortHandle>,
}

impl Running {
    /// Forgets the tasks that have ended by themselves.
    fn sweep(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        self.by_uri.retain(|_, task| !task.is_finished());
    }
}

impl SessionSubscriptions {
    /// `until` ends them all at once.
    pub(crate) fn new(until: &CancellationToken) -> Self {
        let places = Arc::new(Semaphore::new(SUBSCRIPTIONS_MAX));
        Self { places, running: Mutex::default(), over: until.child_token() }
    }

    fn running(&self) -> parking_lot::MutexGuard<'_, Running> {
        self.running.lock()
    }

    /// Reserves room for `for_more` subscriptions until the permit is dropped.
    pub(crate) fn room(&self, for_more: usize) -> Result<OwnedSemaphorePermit, ErrorData> {
        let more = u32::try_from(for_more).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.places).try_acquire_many_owned(more);
        room.map_err(|_| answer::too_many_subscriptions(SUBSCRIPTIONS_MAX))
    }

    pub(crate) fn has(&self, uri: &str) -> bool {
        let mut running = self.running();
        running.sweep();
        running.by_uri.contains_key(uri)
    }

    /// Tells a session of changes until it ends or gives the resource up.
    pub(crate) fn start(
        &self,
        watch: ResourceSubscription,
        feed: Subscription,
        session: Peer<RoleServer>,
        room: OwnedSemaphorePermit,
    ) {
        let over = self.over.clone();
        let uri = watch.uri.clone();
        let mut running = self.running();
        running.sweep();
        let task = running.tasks.spawn(async move {
            let _room = room;
            let listener = UpdateSink::Session(session);
            let told = watch.follow(feed, &listener);
            if let Some(Some(failure)) = over.run_until_cancelled(told).await {
                // The older protocol cannot report a failure. The session gets a change, reads, and
                // sees the error.
                tracing::debug!(uri = watch.uri, code = failure.code, "a watched resource is gone");
                listener.notify(&watch.uri).await;
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
        self.over.cancel();
    }
}

/// The receiver of changes: a session of the older protocol, or one request of the newer.
pub(crate) enum UpdateSink<'a> {
    Session(Peer<RoleServer>),
    Request(&'a SubscriptionSink),
}

impl UpdateSink<'_> {
    /// Whether the listener is still there.
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
            tracing::debug!(error, "nobody listens to a watched resource any more");
        }
        failed.is_none()
    }
}

/// One watched resource: what opens its stream, again and again if need be.
pub(crate) struct ResourceSubscription {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) uri: String,
    pub(crate) service: Arc<str>,
    pub(crate) stream: Arc<StreamSpec>,
    pub(crate) args: Map<String, Value>,
    pub(crate) credential: Credential,
    pub(crate) transport: &'static str,
    pub(crate) request_id: Arc<str>,
    pub(crate) over: CancellationToken,
}

impl ResourceSubscription {
    /// Opens the stream, after a point that was reached or from now on.
    pub(crate) async fn open(&self, after: Option<&str>) -> Result<Subscription, CallFailure> {
        let mut args = self.args.clone();
        if let Some(after) = after {
            args.insert(self.stream.resume.clone(), resume_argument(&self.stream, after));
        }
        let (request_id, credential) = (Arc::clone(&self.request_id), self.credential.clone());
        let call = Call {
            args,
            meta: RequestMeta { request_id, credential },
            transport: self.transport,
            cancel: self.over.child_token(),
            progress: Progress::default(),
        };
        let (service, stream) = (&self.service, &self.stream.name);
        match self.pipeline.open(service, stream, call, StreamInput::Json).await {
            Some(opened) => opened,
            // The family was listed with its stream, so this is a contract without its row.
            None => Err(self.missing()),
        }
    }

    fn missing(&self) -> CallFailure {
        let message = format!("the stream {} has no row", self.stream.name);
        CallFailure {
            kind: Kind::Internal,
            code: "internal",
            http_status: 500,
            retry_after: None,
            tool_error: Value::from(message.clone()),
            http_body: Value::from(message),
        }
    }

    /// Notifies of every change. Ends when no receiver is left, or with a failure that a retry
    /// cannot cure.
    pub(crate) async fn follow(
        &self,
        feed: Subscription,
        to: &UpdateSink<'_>,
    ) -> Option<CallFailure> {
        let mut after: Option<Arc<str>> = None;
        let mut wait = WAIT_MIN;
        let mut feed = Some(feed);
        loop {
            while let Some(point) = changed(&mut feed).await {
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
                    Err(failure) if may_pass(failure.kind) => {
                        let told = failure.retry_after.unwrap_or_default();
                        wait = wait.max(told).min(WAIT_MAX);
                    }
                    // From the beginning it would be refused just the same.
                    Err(failure) if is_denied(failure.kind) => return Some(failure),
                    // What lies between is lost, which is a change in itself.
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

/// The newest point a feed has reached, once it has moved. Events that mark no place change nothing
/// that could be read. A feed that is over is taken away, for it must not be asked again.
async fn changed(feed: &mut Option<Subscription>) -> Option<Arc<str>> {
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

/// Whether the same stream may open later. Internal errors are retried too, because a silent
/// subscription is useless to a client.
fn may_pass(kind: Kind) -> bool {
    kind.is_retryable() || kind == Kind::Internal
}

/// Whether it is the caller who is refused, and not what was asked for.
fn is_denied(kind: Kind) -> bool {
    matches!(kind, Kind::Unauthenticated | Kind::Forbidden)
}
