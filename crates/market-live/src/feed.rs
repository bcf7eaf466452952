//! The events of one subscription: first the closed candles the subscriber missed, then the live ones.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use clock::{Millis, TimeRange};
use fanout::{EndReason, Next};
use fault::Fault;
use market::{EndCause, FeedEnd, Interval, KlineEvent, KlineFeed};

use crate::replay::Replay;
use crate::series_broadcast::SeriesSubscriber;

/// Refuses a resume point that lies more than `candles_max` candles before `now`.
pub fn check_resume_point(
    interval: Interval,
    after: Millis,
    now: Millis,
    candles_max: u64,
) -> Result<(), Fault> {
    let missed = TimeRange::new(Millis(after.0.max(0)), now.max(Millis(0)));
    if after.0 < 0 || interval.count_in(missed) > candles_max {
        let message = format!("candles after {after} are too many to send again");
        let fault = Fault::invalid("resume_too_far", message);
        return Err(fault.problem("after", format!("at most {candles_max} candles ago")));
    }
    Ok(())
}

/// The events of one subscription, in order and without a gap.
pub struct LiveFeed {
    /// Candles before the subscriber's first live one; `None` when all of them were returned.
    replay: Option<Replay>,
    subscriber: SeriesSubscriber,
    /// The opening time of the last closed candle that was returned.
    resume_after: Millis,
    /// Whether the end was returned.
    ended: bool,
}

impl LiveFeed {
    /// `after` is the opening time of the last closed candle the subscriber has.
    pub fn new(replay: Option<Replay>, subscriber: SeriesSubscriber, after: Millis) -> Self {
        Self { replay, subscriber, resume_after: after, ended: false }
    }

    fn end(&mut self, cause: EndCause) -> Poll<Option<Arc<KlineEvent>>> {
        self.ended = true;
        let end = FeedEnd { cause, resume_after: self.resume_after };
        Poll::Ready(Some(Arc::new(KlineEvent::Ended(end))))
    }
}

impl KlineFeed for LiveFeed {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<KlineEvent>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        while let Some(replay) = &mut self.replay {
            match replay.poll_next(context) {
                // A replay may wait for the exchange; a server that shuts down does not wait for it.
                Poll::Pending => {
                    ready!(self.subscriber.queue.poll_closed(context));
                    return self.end(EndCause::Closed);
                }
                Poll::Ready(Some(kline)) => {
                    self.resume_after = kline.bar.open_time;
                    let as_of = kline.close_time;
                    return Poll::Ready(Some(Arc::new(KlineEvent::Candle { kline, as_of })));
                }
                Poll::Ready(None) => self.replay = None,
            }
        }
        loop {
            let event = match ready!(self.subscriber.queue.poll_next(context)) {
                Next::Event(event) => event,
                Next::Ended(EndReason::TooSlow) => return self.end(EndCause::TooSlow),
                Next::Ended(EndReason::Closed) => return self.end(EndCause::Closed),
            };
            if let KlineEvent::Candle { kline, .. } = &*event {
                // A subscriber that read elsewhere before may already have this candle.
                if kline.bar.open_time <= self.resume_after {
                    continue;
                }
                if kline.closed {
                    self.resume_after = kline.bar.open_time;
                }
            }
            return Poll::Ready(Some(event));
        }
    }
}
