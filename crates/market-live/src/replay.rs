//! Closed candles that came before a follower did, looked up page by page as they are read. How a
//! page is looked up, and when it is certain, is for the adapters.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use clock::{Millis, TimeRange};
use market::Kline;

/// What a look gave.
#[derive(Debug)]
pub struct Page {
    /// Closed, ascending.
    pub rows: Vec<Kline>,
    /// Every closed candle before this one is in `rows`, or does not exist. Further than where the
    /// look began.
    pub known_to: Millis,
}

type Looking = Pin<Box<dyn Future<Output = Page> + Send>>;

/// What is still missed of a series.
pub struct Replay {
    /// Up to the first candle that will come live.
    missed: TimeRange,
    rows: VecDeque<Kline>,
    look: Box<dyn Fn(TimeRange) -> Looking + Send>,
    looking: Option<Looking>,
}

impl Replay {
    /// `look` is asked for what is missed, from its beginning on.
    pub fn new<F>(missed: TimeRange, look: impl Fn(TimeRange) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Page> + Send + 'static,
    {
        let look = Box::new(move |missed| -> Looking { Box::pin(look(missed)) });
        Self { missed, rows: VecDeque::new(), look, looking: None }
    }

    /// `None` when everything before the live part was told.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Kline>> {
        loop {
            if let Some(row) = self.rows.pop_front() {
                return Poll::Ready(Some(row));
            }
            if self.missed.is_empty() {
                return Poll::Ready(None);
            }
            let looking = self.looking.get_or_insert_with(|| (self.look)(self.missed));
            let page = ready!(looking.as_mut().poll(context));
            self.looking = None;
            let TimeRange { from, to } = self.missed;
            let told = page.rows.into_iter().filter(|row| (from..to).contains(&row.bar.open_time));
            self.rows.extend(told);
            self.missed = TimeRange::new(page.known_to, to);
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

    fn row(open: i64) -> Kline {
        let (open_time, one) = (Millis(open), Decimal::ZERO);
        let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume: None };
        Kline { bar, close_time: Millis(open + 9), closed: true }
    }

    /// What is told of candles missed from 10 up to 50, where looks give these pages, and what was
    /// looked for.
    #[track_caller]
    fn check(pages: &[(&[i64], i64)], told: &[i64], asked: &[i64]) {
        let pages = pages.iter().map(|(opens, known_to)| Page {
            rows: opens.iter().copied().map(row).collect(),
            known_to: Millis(*known_to),
        });
        let (pages, log) = (Mutex::new(pages.collect::<VecDeque<_>>()), Arc::default());
        let asked_for: Arc<Mutex<Vec<i64>>> = Arc::clone(&log);
        let mut replay = Replay::new(TimeRange::new(Millis(10), Millis(50)), move |missed| {
            log.lock().push(missed.from.0);
            let page = pages.lock().pop_front().unwrap();
            async move { page }
        });
        let mut context = Context::from_waker(Waker::noop());
        let mut opens = Vec::new();
        while let Poll::Ready(Some(row)) = replay.poll_next(&mut context) {
            opens.push(row.bar.open_time.0);
        }
        assert_eq!((&*opens, &**asked_for.lock()), (told, asked));
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
