//! Everybody who follows one series. An event is built once and handed to each.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use market::{EndCause, KlineEvent, Millis};
use tokio::time::Instant;

use super::queue::Queue;

#[derive(Debug)]
struct State {
    followers: HashMap<u64, Arc<Queue>>,
    next_id: u64,
    /// All closed candles before this one were handed out.
    expected: Millis,
    /// What newcomers are told first.
    live: bool,
    /// Since when nobody follows.
    idle_since: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct Hub {
    state: Mutex<State>,
    /// How many follow anything at all.
    total: Arc<AtomicUsize>,
}

/// A place in a hub; given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    hub: Arc<Hub>,
    id: u64,
    pub(crate) queue: Arc<Queue>,
    /// The first closed candle that will come through the queue.
    pub(crate) begins_at: Millis,
}

impl Hub {
    pub(crate) fn new(expected: Millis, total: Arc<AtomicUsize>) -> Self {
        let state = State {
            followers: HashMap::new(),
            next_id: 0,
            expected,
            live: false,
            idle_since: Some(Instant::now()),
        };
        Self { state: Mutex::new(state), total }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn join(self: &Arc<Self>, queue_max: usize) -> Seat {
        let queue = Arc::new(Queue::new(queue_max));
        let mut state = self.state();
        let id = state.next_id;
        state.next_id += 1;
        state.idle_since = None;
        if state.live {
            queue.push(&Arc::new(KlineEvent::Connected));
        }
        state.followers.insert(id, Arc::clone(&queue));
        self.total.fetch_add(1, Ordering::Relaxed);
        let begins_at = state.expected;
        drop(state);
        Seat { hub: Arc::clone(self), id, queue, begins_at }
    }

    /// Hands events to everybody; `expected` is the next candle to be closed after them.
    pub(crate) fn publish(&self, events: Vec<KlineEvent>, expected: Millis) {
        let mut state = self.state();
        state.expected = expected;
        for event in events {
            match event {
                KlineEvent::Connected => state.live = true,
                KlineEvent::Reconnecting => state.live = false,
                _ => {}
            }
            let event = Arc::new(event);
            // Those that were cut off keep their seat until they have read how it ended.
            for queue in state.followers.values() {
                queue.push(&event);
            }
        }
    }

    pub(crate) fn end(&self) {
        for queue in self.state().followers.values() {
            queue.end(EndCause::Closed);
        }
    }

    pub(crate) fn idle_since(&self) -> Option<Instant> {
        self.state().idle_since
    }

    /// Whether some reader has hardly room for more closed candles.
    pub(crate) fn is_crowded(&self) -> bool {
        self.state().followers.values().any(|queue| queue.is_crowded())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        state.followers.remove(&self.id);
        if state.followers.is_empty() {
            state.idle_since = Some(Instant::now());
        }
        self.hub.total.fetch_sub(1, Ordering::Relaxed);
    }
}
