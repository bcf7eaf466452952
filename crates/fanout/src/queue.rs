//! The bounded queue of one subscriber, which drops events by priority when it is full.

use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::Priority;

/// An empty queue with more capacity than this frees its memory.
const CAPACITY_KEPT: usize = 32;

/// Why a queue ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The subscriber had no room for an event that must be delivered.
    TooSlow,
    /// The source ended.
    Closed,
}

#[derive(Debug)]
struct QueueState<T> {
    events: VecDeque<(Priority, Arc<T>)>,
    /// The number of events of each priority.
    counts: [usize; 3],
    waker: Option<Waker>,
    ended: Option<EndReason>,
}

#[derive(Debug)]
pub struct Queue<T> {
    state: Mutex<QueueState<T>>,
    max: usize,
}

/// What a subscriber receives.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<T> {
    Event(Arc<T>),
    /// The queue is empty and will stay empty.
    Ended(EndReason),
}

impl<T> Queue<T> {
    pub fn new(max: usize) -> Self {
        let state =
            QueueState { events: VecDeque::new(), counts: [0; 3], waker: None, ended: None };
        Self { state: Mutex::new(state), max: max.max(1) }
    }

    fn state(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock()
    }

    /// Queues an event; returns whether the queue is still open. It ends as [`EndReason::TooSlow`]
    /// when there is no room for an event that must be delivered.
    pub fn push(&self, event: &Arc<T>, arriving: Priority) -> bool {
        let mut state = self.state();
        if state.ended.is_some() {
            return false;
        }
        if state.events.len() >= self.max && !state.make_room(arriving) {
            if arriving != Priority::MustDeliver {
                return true;
            }
            state.ended = Some(EndReason::TooSlow);
        } else {
            state.counts[arriving as usize] += 1;
            state.events.push_back((arriving, Arc::clone(event)));
        }
        let open = state.ended.is_none();
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        open
    }

    /// Ends the queue; the first reason stays.
    pub fn end(&self, cause: EndReason) {
        let mut state = self.state();
        state.ended.get_or_insert(cause);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub fn poll_pop(&self, context: &mut Context<'_>) -> Poll<Next<T>> {
        let mut state = self.state();
        if let Some((priority, event)) = state.events.pop_front() {
            state.counts[priority as usize] -= 1;
            if state.events.is_empty() && state.events.capacity() > CAPACITY_KEPT {
                state.events = VecDeque::new();
            }
            return Poll::Ready(Next::Event(event));
        }
        if let Some(cause) = state.ended {
            return Poll::Ready(Next::Ended(cause));
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Ready when the source ended, even with events queued.
    pub fn poll_closed(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.ended == Some(EndReason::Closed) {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// How many events are queued.
    pub fn len(&self) -> usize {
        self.state().events.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether events that must be delivered take more than half of the room.
    pub fn is_nearly_full(&self) -> bool {
        let state = self.state();
        state.ended.is_none() && state.counts[Priority::MustDeliver as usize] * 2 > self.max
    }
}

impl<T> QueueState<T> {
    /// Drops the oldest event of the lowest priority, if that is not above the arriving one's.
    fn make_room(&mut self, arriving: Priority) -> bool {
        let least = [Priority::Droppable, Priority::Status]
            .into_iter()
            .find(|priority| *priority <= arriving && self.counts[*priority as usize] > 0);
        let Some(least) = least else { return false };
        let Some(at) = self.events.iter().position(|(priority, _)| *priority == least) else {
            return false;
        };
        self.events.remove(at);
        self.counts[least as usize] -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[1]` must be delivered, letters are a status, a number is droppable.
    fn priority(word: &str) -> Priority {
        match word.as_bytes().first() {
            Some(b'[') => Priority::MustDeliver,
            Some(b'a'..=b'z') => Priority::Status,
            _ => Priority::Droppable,
        }
    }

    fn push(queue: &Queue<&'static str>, word: &'static str) -> bool {
        queue.push(&Arc::new(word), priority(word))
    }

    fn popped(queue: &Queue<&'static str>) -> Vec<Next<&'static str>> {
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

    /// Pushes events into a queue of four and checks what is left, and whether it was cut off.
    #[track_caller]
    fn check(pushed: &'static str, left: &'static str, cut_off: bool) {
        let queue = Queue::new(4);
        for word in pushed.split(' ') {
            push(&queue, word);
        }
        let mut expected: Vec<Next<&'static str>> =
            left.split(' ').map(|word| Next::Event(Arc::new(word))).collect();
        expected.extend(cut_off.then_some(Next::Ended(EndReason::TooSlow)));
        assert_eq!(popped(&queue), expected, "{pushed}");
    }

    #[test]
    fn droppable_events_are_dropped_first_then_statuses_and_others_never() {
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
    fn a_queue_that_was_cut_off_takes_no_more_events() {
        let queue = Queue::new(1);
        assert!(push(&queue, "[1]") && queue.is_nearly_full());
        assert!(push(&queue, "2"));
        assert!(!push(&queue, "[2]"));
        assert!(!push(&queue, "3"));
        assert_eq!(popped(&queue).len(), 2);
        assert!(!queue.is_nearly_full());
    }
}
