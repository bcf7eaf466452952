//! Everybody who follows one series. An event is built once and handed to each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fanout::{Fan, Worth};
use market::{KlineEvent, Millis};
use tokio::time::Instant;

#[derive(Debug)]
struct State {
    /// How many follow; the fan counts those that are about to leave as well.
    followers: usize,
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
    fan: Arc<Fan<KlineEvent>>,
    /// How many follow anything at all.
    total: Arc<AtomicUsize>,
}

/// A place in a hub; given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    hub: Arc<Hub>,
    pub(crate) place: fanout::Seat<KlineEvent>,
    /// The first closed candle that will come through the queue.
    pub(crate) begins_at: Millis,
}

impl Hub {
    pub(crate) fn new(expected: Millis, total: Arc<AtomicUsize>) -> Self {
        let state = State { followers: 0, expected, live: false, idle_since: Some(Instant::now()) };
        Self { state: Mutex::new(state), fan: Arc::default(), total }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn join(self: &Arc<Self>, queue_max: usize) -> Seat {
        let mut state = self.state();
        let place = self.fan.join(queue_max, true);
        state.followers += 1;
        state.idle_since = None;
        if state.live {
            place.tell(&Arc::new(KlineEvent::Connected), Worth::Status);
        }
        self.total.fetch_add(1, Ordering::Relaxed);
        let begins_at = state.expected;
        drop(state);
        Seat { hub: Arc::clone(self), place, begins_at }
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
            let worth = worth(&event);
            self.fan.publish(&Arc::new(event), worth);
        }
    }

    pub(crate) fn end(&self) {
        self.fan.end();
    }

    pub(crate) fn idle_since(&self) -> Option<Instant> {
        self.state().idle_since
    }

    /// Whether some reader has hardly room for more closed candles.
    pub(crate) fn is_crowded(&self) -> bool {
        self.fan.is_crowded()
    }
}

fn worth(event: &KlineEvent) -> Worth {
    match event {
        KlineEvent::Candle { kline, .. } if kline.closed => Worth::Lasting,
        KlineEvent::Candle { .. } => Worth::Fleeting,
        _ => Worth::Status,
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        state.followers -= 1;
        if state.followers == 0 {
            state.idle_since = Some(Instant::now());
        }
        self.hub.total.fetch_sub(1, Ordering::Relaxed);
    }
}
