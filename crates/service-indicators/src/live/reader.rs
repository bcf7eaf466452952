//! The event feed of one subscriber: missed candles first, then live events and heartbeats.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use clock::Millis;
use contract::{EventFeed, StreamEvent};
use fanout::{EndReason, Next, Subscriber};
use limits::MemoryReservation;
use tokio::time::{Interval, MissedTickBehavior};

use super::ReaderSlot;
use super::channel::{Channel, JoinedSubscriber};
use super::event::{ChannelEvent, Ended, Status};
use super::replay::Replay;
use super::subscription_request::SubscriptionRequest;

pub(crate) struct Reader {
    channel: Arc<Channel>,
    /// Missed candles that are older than the channel's recent events.
    replay: Option<Box<Replay>>,
    /// Missed candles that the channel still held.
    recent_events: VecDeque<Arc<ChannelEvent>>,
    /// What the missed candles take of the stream memory; `None` once they were read.
    missed_memory: Option<MemoryReservation>,
    subscriber: Subscriber<ChannelEvent>,
    heartbeat: Interval,
    /// The resume point: candles up to this opening time are skipped.
    after: Millis,
    /// Why the feed ended; `None` while it runs.
    ended: Option<Ended>,
    _slot: ReaderSlot,
}

/// The metric code of a reader that was disconnected for reading too slowly.
pub(crate) const TOO_SLOW: &str = "reader_too_slow";

/// One event of a reader, by its role.
pub(crate) enum ReaderEvent {
    Candle { event: Arc<StreamEvent>, closed: bool },
    Other(Arc<StreamEvent>),
    Ended { event: Arc<StreamEvent>, cause: Ended },
}

impl Reader {
    pub(crate) fn new(
        channel: &Arc<Channel>,
        request: &SubscriptionRequest,
        joined: JoinedSubscriber,
        replay: Option<Box<Replay>>,
        missed_memory: MemoryReservation,
        slot: ReaderSlot,
    ) -> Self {
        let every = request.heartbeat;
        let mut heartbeat = tokio::time::interval_at(tokio::time::Instant::now() + every, every);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Without a resume point a subscriber starts after the last candle that closed before it
        // joined.
        let after = request.after.unwrap_or(joined.last);
        Self {
            channel: Arc::clone(channel),
            replay,
            recent_events: joined.recent_events.into(),
            missed_memory: (missed_memory.bytes() > 0).then_some(missed_memory),
            subscriber: joined.subscriber,
            heartbeat,
            after,
            ended: None,
            _slot: slot,
        }
    }

    /// Opening time of the last closed candle that was read: the resume point.
    pub(crate) fn after(&self) -> Millis {
        self.after
    }

    pub(crate) fn is_too_slow(&self) -> bool {
        self.ended == Some(Ended::TooSlow)
    }

    pub(crate) fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Option<ReaderEvent>> {
        if self.ended.is_some() {
            return Poll::Ready(None);
        }
        while let Some(message) = self.next_missed() {
            if let Some(read) = self.read(&message) {
                return Poll::Ready(Some(read));
            }
        }
        while let Poll::Ready(next) = self.subscriber.poll_next(context) {
            let message = match next {
                Next::Event(message) => message,
                Next::Ended(cause) => return Poll::Ready(Some(self.end(cause))),
            };
            if let Some(read) = self.read(&message) {
                return Poll::Ready(Some(read));
            }
        }
        ready!(self.heartbeat.poll_tick(context));
        Poll::Ready(Some(ReaderEvent::Other(self.channel.heartbeat())))
    }

    pub(crate) async fn read_next(&mut self) -> Option<ReaderEvent> {
        std::future::poll_fn(|context| self.poll_read(context)).await
    }

    /// The next candle that closed before this reader joined; frees each buffer when it is empty.
    fn next_missed(&mut self) -> Option<Arc<ChannelEvent>> {
        if let Some(message) = self.replay.as_mut().and_then(|replay| replay.next()) {
            return Some(Arc::new(message));
        }
        self.replay = None;
        let message = self.recent_events.pop_front();
        if self.recent_events.is_empty() {
            self.recent_events = VecDeque::new();
            self.missed_memory = None;
        }
        message
    }

    /// Skips candles that this reader already has.
    fn read(&mut self, message: &ChannelEvent) -> Option<ReaderEvent> {
        let event = Arc::clone(&message.event);
        let Some(at) = message.candle else { return Some(ReaderEvent::Other(event)) };
        if at <= self.after {
            return None;
        }
        if message.closed {
            self.after = at;
        }
        Some(ReaderEvent::Candle { event, closed: message.closed })
    }

    fn end(&mut self, end: EndReason) -> ReaderEvent {
        let cause = match end {
            EndReason::TooSlow => Ended::TooSlow,
            EndReason::Closed => self.channel.end_cause(),
        };
        self.ended = Some(cause);
        let status = Status::Ended { cause, resume_after: self.after };
        let event = self.channel.subject.status(status, self.channel.clock.now());
        ReaderEvent::Ended { event, cause }
    }
}

impl EventFeed for Reader {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<StreamEvent>>> {
        self.poll_read(context).map(|read| {
            read.map(|read| match read {
                ReaderEvent::Candle { event, .. }
                | ReaderEvent::Other(event)
                | ReaderEvent::Ended { event, .. } => event,
            })
        })
    }

    fn cut_off(&self) -> Option<&'static str> {
        self.is_too_slow().then_some(TOO_SLOW)
    }
}
