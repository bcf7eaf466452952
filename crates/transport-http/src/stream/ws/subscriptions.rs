//! The subscriptions of one connection, polled round-robin so that a busy one does not starve the
//! rest. An event is taken from its subscription only when there is room to write it; nothing is
//! queued here.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use contract::{StreamOutcome, Subscription};
use fault::Fault;
use serde_json::{Map, Value};

use super::codec::put_text;
use super::message;

/// How many events one subscription may write before the next one is polled.
const ROUND_EVENTS_MAX: usize = 16;

pub(crate) type Opening = Pin<Box<dyn Future<Output = StreamOutcome> + Send>>;

pub(crate) struct OpenSubscription {
    pub(crate) id: Box<str>,
    /// Prefix of its events, which holds the id.
    pub(crate) prefix: Box<str>,
    pub(crate) stream: Box<str>,
    /// The input as JSON text: small, and parsed only when a client unsubscribes without an id.
    pub(crate) fields: Box<str>,
    pub(crate) state: SubscriptionState,
}

pub(crate) enum SubscriptionState {
    Opening(Opening),
    Open(Subscription),
}

#[derive(Default)]
pub(crate) struct Subscriptions {
    entries: Vec<OpenSubscription>,
    /// The next one to poll.
    next: usize,
    /// Counts the ids made for subscriptions without one.
    ids_made: u64,
    /// Set when the credential was revoked.
    revoked: Option<Box<RevokedSubscription>>,
}

/// A subscription that ended because its credential was revoked.
pub(crate) struct RevokedSubscription {
    pub(crate) id: Box<str>,
    pub(crate) stream: Box<str>,
    pub(crate) fault: Fault,
}

enum PollOutcome {
    Pending,
    /// It may have more events.
    More,
    Ended,
    /// The credential was revoked.
    Revoked(Fault),
}

impl Subscriptions {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| &*entry.id == id)
    }

    /// An id that no subscription of this connection has.
    pub(crate) fn make_id(&mut self) -> String {
        loop {
            self.ids_made += 1;
            let id = format!("s{}", self.ids_made);
            if !self.has(&id) {
                return id;
            }
        }
    }

    pub(crate) fn add(&mut self, entry: OpenSubscription) {
        self.entries.push(entry);
    }

    /// The revoked subscription, if one was found; all subscriptions of a connection share its
    /// credential.
    pub(crate) fn take_revoked(&mut self) -> Option<Box<RevokedSubscription>> {
        self.revoked.take()
    }

    pub(crate) fn clear(&mut self) {
        self.entries = Vec::new();
    }

    /// Drops a subscription, open or still opening, and returns its id.
    pub(crate) fn remove(&mut self, id: &str) -> Option<Box<str>> {
        let at = self.entries.iter().position(|entry| &*entry.id == id)?;
        Some(self.entries.remove(at).id)
    }

    /// Drops the oldest subscription with the same stream and input.
    pub(crate) fn remove_same(
        &mut self,
        stream: &str,
        fields: &Map<String, Value>,
    ) -> Option<Box<str>> {
        let same = |entry: &OpenSubscription| {
            let kept: Option<Map<String, Value>> = serde_json::from_str(&entry.fields).ok();
            &*entry.stream == stream && kept.as_ref() == Some(fields)
        };
        let at = self.entries.iter().position(same)?;
        Some(self.entries.remove(at).id)
    }

    /// Writes ready events into `out`, round-robin, until none is ready or `out` holds `room` bytes;
    /// returns whether `room` was the reason. The next call continues after the last one polled.
    pub(crate) fn gather(
        &mut self,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
        room: usize,
    ) -> bool {
        let mut more = true;
        while more {
            more = false;
            for _ in 0..self.entries.len() {
                if out.len() >= room {
                    return true;
                }
                if self.next >= self.entries.len() {
                    self.next = 0;
                }
                let Some(entry) = self.entries.get_mut(self.next) else { return false };
                match entry.poll_events(context, out, room) {
                    PollOutcome::Pending => self.next += 1,
                    PollOutcome::More => {
                        self.next += 1;
                        more = true;
                    }
                    PollOutcome::Ended => _ = self.entries.remove(self.next),
                    PollOutcome::Revoked(fault) => {
                        let OpenSubscription { id, stream, .. } = self.entries.remove(self.next);
                        self.revoked = Some(Box::new(RevokedSubscription { id, stream, fault }));
                        return false;
                    }
                }
            }
        }
        false
    }
}

