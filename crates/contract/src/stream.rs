//! Streams: an answer that goes on. A subscription is opened like a call is made, and then gives
//! events until it ends; how they travel is the transport's affair.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use fault::Fault;
use serde_json::Value;

use crate::pipeline::Meter;
use crate::spec::StreamSpec;
use crate::standing::Standing;

/// One message of a stream. It is serialized once, however many read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The contract's own word for what this is; SSE's `event`.
    pub kind: &'static str,
    /// Where a reader that has this event continues; `None` where it marks no place.
    pub resume: Option<Arc<str>>,
    /// A JSON object that fits the stream's event schema.
    pub json: Arc<str>,
}

/// Where events come from. Dropping it ends the subscription.
pub trait EventFeed: Send + Unpin {
    /// The next event; `None` when the stream is over. An end that the reader should know about
    /// is told by an event before it.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<Event>>>;

    /// Why it is over, where its reader is to blame; for those who count.
    fn cut_off(&self) -> Option<&'static str> {
        None
    }
}

/// Who counts the ends.
pub(crate) struct Ending {
    pub(crate) meter: Arc<dyn Meter>,
    pub(crate) service: Arc<str>,
}

/// An open subscription, as transports read it.
pub struct Subscription {
    feed: Box<dyn EventFeed>,
    /// Tells the meter when it is over, by being dropped.
    _open: Option<Box<dyn Send + Sync>>,
    /// Set where events are held against their schema.
    checked: Option<Arc<StreamSpec>>,
    /// Set where a credential was needed, which may expire or be taken back.
    leave: Option<Leave>,
    /// Taken when the end was counted.
    ending: Option<Ending>,
}

/// The credential's standing, and the sign that it was lost.
struct Leave {
    standing: Arc<Standing>,
    lost: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Subscription {
    pub fn new(feed: impl EventFeed + 'static) -> Self {
        Self { feed: Box::new(feed), _open: None, checked: None, leave: None, ending: None }
    }

    pub(crate) fn watched(
        self,
        open: Box<dyn Send + Sync>,
        checked: Option<Arc<StreamSpec>>,
        standing: Option<Arc<Standing>>,
        ending: Ending,
    ) -> Self {
        let leave = standing.map(|standing| Leave { lost: Box::pin(standing.watch()), standing });
        Self { feed: self.feed, _open: Some(open), checked, leave, ending: Some(ending) }
    }

    /// Why the stream is over, where it is because its credential is good no more.
    pub fn refused(&self) -> Option<Fault> {
        self.leave.as_ref()?.standing.lost()
    }

    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<Event>>> {
        if let Some(leave) = &mut self.leave
            && (leave.standing.is_lost() || leave.lost.as_mut().poll(context).is_ready())
        {
            return Poll::Ready(None);
        }
        let polled = self.feed.poll_next(context);
        let Poll::Ready(Some(event)) = &polled else {
            if polled.is_ready()
                && let Some(code) = self.feed.cut_off()
                && let Some(Ending { meter, service }) = self.ending.take()
            {
                meter.lost(&service, code);
            }
            return polled;
        };
        let Some(Err(fault)) = self.checked.as_deref().map(|stream| held(stream, event)) else {
            return polled;
        };
        tracing::error!(kind = event.kind, "an event broke its own contract: {fault}");
        Poll::Ready(None)
    }

    /// The next event; `None` when the stream is over. Nothing is lost by giving up waiting.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

fn held(stream: &StreamSpec, event: &Event) -> Result<(), Fault> {
    let json: Value = serde_json::from_str(&event.json).map_err(Fault::internal)?;
    stream.event.check(&json)
}
