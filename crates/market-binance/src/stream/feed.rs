//! One subscription to this exchange, and what its reader missed before it began.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use market::{Interval, Kline, Millis, Span};

use super::backfill::look_until_known;
use crate::Inner;
use crate::record::Filled;

pub(crate) type Feed = upstream::Feed<Replay>;

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
}

impl upstream::Replay for Replay {
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
