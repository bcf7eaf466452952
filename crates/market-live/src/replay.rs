//! Closed candles from before a subscription, fetched page by page as they are read. Adapters decide
//! how to fetch a page and when its candles are final.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use clock::{Millis, TimeRange};
use market::Kline;

/// One fetched page.
#[derive(Debug)]
pub struct ReplayPage {
    /// Closed, ascending.
    pub klines: Vec<Kline>,
    /// Every closed candle before this time is in `klines` or does not exist. Later than the start of
    /// the page.
    pub complete_to: Millis,
}

type PageFuture = Pin<Box<dyn Future<Output = ReplayPage> + Send>>;

/// The missed candles of a series that were not returned yet.
pub struct Replay {
    /// What is still to be fetched, up to the first live candle.
    missed: TimeRange,
    fetched: VecDeque<Kline>,
    fetch_page: Box<dyn Fn(TimeRange) -> PageFuture + Send>,
    fetching: Option<PageFuture>,
}

impl Replay {
    /// `fetch_page` gets the range that is still missing and returns a page from its start on.
    pub fn new<F>(missed: TimeRange, fetch_page: impl Fn(TimeRange) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ReplayPage> + Send + 'static,
    {
        let fetch_page = Box::new(move |missed| -> PageFuture { Box::pin(fetch_page(missed)) });
        Self { missed, fetched: VecDeque::new(), fetch_page, fetching: None }
    }

    /// `None` when every missed candle was returned.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Kline>> {
        loop {
            if let Some(kline) = self.fetched.pop_front() {
                return Poll::Ready(Some(kline));
            }
            if self.missed.is_empty() {
                return Poll::Ready(None);
            }
            let fetching = self.fetching.get_or_insert_with(|| (self.fetch_page)(self.missed));
            let page = ready!(fetching.as_mut().poll(context));
            self.fetching = None;
            let TimeRange { from, to } = self.missed;
            let in_range = |kline: &Kline| (from..to).contains(&kline.bar.open_time);
            self.fetched.extend(page.klines.into_iter().filter(in_range));
            self.missed = TimeRange::new(page.complete_to, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use std::sync::Arc;
    use std::task::Waker;

    use market::{Bar, Decimal};

    use super::*;

    fn kline(open: i64) -> Kline {
        let (open_time, one) = (Millis(open), Decimal::ZERO);
        let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume: None };
        Kline { bar, close_time: Millis(open + 9), closed: true }
    }

    /// Replays the candles from 10 up to 50 from these pages, and checks which candles are returned
    /// and at which times pages were fetched.
    #[track_caller]
    fn check(pages: &[(&[i64], i64)], returned: &[i64], fetched: &[i64]) {
        let pages = pages.iter().map(|(opens, complete_to)| ReplayPage {
            klines: opens.iter().copied().map(kline).collect(),
            complete_to: Millis(*complete_to),
        });
        let (pages, log) = (Mutex::new(pages.collect::<VecDeque<_>>()), Arc::default());
        let fetched_from: Arc<Mutex<Vec<i64>>> = Arc::clone(&log);
        let mut replay = Replay::new(TimeRange::new(Millis(10), Millis(50)), move |missed| {
            log.lock().push(missed.from.0);
            let page = pages.lock().pop_front().unwrap();
            async move { page }
        });
        let mut context = Context::from_waker(Waker::noop());
        let mut opens = Vec::new();
        while let Poll::Ready(Some(kline)) = replay.poll_next(&mut context) {
            opens.push(kline.bar.open_time.0);
        }
        assert_eq!((&*opens, &**fetched_from.lock()), (returned, fetched));
    }

    #[test]
    fn pages_are_read_up_to_the_first_live_candle() {
        check(&[(&[10, 20, 30, 40], 50)], &[10, 20, 30, 40], &[10]);
        check(&[(&[10, 20], 30), (&[30, 40], 50)], &[10, 20, 30, 40], &[10, 30]);
        check(&[(&[], 30), (&[40], 50)], &[40], &[10, 30]);
        check(&[(&[0, 10, 40, 50, 60], 70)], &[10, 40], &[10]);
        check(&[(&[], 50)], &[], &[10]);
    }
}
