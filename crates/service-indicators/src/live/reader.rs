//! What one subscriber reads: what it missed, then what comes, with heartbeats in between.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use clock::Millis;
use contract::{EventFeed, StreamEvent};
use fanout::{EndReason, Next, Subscriber};
use tokio::time::{Interval, MissedTickBehavior};

use super::Counted;
use super::ask::Ask;
use super::channel::{Channel, Joined};
use super::event::{ChannelEvent, Ended, Status};
use super::missed::Replay;

pub(crate) struct Reader {
    channel: Arc<Channel>,
    /// What is older than the channel's memory.
    missed: Option<Box<Replay>>,
    /// What the channel still had.
    kept: VecDeque<Arc<ChannelEvent>>,
    seat: Subscriber<ChannelEvent>,
    heartbeat: Interval,
    /// The last closed candle that was read or is not wanted.
    after: Millis,
    /// Why it is over, once it is.
    ended: Option<Ended>,
    _counted: Counted,
}

/// What a reader that was cut off is counted as.
pub(crate) const TOO_SLOW: &str = "reader_too_slow";

/// What a reader finds, with what it is about.
pub(crate) enum Read {
    Candle { event: Arc<StreamEvent>, closed: bool },
    Other(Arc<StreamEvent>),
    Ended { event: Arc<StreamEvent>, cause: Ended },
}

impl Reader {
    pub(crate) fn new(
        channel: &Arc<Channel>,
        ask: &Ask,
        joined: Joined,
        missed: Option<Box<Replay>>,
        counted: Counted,
    ) -> Self {
        let every = ask.heartbeat;
        let mut heartbeat = tokio::time::interval_at(tokio::time::Instant::now() + every, every);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // A new subscriber begins after what was closed before it came.
        let after = ask.after.unwrap_or(joined.last);
        Self {
            channel: Arc::clone(channel),
            missed,
            kept: joined.kept.into(),
            seat: joined.seat,
            heartbeat,
            after,
            ended: None,
            _counted: counted,
        }
    }

    /// The last closed candle that was read: where to continue.
    pub(crate) fn after(&self) -> Millis {
        self.after
    }

    pub(crate) fn is_too_slow(&self) -> bool {
        self.ended == Some(Ended::TooSlow)
    }

    pub(crate) fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Option<Read>> {
        if self.ended.is_some() {
            return Poll::Ready(None);
        }
        while let Some(told) = self.next_missed() {
            if let Some(read) = self.read(&told) {
                return Poll::Ready(Some(read));
            }
        }
        while let Poll::Ready(next) = self.seat.poll_next(context) {
            let told = match next {
                Next::Event(told) => told,
                Next::Ended(cause) => return Poll::Ready(Some(self.end(cause))),
            };
            if let Some(read) = self.read(&told) {
                return Poll::Ready(Some(read));
            }
        }
        ready!(self.heartbeat.poll_tick(context));
        Poll::Ready(Some(Read::Other(self.channel.heartbeat())))
    }

    pub(crate) async fn read_next(&mut self) -> Option<Read> {
        std::future::poll_fn(|context| self.poll_read(context)).await
    }

    /// What was closed before this reader came; its memory is given back with the last of it.
    fn next_missed(&mut self) -> Option<Arc<ChannelEvent>> {
        if let Some(told) = self.missed.as_mut().and_then(|missed| missed.next()) {
            return Some(Arc::new(told));
        }
        self.missed = None;
        let told = self.kept.pop_front();
        if self.kept.is_empty() {
            self.kept = VecDeque::new();
        }
        told
    }

    /// Leaves out what this reader has already.
    fn read(&mut self, told: &ChannelEvent) -> Option<Read> {
        let event = Arc::clone(&told.event);
        let Some(at) = told.candle else { return Some(Read::Other(event)) };
        if at <= self.after {
            return None;
        }
        if told.closed {
            self.after = at;
        }
        Some(Read::Candle { event, closed: told.closed })
    }

    fn end(&mut self, end: EndReason) -> Read {
        let cause = match end {
            EndReason::TooSlow => Ended::TooSlow,
            EndReason::Closed => self.channel.over(),
        };
        self.ended = Some(cause);
        let status = Status::Ended { cause, resume_after: self.after };
        let event = self.channel.subject.status(status, self.channel.clock.now());
        Read::Ended { event, cause }
    }
}

impl EventFeed for Reader {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<StreamEvent>>> {
        self.poll_read(context).map(|read| {
            read.map(|read| match read {
                Read::Candle { event, .. } | Read::Other(event) | Read::Ended { event, .. } => {
                    event
                }
            })
        })
    }

    fn cut_off(&self) -> Option<&'static str> {
        self.is_too_slow().then_some(TOO_SLOW)
    }
}