impl OpenSubscription {
    fn poll_events(
        &mut self,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
        room: usize,
    ) -> PollOutcome {
        let subscription = match &mut self.state {
            SubscriptionState::Open(subscription) => subscription,
            SubscriptionState::Opening(opening) => match opening.as_mut().poll(context) {
                Poll::Pending => return PollOutcome::Pending,
                Poll::Ready(opened) => return self.opened(opened, out),
            },
        };
        for _ in 0..ROUND_EVENTS_MAX {
            if out.len() >= room {
                break;
            }
            match subscription.poll_next(context) {
                Poll::Pending => return PollOutcome::Pending,
                Poll::Ready(Some(event)) => {
                    put_text(out, message::event(&self.prefix, &event.json));
                }
                Poll::Ready(None) => {
                    if let Some(fault) = subscription.revocation() {
                        return PollOutcome::Revoked(fault);
                    }
                    put_text(out, ["", &message::unsubscribed(&self.id)]);
                    return PollOutcome::Ended;
                }
            }
        }
        PollOutcome::More
    }

    fn opened(&mut self, opened: StreamOutcome, out: &mut Vec<u8>) -> PollOutcome {
        match opened {
            Ok(subscription) => {
                self.state = SubscriptionState::Open(subscription);
                put_text(out, ["", &message::subscribed(&self.id, &self.stream)]);
                PollOutcome::More
            }
            Err(failure) => {
                put_text(out, ["", &message::error(Some(&self.id), failure)]);
                PollOutcome::Ended
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Waker;

    use contract::{EventFeed, StreamEvent};

    use super::*;

    /// Always has another event, with the subscription's name in it.
    struct Busy(Arc<StreamEvent>);

    impl EventFeed for Busy {
        fn poll_next(&mut self, _context: &mut Context<'_>) -> Poll<Option<Arc<StreamEvent>>> {
            Poll::Ready(Some(Arc::clone(&self.0)))
        }
    }

    fn busy(name: &str) -> OpenSubscription {
        let event = StreamEvent { kind: "k", resume: None, json: format!("{{{name}}}").into() };
        OpenSubscription {
            id: Box::from(name),
            prefix: Box::from(""),
            stream: Box::from("s"),
            fields: Box::from("{}"),
            state: SubscriptionState::Open(Subscription::new(Busy(Arc::new(event)))),
        }
    }

    #[test]
    fn busy_subscriptions_share_the_room_evenly() {
        let mut subscriptions = Subscriptions::default();
        for name in ["a", "b", "c"] {
            subscriptions.add(busy(name));
        }
        // Each event is a frame of five bytes, so 100 bytes hold twenty.
        let mut context = Context::from_waker(Waker::noop());
        let mut all = Vec::new();
        for _ in 0..30 {
            let mut out = Vec::new();
            assert!(subscriptions.gather(&mut context, &mut out, 100));
            assert_eq!(out.len(), 100);
            all.extend(out);
        }
        let count = |name: u8| all.iter().filter(|byte| **byte == name).count();
        let counts = [b'a', b'b', b'c'].map(count);
        assert_eq!(counts.iter().sum::<usize>(), 600);
        assert!(counts.iter().all(|count| count.abs_diff(200) <= ROUND_EVENTS_MAX), "{counts:?}");
    }
}
