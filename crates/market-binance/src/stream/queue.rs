//! What waits for one reader: bounded, and choosy about what it gives up when it is full.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use market::{EndCause, KlineEvent};

/// How much an event matters, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// A forming candle: the next one says more.
    Forming,
    /// Something about the connection.
    Status,
    /// A closed candle, which is never left out.
    Closed,
}

fn worth(event: &KlineEvent) -> Worth {
    match event {
        KlineEvent::Candle { kline, .. } if kline.closed => Worth::Closed,
        KlineEvent::Candle { .. } => Worth::Forming,
        _ => Worth::Status,
    }
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Arc<KlineEvent>>,
    /// How many of the events are of each worth.
    counts: [usize; 3],
    reader: Option<Waker>,
    ended: Option<EndCause>,
}

#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    max: usize,
}

/// What a reader finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Event(Arc<KlineEvent>),
    /// Nothing is left, and nothing will come.
    Ended(EndCause),
}

impl Queue {
    pub(crate) fn new(max: usize) -> Self {
        Self { state: Mutex::default(), max: max.max(1) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the reader is still served. One that cannot take a closed candle is not: it gets
    /// what waits for it, and then the end.
    pub(crate) fn push(&self, event: &Arc<KlineEvent>) -> bool {
        let mut state = self.state();
        if state.ended.is_some() {
            return false;
        }
        let arriving = worth(event);
        if state.events.len() >= self.max && !state.make_room(arriving) {
            if arriving != Worth::Closed {
                return true;
            }
            state.ended = Some(EndCause::TooSlow);
        } else {
            state.counts[arriving as usize] += 1;
            state.events.push_back(Arc::clone(event));
        }
        let open = state.ended.is_none();
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
        open
    }

    /// Nothing more will come.
    pub(crate) fn end(&self, cause: EndCause) {
        let mut state = self.state();
        state.ended.get_or_insert(cause);
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    pub(crate) fn poll_pop(&self, context: &mut Context<'_>) -> Poll<Next> {
        let mut state = self.state();
        if let Some(event) = state.events.pop_front() {
            state.counts[worth(&event) as usize] -= 1;
            return Poll::Ready(Next::Event(event));
        }
        if let Some(cause) = state.ended {
            return Poll::Ready(Next::Ended(cause));
        }
        state.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// Ready when the house closes, whatever is still waiting.
    pub(crate) fn poll_closed(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.ended == Some(EndCause::Closed) {
            return Poll::Ready(());
        }
        state.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// Whether more than half of the room is taken by what cannot be left out.
    pub(crate) fn is_crowded(&self) -> bool {
        let state = self.state();
        state.ended.is_none() && state.counts[Worth::Closed as usize] * 2 > self.max
    }
}

impl State {
    /// Leaves out the oldest of what matters least, unless all of it matters more than what
    /// arrives.
    fn make_room(&mut self, arriving: Worth) -> bool {
        let least = [Worth::Forming, Worth::Status]
            .into_iter()
            .find(|worth| *worth <= arriving && self.counts[*worth as usize] > 0);
        let Some(least) = least else { return false };
        let Some(at) = self.events.iter().position(|event| worth(event) == least) else {
            return false;
        };
        self.events.remove(at);
        self.counts[least as usize] -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use market::{Bar, Decimal, Kline, Millis};

    use super::*;

    fn candle(minute: i64, closed: bool) -> Arc<KlineEvent> {
        let open_time = Millis(minute * 60_000);
        let one = Decimal::ZERO;
        let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume: None };
        let kline = Kline { bar, close_time: Millis(open_time.0 + 59_999), closed };
        Arc::new(KlineEvent::Candle { kline, as_of: open_time })
    }

    fn event(word: &str) -> Arc<KlineEvent> {
        match word {
            "up" => Arc::new(KlineEvent::Connected),
            "down" => Arc::new(KlineEvent::Reconnecting),
            closed if closed.starts_with('[') => {
                candle(closed.trim_matches(['[', ']']).parse().unwrap(), true)
            }
            forming => candle(forming.parse().unwrap(), false),
        }
    }

    fn popped(queue: &Queue) -> Vec<Next> {
        let mut context = Context::from_waker(Waker::noop());
        let mut all = Vec::new();
        while let Poll::Ready(next) = queue.poll_pop(&mut context) {
            let ended = matches!(next, Next::Ended(_));
            all.push(next);
            if ended {
                break;
            }
        }
        all
    }

    /// What is left of what was pushed into a queue of four, and whether the reader was cut off.
    #[track_caller]
    fn check(pushed: &str, left: &str, cut_off: bool) {
        let queue = Queue::new(4);
        for word in pushed.split(' ') {
            queue.push(&event(word));
        }
        let mut expected: Vec<Next> =
            left.split(' ').map(|word| Next::Event(event(word))).collect();
        expected.extend(cut_off.then_some(Next::Ended(EndCause::TooSlow)));
        assert_eq!(popped(&queue), expected, "{pushed}");
    }

    #[test]
    fn forming_candles_go_first_then_statuses_and_closed_ones_never() {
        check("1 [1] 2 [2]", "1 [1] 2 [2]", false);
        check("1 [1] 2 [2] 3", "[1] 2 [2] 3", false);
        check("1 [1] 2 [2] 3 [3] [4]", "[1] [2] [3] [4]", false);
        check("up 1 [1] 2 [2] [3]", "up [1] [2] [3]", false);
        check("up 1 [1] 2 [2] [3] [4]", "[1] [2] [3] [4]", false);
        check("up down up down up", "down up down up", false);
        check("[1] [2] [3] [4] 5 up", "[1] [2] [3] [4]", false);
        check("[1] [2] [3] [4] [5] [6]", "[1] [2] [3] [4]", true);
    }

    #[test]
    fn a_reader_that_was_cut_off_is_not_served_any_more() {
        let queue = Queue::new(1);
        assert!(queue.push(&event("[1]")) && queue.is_crowded());
        assert!(queue.push(&event("2")));
        assert!(!queue.push(&event("[2]")));
        assert!(!queue.push(&event("3")));
        assert_eq!(popped(&queue).len(), 2);
        assert!(!queue.is_crowded());
    }
}
