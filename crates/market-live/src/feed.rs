//! One subscription: first what the reader missed, then what comes.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use clock::{Millis, TimeRange};
use fanout::{End, Next};
use fault::Fault;
use market::{EndCause, FeedEnd, Interval, KlineEvent, KlineFeed};

use crate::hub::SeriesSubscriber;
use crate::replay::Replay;

/// Refuses a reader who was away for more than `most` candles.
pub fn check_resume(
    interval: Interval,
    after: Millis,
    now: Millis,
    most: u64,
) -> Result<(), Fault> {
    let missed = TimeRange::new(Millis(after.0.max(0)), now.max(Millis(0)));
    if after.0 < 0 || interval.count_in(missed) > most {
        let message = format!("candles after {after} are too many to be told again");
        let fault = Fault::invalid("resume_too_far", message);
        return Err(fault.problem("after", format!("at most {most} candles ago")));
    }
    Ok(())
}

/// What one reader reads.
pub struct Feed {
    /// What came before the first candle of the seat.
    pub replay: Option<Replay>,
    pub seat: SeriesSubscriber,
    /// The last closed candle the reader has.
    pub after: Millis,
    /// Its end was told.
    pub over: bool,
}

impl Feed {
    fn end(&mut self, cause: EndCause) -> Poll<Option<Arc<KlineEvent>>> {
        self.over = true;
        let end = FeedEnd { cause, resume_after: self.after };
        Poll::Ready(Some(Arc::new(KlineEvent::Ended(end))))
    }
}

impl KlineFeed for Feed {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<KlineEvent>>> {
        if self.over {
            return Poll::Ready(None);
        }
        while let Some(replay) = &mut self.replay {
            match replay.poll_next(context) {
                // A replay may have to wait for the exchange; the house does not wait for it.
                Poll::Pending => {
                    ready!(self.seat.place.poll_closed(context));
                    return self.end(EndCause::Closed);
                }
                Poll::Ready(Some(kline)) => {
                    self.after = kline.bar.open_time;
                    let as_of = kline.close_time;
                    return Poll::Ready(Some(Arc::new(KlineEvent::Candle { kline, as_of })));
                }
                Poll::Ready(None) => self.replay = None,
            }
        }
        loop {
            let event = match ready!(self.seat.place.poll_next(context)) {
                Next::Event(event) => event,
                Next::Ended(End::TooSlow) => return self.end(EndCause::TooSlow),
                Next::Ended(End::Closed) => return self.end(EndCause::Closed),
            };
            if let KlineEvent::Candle { kline, .. } = &*event {
                // The reader may be ahead of us, having read elsewhere before.
                if kline.bar.open_time <= self.after {
                    continue;
                }
                if kline.closed {
                    self.after = kline.bar.open_time;
                }
            }
            return Poll::Ready(Some(event));
        }
    }
}
