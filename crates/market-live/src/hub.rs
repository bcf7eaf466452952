//! Everybody who follows one series. An event is built once and handed to each.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clock::Millis;
use fanout::{Broadcast, Priority};
use market::KlineEvent;
use tokio::time::Instant;

#[derive(Debug)]
struct State {
    /// How many follow; the fan counts those that are about to leave as well.
    followers: usize,
    /// All closed candles before this one were handed out.
    expected: Millis,
    /// What newcomers are told first.
    live: bool,
    /// The forming candle as it was last told, where newcomers are told of it.
    forming: Option<Arc<KlineEvent>>,
    /// Since when nobody follows.
    idle_since: Option<Instant>,
}

/// The followers of one series.
#[derive(Debug)]
pub struct SeriesBroadcast {
    state: Mutex<State>,
    fan: Arc<Broadcast<KlineEvent>>,
    /// How many follow anything at all.
    total: Arc<AtomicUsize>,
    /// Whether newcomers are told of the candle that is forming.
    remembers: bool,
    /// The first candle that was expected.
    began_at: Millis,
}

/// A place in a hub; given up when it is dropped.
#[derive(Debug)]
pub struct SeriesSubscriber {
    hub: Arc<SeriesBroadcast>,
    pub place: fanout::Subscriber<KlineEvent>,
    /// The first closed candle that will come through the queue.
    pub begins_at: Millis,
    /// Candles were told before it came, so that the one before its first is known to exist.
    pub moved: bool,
}

impl SeriesBroadcast {
    pub fn new(expected: Millis, total: Arc<AtomicUsize>) -> Self {
        let state = State {
            followers: 0,
            expected,
            live: false,
            forming: None,
            idle_since: Some(Instant::now()),
        };
        let (state, fan) = (Mutex::new(state), Arc::default());
        Self { state, fan, total, remembers: false, began_at: expected }
    }

    /// Newcomers are told of the forming candle at once; for venues that seldom tell of it.
    #[must_use]
    pub fn remembering(mut self) -> Self {
        self.remembers = true;
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// A place for one more follower.
    pub fn join(self: &Arc<Self>, queue_max: usize) -> SeriesSubscriber {
        let mut state = self.state();
        let place = self.fan.join(queue_max, true);
        state.followers += 1;
        state.idle_since = None;
        if state.live {
            place.tell(&Arc::new(KlineEvent::Connected), Priority::Status);
        }
        if let Some(forming) = &state.forming {
            place.tell(forming, Priority::Droppable);
        }
        self.total.fetch_add(1, Ordering::Relaxed);
        let begins_at = state.expected;
        drop(state);
        let moved = begins_at > self.began_at;
        SeriesSubscriber { hub: Arc::clone(self), place, begins_at, moved }
    }

    /// Hands events to everybody; `expected` is the next candle to be closed after them.
    pub fn publish(&self, events: Vec<KlineEvent>, expected: Millis) {
        let mut state = self.state();
        state.expected = expected;
        for event in events {
            match event {
                KlineEvent::Connected => state.live = true,
                KlineEvent::Reconnecting => state.live = false,
                _ => {}
            }
            let worth = worth(&event);
            let event = Arc::new(event);
            if self.remembers && worth != Priority::Status {
                state.forming = (worth == Priority::Droppable).then(|| Arc::clone(&event));
            }
            self.fan.publish(&event, worth);
        }
    }

    /// Nothing more will come.
    pub fn end(&self) {
        self.fan.end();
    }

    /// Since when nobody follows.
    pub fn idle_since(&self) -> Option<Instant> {
        self.state().idle_since
    }

    /// Whether some reader has hardly room for more closed candles.
    pub fn is_crowded(&self) -> bool {
        self.fan.is_crowded()
    }
}

fn worth(event: &KlineEvent) -> Priority {
    match event {
        KlineEvent::Candle { kline, .. } if kline.closed => Priority::MustDeliver,
        KlineEvent::Candle { .. } => Priority::Droppable,
        _ => Priority::Status,
    }
}

impl Drop for SeriesSubscriber {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        state.followers -= 1;
        if state.followers == 0 {
            state.idle_since = Some(Instant::now());
        }
        self.hub.total.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use fanout::Next;
    use market::{Bar, Decimal, Kline};

    use super::*;

    fn candle(open: i64, closed: bool) -> KlineEvent {
        let (open_time, one) = (Millis(open), Decimal::ZERO);
        let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume: None };
        let kline = Kline { bar, close_time: Millis(open + 59_999), closed };
        KlineEvent::Candle { kline, as_of: open_time }
    }

    fn read(seat: &SeriesSubscriber) -> Vec<KlineEvent> {
        let mut context = Context::from_waker(Waker::noop());
        let mut all = Vec::new();
        while let Poll::Ready(Next::Event(event)) = seat.place.poll_next(&mut context) {
            all.push(KlineEvent::clone(&event));
        }
        all
    }

    #[test]
    fn newcomers_are_told_of_the_connection_and_where_it_is_remembered_of_what_forms() {
        let (open, closed) = (candle(60_000, false), candle(60_000, true));
        for (remembers, forming) in [
            (true, vec![KlineEvent::Connected, open.clone()]),
            (false, vec![KlineEvent::Connected]),
        ] {
            let hub = SeriesBroadcast::new(Millis(60_000), Arc::default());
            let hub = Arc::new(if remembers { hub.remembering() } else { hub });
            assert!(hub.idle_since().is_some());
            hub.publish(vec![KlineEvent::Connected, open.clone()], Millis(60_000));
            let seat = hub.join(10);
            assert_eq!((read(&seat), seat.begins_at), (forming, Millis(60_000)));
            assert!(!seat.moved);
            hub.publish(vec![closed.clone()], Millis(120_000));
            let late = hub.join(10);
            assert_eq!(
                (read(&late), late.begins_at),
                (vec![KlineEvent::Connected], Millis(120_000))
            );
            assert!(late.moved);
            assert_eq!(read(&seat), vec![closed.clone()]);
            assert!(hub.idle_since().is_none());
            drop((seat, late));
            assert!(hub.idle_since().is_some());
        }
    }
}
