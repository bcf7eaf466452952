//! The bounded queue of one subscriber, which drops events by priority when it is full or when the
//! memory of all queues is taken.

use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use limits::MemoryReservation;

use crate::Priority;

/// A queue of at most this many events takes nothing from the memory budget, so that a subscriber
/// that keeps up costs no atomic operation. An empty queue with more capacity frees its memory.
pub const UNCOUNTED_EVENTS: usize = 32;

/// Why a queue ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The subscriber had no room, or no memory, for an event that must be delivered.
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
    /// The memory of a queue of more than [`UNCOUNTED_EVENTS`]; `None` without a budget.
    memory: Option<MemoryReservation>,
}

/// What a queue can do with an arriving event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    Free,
    /// The queue has as many events as it may have.
    Full,
    /// The memory budget has no room for more.
    NoMemory,
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
    /// A queue of at most `max` events. Beyond [`UNCOUNTED_EVENTS`] it grows within `memory`.
    pub fn new(max: usize, memory: Option<MemoryReservation>) -> Self {
        let (events, counts) = (VecDeque::new(), [0; 3]);
        let state = QueueState { events, counts, waker: None, ended: None, memory };
        Self { state: Mutex::new(state), max: max.max(1) }
    }

    fn state(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock()
    }

    /// Queues an event; returns whether the queue is still open. It ends as [`EndReason::TooSlow`]
    /// when there is no room for an event that must be delivered. When there is no memory for it, the
    /// queued events are dropped too: the subscriber resumes after the last event that it read.
    pub fn push(&self, event: &Arc<T>, arriving: Priority) -> bool {
        let mut state = self.state();
        if state.ended.is_some() {
            state.clear_if_memory_is_short();
            return false;
        }
        match state.room(arriving, self.max) {
            Room::Free => {
                state.counts[arriving as usize] += 1;
                state.events.push_back((arriving, Arc::clone(event)));
            }
            _ if arriving != Priority::MustDeliver => return true,
            room => {
                state.ended = Some(EndReason::TooSlow);
                if room == Room::NoMemory {
                    state.clear();
                }
            }
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
            if state.events.is_empty() && state.events.capacity() > UNCOUNTED_EVENTS {
                state.clear();
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
    /// Makes room for an arriving event where it can.
    fn room(&mut self, arriving: Priority, max: usize) -> Room {
        if self.events.len() >= UNCOUNTED_EVENTS && !self.find_memory(arriving, max) {
            return Room::NoMemory;
        }
        match self.events.len() < max || self.make_room(arriving) {
            true => Room::Free,
            false => Room::Full,
        }
    }

    /// Whether there is memory for an arriving event. Where the budget has none, drops all droppable
    /// events and then, unless the arriving one is droppable itself, all statuses.
    fn find_memory(&mut self, arriving: Priority, max: usize) -> bool {
        if self.has_memory(max) {
            return true;
        }
        self.keep_from(Priority::Status);
        if !self.has_memory(max) && arriving > Priority::Droppable {
            self.keep_from(Priority::MustDeliver);
        }
        self.has_memory(max)
    }

    /// Whether the budget has memory for one more event; reserves it where the buffer must grow.
    fn has_memory(&mut self, max: usize) -> bool {
        let Some(memory) = &mut self.memory else { return true };
        if self.events.len() < UNCOUNTED_EVENTS {
            return true;
        }
        if memory.is_budget_exceeded() {
            return false;
        }
        let (length, capacity) = (self.events.len(), self.events.capacity());
        if length < capacity || length >= max {
            return true;
        }
        let grown = (2 * capacity).min(max);
        if memory.grow_to(grown * size_of::<(Priority, Arc<T>)>()).is_err() {
            return false;
        }
        self.events.reserve_exact(grown - length);
        true
    }

    /// Drops the events below this priority; a queue that is short then gives its memory back.
    fn keep_from(&mut self, least: Priority) {
        self.events.retain(|(priority, _)| *priority >= least);
        self.counts[..least as usize].fill(0);
        if self.events.len() < UNCOUNTED_EVENTS {
            self.events.shrink_to(UNCOUNTED_EVENTS);
            self.give_memory_back();
        }
    }

    /// Drops all events and gives their memory back.
    fn clear(&mut self) {
        self.events = VecDeque::new();
        self.counts = [0; 3];
        self.give_memory_back();
    }

    fn give_memory_back(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.shrink_to(0);
        }
    }

    /// Drops the unread events of a queue that ended as too slow, where the budget needs the memory.
    fn clear_if_memory_is_short(&mut self) {
        let is_short = self.memory.as_ref().is_some_and(MemoryReservation::is_budget_exceeded);
        if is_short && self.ended == Some(EndReason::TooSlow) {
            self.clear();
        }
    }

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
    use limits::MemoryBudget;

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
        let queue = Queue::new(4, None);
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
        let queue = Queue::new(1, None);
        assert!(push(&queue, "[1]") && queue.is_nearly_full());
        assert!(push(&queue, "2"));
        assert!(!push(&queue, "[2]"));
        assert!(!push(&queue, "3"));
        assert_eq!(popped(&queue).len(), 2);
        assert!(!queue.is_nearly_full());
    }

    /// A queue of at most 1,000 events within a budget for `slots` events.
    fn budgeted(slots: usize) -> (MemoryBudget, Queue<&'static str>) {
        let bytes = slots * size_of::<(Priority, Arc<&str>)>();
        let budget = MemoryBudget::new(bytes, bytes);
        let memory = budget.reservation(None);
        (budget, Queue::new(1_000, Some(memory)))
    }

    /// How many events of this word are left.
    fn left(queue: &Queue<&'static str>, word: &'static str) -> usize {
        popped(queue).iter().filter(|next| **next == Next::Event(Arc::new(word))).count()
    }

    #[test]
    fn a_queue_that_is_read_takes_nothing_from_the_budget() {
        let (budget, queue) = budgeted(0);
        for _ in 0..100 {
            assert!((0..UNCOUNTED_EVENTS).all(|_| push(&queue, "[1]")));
            assert_eq!(popped(&queue).len(), UNCOUNTED_EVENTS);
        }
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn without_memory_droppable_events_go_first_and_then_the_stream_ends() {
        let (budget, queue) = budgeted(64);
        for word in ["up", "1"] {
            assert!((0..30).all(|_| push(&queue, word)));
        }
        assert!((0..4).all(|_| push(&queue, "[1]")));
        assert!(budget.held() > 0, "64 events are more than the uncounted ones");
        assert!(push(&queue, "[1]"), "the droppable events made room");
        assert_eq!((queue.len(), budget.held()), (35, budget.bytes_max()));
        assert!((0..29).all(|_| push(&queue, "1")));
        assert!(push(&queue, "1"), "the older droppable events made room");
        assert!(push(&queue, "[1]"));
        assert_eq!(left(&queue, "[1]"), 6);
        assert_eq!(budget.held(), 0);
        assert!((0..64).all(|_| push(&queue, "[1]")));
        assert!(push(&queue, "1") && push(&queue, "up"), "dropped, and the queue is open");
        assert_eq!((queue.len(), budget.held()), (64, budget.bytes_max()));
        assert!(!push(&queue, "[1]"));
        assert_eq!(budget.held(), 0, "nothing is kept for a subscriber that does not read");
        assert_eq!(popped(&queue), [Next::Ended(EndReason::TooSlow)]);
    }

    #[test]
    fn a_budget_that_others_exceed_ends_only_queues_that_are_behind() {
        let (budget, queue) = budgeted(1_000);
        let quick = Queue::new(1_000, Some(budget.reservation(None)));
        assert!((0..100).all(|_| push(&queue, "[1]")));
        let charge = budget.charge(budget.bytes_max());
        assert!(push(&quick, "[1]"), "it keeps up");
        assert!(!push(&queue, "[1]"));
        assert_eq!(popped(&queue), [Next::Ended(EndReason::TooSlow)]);
        drop(charge);
        assert_eq!(left(&quick, "[1]"), 1);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn a_queue_that_was_cut_off_and_is_not_read_gives_its_memory_to_others() {
        let (budget, _) = budgeted(1_000);
        let queue = Queue::new(100, Some(budget.reservation(None)));
        assert!((0..100).all(|_| push(&queue, "[1]")));
        assert!(!push(&queue, "[1]"));
        assert_eq!(queue.len(), 100, "they can still be read");
        let _charge = budget.charge(budget.bytes_max());
        assert!(!push(&queue, "[1]"));
        assert_eq!(popped(&queue), [Next::Ended(EndReason::TooSlow)]);
    }
}
