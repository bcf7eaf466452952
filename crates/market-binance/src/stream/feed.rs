//! One subscription: first what the reader missed, then what comes.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fanout::{End, Next};
use market::{EndCause, FeedEnd, Interval, Kline, KlineEvent, KlineFeed, Millis, Span};

use super::backfill::look_until_known;
use super::hub::Seat;
use crate::Inner;
use crate::record::Filled;

/// Closed candles from before the subscription began, fetched page by page as they are read.
pub(crate) struct Replay {
    inner: Arc<Inner>,
    code: Arc<str>,
    interval: Interval,
    next: Millis,
    /// The first candle that will come live.
    until: Millis,
    /// The symbol does not trade any more, so the record has an end.
    halted: bool,
    rows: VecDeque<Kline>,
    looking: Option<Pin<Box<dyn Future<Output = Filled> + Send>>>,
}

impl Replay {
    pub(crate) fn new(
        inner: &Arc<Inner>,
        (code, interval): (&str, Interval),
        missed: Span,
        halted: bool,
    ) -> Self {
        Self {
            inner: Arc::clone(inner),
            code: code.into(),
            interval,
            next: missed.from,
            until: missed.to,
            halted,
            rows: VecDeque::new(),
            looking: None,
        }
    }

    /// `None` when everything before the live part was told.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Kline>> {
        loop {
            if let Some(row) = self.rows.pop_front() {
                return Poll::Ready(Some(row));
            }
            if self.next >= self.until {
                return Poll::Ready(None);
            }
            let looking = self.looking.get_or_insert_with(|| {
                let (inner, code) = (Arc::clone(&self.inner), Arc::clone(&self.code));
                let ends_at = self.halted.then_some(self.until);
                Box::pin(look_until_known(inner, code, self.interval, self.next, ends_at))
            });
            let filled = ready!(looking.as_mut().poll(context));
            self.looking = None;
            self.next = filled.known_to;
            let until = self.until;
            self.rows.extend(filled.rows.into_iter().filter(|row| row.bar.open_time < until));
        }
    }
}

pub(crate) struct Feed {
    pub(crate) replay: Option<Replay>,
    pub(crate) seat: Seat,
    /// The last closed candle the reader has.
    pub(crate) after: Millis,
    pub(crate) over: bool,
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
