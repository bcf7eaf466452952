//! The subscribers of one series. An event is built once and shared by all of them.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clock::Millis;
use fanout::{Broadcast, Priority};
use market::KlineEvent;
use tokio::time::Instant;

#[derive(Debug)]
struct SeriesState {
    /// Subscribers that were not dropped; `fanout` also counts those being dropped.
    subscribers: usize,
    /// The opening time of the candle that closes next; all closed candles before it were published.
    expected: Millis,
    /// Whether the last status was `Connected`; a new subscriber gets that status first.
    connected: bool,
    /// The last forming candle, if new subscribers get it.
    forming: Option<Arc<KlineEvent>>,
    /// Since when there are no subscribers; `None` while there is one.
    idle_since: Option<Instant>,
}

/// The broadcast of one series.
#[derive(Debug)]
pub struct SeriesBroadcast {
    state: Mutex<SeriesState>,
    broadcast: Arc<Broadcast<KlineEvent>>,
    /// The number of subscribers of all series of the venue.
    venue_subscribers: Arc<AtomicUsize>,
    /// Whether a new subscriber gets the forming candle at once.
    sends_forming: bool,
    /// The value of `expected` when the series began.
    first_expected: Millis,
}

/// One subscriber of a series; dropping it unsubscribes.
#[derive(Debug)]
pub struct SeriesSubscriber {
    series: Arc<SeriesBroadcast>,
    pub(crate) queue: fanout::Subscriber<KlineEvent>,
    /// The first closed candle that will come through the queue.
    pub first_live: Millis,
    /// Candles were published before this subscriber joined, so the candle before `first_live`
    /// exists.
    pub has_predecessor: bool,
}

impl SeriesBroadcast {
    pub fn new(expected: Millis, venue_subscribers: Arc<AtomicUsize>) -> Self {
        let state = SeriesState {
            subscribers: 0,
            expected,
            connected: false,
            forming: None,
            idle_since: Some(Instant::now()),
        };
        let (state, broadcast) = (Mutex::new(state), Arc::default());
        Self { state, broadcast, venue_subscribers, sends_forming: false, first_expected: expected }
    }

    /// Sends the last forming candle to every new subscriber, for venues that rarely update it.
    #[must_use]
    pub fn sending_forming(mut self) -> Self {
        self.sends_forming = true;
        self
    }

    fn state(&self) -> MutexGuard<'_, SeriesState> {
        self.state.lock()
    }

    /// Adds a subscriber with a queue of `queue_max` events.
    pub fn subscribe(self: &Arc<Self>, queue_max: usize) -> SeriesSubscriber {
        let mut state = self.state();
        let queue = self.broadcast.subscribe(queue_max, true);
        state.subscribers += 1;
        state.idle_since = None;
        if state.connected {
            queue.send(&Arc::new(KlineEvent::Connected), Priority::Status);
        }
        if let Some(forming) = &state.forming {
            queue.send(forming, Priority::Droppable);
        }
        self.venue_subscribers.fetch_add(1, Ordering::Relaxed);
        let first_live = state.expected;
        drop(state);
        let has_predecessor = first_live > self.first_expected;
        SeriesSubscriber { series: Arc::clone(self), queue, first_live, has_predecessor }
    }

    /// Sends events to all subscribers; `expected` is the candle that will close next.
    pub fn publish(&self, events: Vec<KlineEvent>, expected: Millis) {
        let mut state = self.state();
        state.expected = expected;
        for event in events {
            match event {
                KlineEvent::Connected => state.connected = true,
                KlineEvent::Reconnecting => state.connected = false,
                _ => {}
            }
            let priority = priority(&event);
            let event = Arc::new(event);
            if self.sends_forming && priority != Priority::Status {
                state.forming = (priority == Priority::Droppable).then(|| Arc::clone(&event));
            }
            self.broadcast.publish(&event, priority);
        }
    }

    /// Ends every subscription.
    pub fn close(&self) {
        self.broadcast.end();
    }

    /// Since when there are no subscribers; `None` while there is one.
    pub fn idle_since(&self) -> Option<Instant> {
        self.state().idle_since
    }

    /// Whether the queue of some subscriber has little room for more closed candles.
    pub fn is_nearly_full(&self) -> bool {
        self.broadcast.is_nearly_full()
    }
}

fn priority(event: &KlineEvent) -> Priority {
    match event {
        KlineEvent::Candle { kline, .. } if kline.closed => Priority::MustDeliver,
        KlineEvent::Candle { .. } => Priority::Droppable,
        _ => Priority::Status,
    }
}

impl Drop for SeriesSubscriber {
    fn drop(&mut self) {
        let mut state = self.series.state();
        state.subscribers -= 1;
        if state.subscribers == 0 {
            state.idle_since = Some(Instant::now());
        }
        self.series.venue_subscribers.fetch_sub(1, Ordering::Relaxed);
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

    fn read(subscriber: &SeriesSubscriber) -> Vec<KlineEvent> {
        let mut context = Context::from_waker(Waker::noop());
        let mut all = Vec::new();
        while let Poll::Ready(Next::Event(event)) = subscriber.queue.poll_next(&mut context) {
            all.push(KlineEvent::clone(&event));
        }
        all
    }

    #[test]
    fn a_new_subscriber_gets_the_status_and_if_configured_the_forming_candle() {
        let (open, closed) = (candle(60_000, false), candle(60_000, true));
        for (sends_forming, first_events) in [
            (true, vec![KlineEvent::Connected, open.clone()]),
            (false, vec![KlineEvent::Connected]),
        ] {
            let series = SeriesBroadcast::new(Millis(60_000), Arc::default());
            let series = Arc::new(if sends_forming { series.sending_forming() } else { series });
            assert!(series.idle_since().is_some());
            series.publish(vec![KlineEvent::Connected, open.clone()], Millis(60_000));
            let early = series.subscribe(10);
            assert_eq!((read(&early), early.first_live), (first_events, Millis(60_000)));
            assert!(!early.has_predecessor);
            series.publish(vec![closed.clone()], Millis(120_000));
            let late = series.subscribe(10);
            assert_eq!(
                (read(&late), late.first_live),
                (vec![KlineEvent::Connected], Millis(120_000))
            );
            assert!(late.has_predecessor);
            assert_eq!(read(&early), vec![closed.clone()]);
            assert!(series.idle_since().is_none());
            drop((early, late));
            assert!(series.idle_since().is_some());
        }
    }
}
