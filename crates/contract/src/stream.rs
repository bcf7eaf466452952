//! Streams: a subscription is opened like a call and then yields events until it ends. How events
//! are sent is up to the transport.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use fault::Fault;
use serde_json::Value;

use crate::credential_monitor::CredentialWatch;
use crate::meter::Meter;
use crate::spec::StreamSpec;

/// One message of a stream, serialized once for all its readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    /// The contract's name of this kind of event; SSE sends it as `event`.
    pub kind: &'static str,
    /// The resume point of a reader that has received this event; `None` if the event is not a
    /// resume point.
    pub resume: Option<Arc<str>>,
    /// A JSON object that matches the stream's event schema.
    pub json: Arc<str>,
}

/// A source of events. Dropping it ends the subscription.
pub trait EventFeed: Send + Unpin {
    /// The next event; `None` when the stream is over. If the reader should know why, the feed
    /// yields an event that says so before it ends.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<StreamEvent>>>;

    /// The fault code for the metrics if the feed ended because its reader was too slow.
    fn cut_off(&self) -> Option<&'static str> {
        None
    }
}

/// Counts a subscription that the server cut off.
pub(crate) struct CutOffCounter {
    pub(crate) meter: Arc<dyn Meter>,
    pub(crate) service: Arc<str>,
}

/// An open subscription, as transports read it.
pub struct Subscription {
    feed: Box<dyn EventFeed>,
    /// The meter's guard: dropping it counts the subscription as closed.
    _open: Option<Box<dyn Send + Sync>>,
    /// Set if events are validated against their schema.
    validated: Option<Arc<StreamSpec>>,
    /// Set if the subscription needed a credential, which may expire or be revoked.
    credential: Option<WatchedCredential>,
    /// Taken when the cut-off is counted, so that it is counted once.
    cut_off: Option<CutOffCounter>,
}

struct WatchedCredential {
    watch: Arc<CredentialWatch>,
    revoked: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Subscription {
    /// A subscription to a feed.
    pub fn new(feed: impl EventFeed + 'static) -> Self {
        let feed = Box::new(feed);
        Self { feed, _open: None, validated: None, credential: None, cut_off: None }
    }

    /// Adds what the pipeline checks and counts while the subscription is open.
    pub(crate) fn monitored(
        self,
        open: Box<dyn Send + Sync>,
        validated: Option<Arc<StreamSpec>>,
        watch: Option<Arc<CredentialWatch>>,
        cut_off: CutOffCounter,
    ) -> Self {
        let credential =
            watch.map(|watch| WatchedCredential { revoked: Box::pin(watch.revoked()), watch });
        Self { feed: self.feed, _open: Some(open), validated, credential, cut_off: Some(cut_off) }
    }

    /// Why the stream ended, if it ended because its credential was revoked.
    pub fn revocation(&self) -> Option<Fault> {
        self.credential.as_ref()?.watch.revocation()
    }

    /// Polls for the next event; `None` when the stream is over.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<StreamEvent>>> {
        if let Some(credential) = &mut self.credential
            && (credential.watch.is_revoked()
                || credential.revoked.as_mut().poll(context).is_ready())
        {
            return Poll::Ready(None);
        }
        let polled = self.feed.poll_next(context);
        let Poll::Ready(Some(event)) = &polled else {
            if polled.is_ready()
                && let Some(code) = self.feed.cut_off()
                && let Some(CutOffCounter { meter, service }) = self.cut_off.take()
            {
                meter.stream_cut_off(&service, code);
            }
            return polled;
        };
        let Some(Err(fault)) = self.validated.as_deref().map(|spec| validate(spec, event)) else {
            return polled;
        };
        tracing::error!(kind = event.kind, "an event broke its own contract: {fault}");
        Poll::Ready(None)
    }

    /// The next event; `None` when the stream is over. Cancel-safe: no event is lost.
    pub async fn next(&mut self) -> Option<Arc<StreamEvent>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

fn validate(stream: &StreamSpec, event: &StreamEvent) -> Result<(), Fault> {
    let json: Value = serde_json::from_str(&event.json).map_err(Fault::internal)?;
    stream.event.check(&json)
}
