//! The subscriptions of one connection: those being opened and those that give events, served in
//! turn so that a busy one does not starve the rest. Nothing is queued here: an event is taken from
//! its feed only when there is room to write it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use contract::{StreamOutcome, Subscription};
use fault::Fault;
use serde_json::{Map, Value};

use super::codec::put_text;
use super::message;

/// How many events a subscription may give before it is another's turn.
const TURN_EVENTS: usize = 16;

pub(crate) type Opening = Pin<Box<dyn Future<Output = Option<StreamOutcome>> + Send>>;

pub(crate) struct Entry {
    pub(crate) id: Box<str>,
    /// How its events begin: with its id, so that they can be told from those of others.
    pub(crate) opening: Box<str>,
    pub(crate) stream: Box<str>,
    /// What was asked for, as JSON: kept small, and read again only when a client unsubscribes
    /// without an id.
    pub(crate) fields: Box<str>,
    pub(crate) state: State,
}

pub(crate) enum State {
    Opening(Opening),
    Open(Subscription),
}

#[derive(Default)]
pub(crate) struct Subscriptions {
    entries: Vec<Entry>,
    /// Whose turn it is.
    next: usize,
    /// For the ids of those whose client gave none.
    made: u64,
    /// Why the client may have nothing open any more, once that is so.
    refused: Option<Box<Refused>>,
}

/// A subscription that was ended because of its client's credential.
pub(crate) struct Refused {
    pub(crate) id: Box<str>,
    pub(crate) stream: Box<str>,
    pub(crate) fault: Fault,
}

enum Turn {
    Waiting,
    More,
    Over,
    /// The client's credential is good no more.
    Refused(Fault),
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
            self.made += 1;
            let id = format!("s{}", self.made);
            if !self.has(&id) {
                return id;
            }
        }
    }

    pub(crate) fn add(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// What was refused while gathering; all subscriptions of a connection share its credential.
    pub(crate) fn take_refused(&mut self) -> Option<Box<Refused>> {
        self.refused.take()
    }

    pub(crate) fn clear(&mut self) {
        self.entries = Vec::new();
    }

    /// Drops a subscription, open or not yet, and gives back its id.
    pub(crate) fn remove(&mut self, id: &str) -> Option<Box<str>> {
        let at = self.entries.iter().position(|entry| &*entry.id == id)?;
        Some(self.entries.remove(at).id)
    }

    /// Drops the oldest subscription that asked for the same.
    pub(crate) fn remove_same(
        &mut self,
        stream: &str,
        fields: &Map<String, Value>,
    ) -> Option<Box<str>> {
        let same = |entry: &Entry| {
            let kept: Option<Map<String, Value>> = serde_json::from_str(&entry.fields).ok();
            &*entry.stream == stream && kept.as_ref() == Some(fields)
        };
        let at = self.entries.iter().position(same)?;
        Some(self.entries.remove(at).id)
    }

    /// Writes what is ready, one turn after the other, until there is no more or no more room;
    /// whether it was room that was wanting. Who was not asked then is asked first the next time.
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
                match entry.turn(context, out, room) {
                    Turn::Waiting => self.next += 1,
                    Turn::More => {
                        self.next += 1;
                        more = true;
                    }
                    Turn::Over => _ = self.entries.remove(self.next),
                    Turn::Refused(fault) => {
                        let Entry { id, stream, .. } = self.entries.remove(self.next);
                        self.refused = Some(Box::new(Refused { id, stream, fault }));
                        return false;
                    }
                }
            }
        }
        false
    }
}

impl Entry {
    fn turn(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>, room: usize) -> Turn {
        let subscription = match &mut self.state {
            State::Open(subscription) => subscription,
            State::Opening(opening) => match opening.as_mut().poll(context) {
                Poll::Pending => return Turn::Waiting,
                Poll::Ready(opened) => return self.opened(opened, out),
            },
        };
        for _ in 0..TURN_EVENTS {
            if out.len() >= room {
                break;
            }
            match subscription.poll_next(context) {
                Poll::Pending => return Turn::Waiting,
                Poll::Ready(Some(event)) => {
                    put_text(out, message::event(&self.opening, &event.json));
                }
                Poll::Ready(None) => {
                    if let Some(fault) = subscription.revocation() {
                        return Turn::Refused(fault);
                    }
                    put_text(out, ["", &message::unsubscribed(&self.id)]);
                    return Turn::Over;
                }
            }
        }
        Turn::More
    }

    fn opened(&mut self, opened: Option<StreamOutcome>, out: &mut Vec<u8>) -> Turn {
        match opened {
            Some(Ok(subscription)) => {
                self.state = State::Open(subscription);
                put_text(out, ["", &message::subscribed(&self.id, &self.stream)]);
                Turn::More
            }
            Some(Err(failure)) => {
                put_text(out, ["", &message::error(Some(&self.id), failure)]);
                Turn::Over
            }
            // The stream was there when it was asked for; the table never changes.
            None => Turn::Over,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Waker;

    use contract::{EventFeed, StreamEvent};

    use super::*;

    /// Always has another event, which says whose it is.
    struct Busy(Arc<StreamEvent>);

    impl EventFeed for Busy {
        fn poll_next(&mut self, _context: &mut Context<'_>) -> Poll<Option<Arc<StreamEvent>>> {
            Poll::Ready(Some(Arc::clone(&self.0)))
        }
    }

    fn busy(name: &str) -> Entry {
        let event = StreamEvent { kind: "k", resume: None, json: format!("{{{name}}}").into() };
        Entry {
            id: Box::from(name),
            opening: Box::from(""),
            stream: Box::from("s"),
            fields: Box::from("{}"),
            state: State::Open(Subscription::new(Busy(Arc::new(event)))),
        }
    }

    #[test]
    fn a_busy_one_leaves_room_for_the_others() {
        let mut subscriptions = Subscriptions::default();
        for name in ["a", "b", "c"] {
            subscriptions.add(busy(name));
        }
        // Each event is a frame of five bytes, so a gathering has room for twenty.
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
        assert!(counts.iter().all(|count| count.abs_diff(200) <= TURN_EVENTS), "{counts:?}");
    }
}
