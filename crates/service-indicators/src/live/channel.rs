//! One series with its indicators: one venue subscription, one computation and one serialization
//! for all subscribers.

use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, Millis, TimeRange};
use contract::StreamEvent;
use fanout::{Broadcast, Priority, Subscriber};
use fault::Fault;
use limits::{ClientAddress, MemoryBudget};
use market::{Bar, Interval, SubscribeOptions};
use tokio::time::Instant;

use super::Live;
use super::calculators::{Calculators, Checkpoint, Deltas};
use super::checkpoints::Checkpoints;
use super::event::{ChannelEvent, Ended, Status, Subject};
use super::follower::Follower;
use super::limits::{StreamLimits, followed_max};
use super::subscription_request::SubscriptionRequest;
use crate::warm;

/// Subscribers share a heartbeat for this long; the shortest heartbeat period is not below it.
const HEARTBEAT_REUSE_MS: i64 = 100;
/// How often a channel checks for readers; a channel without readers in two checks ends.
pub(super) const READ_CHECK_PERIOD: Duration = Duration::from_secs(10);
/// Without stream memory a channel drops this many of its oldest recent events for each closed
/// candle, down to [`RECENT_EVENTS_KEPT`]; resuming subscribers then read history.
const RECENT_EVENTS_DROPPED: usize = 64;
const RECENT_EVENTS_KEPT: usize = 4;

pub(crate) struct Channel {
    pub(crate) subject: Subject,
    pub(crate) clock: Arc<dyn Clock>,
    limits: StreamLimits,
    /// Bounds the queues of all subscribers and counts the events that they and channels hold.
    memory: MemoryBudget,
    pub(super) broadcast: Arc<Broadcast<ChannelEvent>>,
    state: Mutex<ChannelState>,
}

struct ChannelState {
    /// The newest published closed candles, oldest first.
    recent_events: VecDeque<Arc<ChannelEvent>>,
    /// Opening time of the last closed candle before `recent_events`.
    history_end: Millis,
    /// Saved states of cumulative indicators, for replays that start before `history_end`.
    checkpoints: Checkpoints,
    /// The first event of a new subscriber; `None` until the venue reports a status.
    status: Option<Status>,
    /// The last heartbeat with its time; `None` if an event was published after it.
    heartbeat: Option<(Millis, Arc<StreamEvent>)>,
    /// Why the channel ended; `None` while it runs.
    ended: Option<Ended>,
}

/// A new subscriber of a channel, with the candles it missed.
pub(crate) struct JoinedSubscriber {
    pub(crate) subscriber: Subscriber<ChannelEvent>,
    /// Opening time of the last closed candle before the live ones.
    pub(crate) last: Millis,
    /// Missed candles that the channel still holds.
    pub(crate) recent_events: Vec<Arc<ChannelEvent>>,
    /// Missed candles that only history holds.
    pub(crate) missed: Option<MissedRange>,
}

impl JoinedSubscriber {
    /// How many bytes its recent events take, as if it were their only holder.
    pub(crate) fn recent_events_bytes(&self) -> usize {
        let pointer = size_of::<Arc<ChannelEvent>>();
        self.recent_events.iter().map(|event| event.bytes() + pointer).sum()
    }
}

/// Closed candles to read from history: opening times after `after`, up to and including `to`.
pub(crate) struct MissedRange {
    pub(crate) after: Millis,
    pub(crate) to: Millis,
    /// The state of the cumulative indicators before these candles.
    pub(crate) checkpoint: Option<Arc<Checkpoint>>,
}

impl Channel {
    /// Feeds the calculators with history, then subscribes to the venue from the end of history.
    pub(crate) async fn open(
        live: &Arc<Live>,
        request: &SubscriptionRequest,
        deadline: Instant,
    ) -> Result<Arc<Self>, Fault> {
        let port = live.candles.live(&request.ticker)?;
        let now = live.clock.now();
        let first = request.interval.open_of(now);
        let base = warm::base(request.interval, now, live.limits.block());
        let before = lead(request, first, base);
        let history =
            live.candles.last(&request.ticker, request.interval, before, deadline).await?;
        let mut calculators = Calculators::new(&request.windows, base, None);
        let mut checkpoints = Checkpoints::new(&calculators, base, live.limits.checkpoints_max());
        for bar in &history {
            calculators.close(bar);
            checkpoints.closed(&calculators, bar.open_time);
        }
        let most = followed_max(live.candles.calendar(&request.ticker)?);
        let (history_end, after) = follow_from(request.interval, &history, now, most);
        let code = request.ticker.symbol.code.clone();
        let follow = SubscribeOptions { resume_after: after, ..SubscribeOptions::default() };
        let feed = port.subscribe(&code, request.interval, follow).await?;
        let channel = Arc::new(Self {
            subject: Subject {
                symbol: Arc::from(&*request.ticker.name),
                interval: request.interval,
                source: Arc::from(live.candles.source(&request.ticker)?),
                delay: feed.delay(),
            },
            clock: Arc::clone(&live.clock),
            limits: live.limits,
            memory: live.memory.clone(),
            broadcast: Arc::default(),
            state: Mutex::new(ChannelState {
                recent_events: VecDeque::new(),
                history_end,
                checkpoints,
                status: None,
                heartbeat: None,
                ended: None,
            }),
        });
        let follower = Follower {
            channel: Arc::clone(&channel),
            port,
            code,
            feed,
            calculators,
            last: history_end,
            unread_since: None,
        };
        let (registry, key) = (Arc::clone(live), request.key.clone());
        let stop = live.tasks.stop.clone();
        live.tasks.tracker.spawn(async move {
            let channel = Arc::clone(&follower.channel);
            channel.close(follower.run(stop).await);
            registry.remove(&key, &channel);
        });
        Ok(channel)
    }

    fn state(&self) -> MutexGuard<'_, ChannelState> {
        self.state.lock()
    }

    /// Adds a subscriber; `None` if the channel has ended.
    pub(crate) fn join(&self, request: &SubscriptionRequest) -> Option<JoinedSubscriber> {
        let state = self.state();
        if state.ended.is_some() {
            return None;
        }
        let memory = self.memory.reservation(request.client.map(ClientAddress::from));
        let (queue_max, droppable) = (self.limits.queue_max, !request.closed_only);
        let subscriber = self.broadcast.subscribe_within(memory, queue_max, droppable);
        if let Some(status) = state.status {
            let event = self.subject.status(status, self.clock.now());
            subscriber.send(&Arc::new(ChannelEvent::about_stream(event)), Priority::Status);
        }
        let newest = state.recent_events.back().and_then(|message| message.candle);
        let last = newest.unwrap_or(state.history_end);
        let Some(after) = request.after else {
            return Some(JoinedSubscriber {
                subscriber,
                last,
                recent_events: Vec::new(),
                missed: None,
            });
        };
        let later = |message: &&Arc<ChannelEvent>| message.candle.is_some_and(|at| at > after);
        Some(JoinedSubscriber {
            subscriber,
            last,
            recent_events: state.recent_events.iter().filter(later).cloned().collect(),
            missed: (after < state.history_end).then(|| MissedRange {
                after,
                to: state.history_end,
                checkpoint: state.checkpoints.before(after),
            }),
        })
    }

    /// Why the channel ended; a reader calls this after its broadcast closed.
    pub(crate) fn end_cause(&self) -> Ended {
        self.state().ended.unwrap_or(Ended::Stopping)
    }

    /// The caller holds the state lock, so that a joining subscriber gets each event exactly once:
    /// from the state or from the broadcast.
    fn publish_locked(&self, state: &mut ChannelState, mut message: ChannelEvent) {
        let priority = match message.candle {
            None => Priority::Status,
            Some(_) if message.closed => Priority::MustDeliver,
            Some(_) => Priority::Droppable,
        };
        message.memory = Some(self.memory.charge(message.bytes()));
        let message = Arc::new(message);
        state.heartbeat = None;
        if message.closed {
            state.recent_events.push_back(Arc::clone(&message));
            self.trim_recent_events(state);
        }
        self.broadcast.publish(&message, priority);
    }

    /// Drops the oldest recent events: those beyond the limit, and more while memory is short.
    fn trim_recent_events(&self, state: &mut ChannelState) {
        let count = state.recent_events.len();
        let mut dropped = count.saturating_sub(self.limits.recent_events_max());
        if self.memory.is_exceeded() {
            dropped =
                dropped.max(RECENT_EVENTS_DROPPED.min(count.saturating_sub(RECENT_EVENTS_KEPT)));
        }
        if let Some(oldest) = state.recent_events.drain(..dropped).next_back() {
            state.history_end = oldest.candle.unwrap_or(state.history_end);
        }
    }

    /// A heartbeat, shared by all readers within `HEARTBEAT_REUSE_MS`. Publishing an event discards
    /// it, so that a heartbeat is never older than the last event.
    pub(crate) fn heartbeat(&self) -> Arc<StreamEvent> {
        let now = self.clock.now();
        let mut state = self.state();
        if let Some((at, heartbeat)) = &state.heartbeat
            && (0..HEARTBEAT_REUSE_MS).contains(&(now.0 - at.0))
        {
            return Arc::clone(heartbeat);
        }
        let heartbeat = self.subject.heartbeat(now);
        state.heartbeat = Some((now, Arc::clone(&heartbeat)));
        heartbeat
    }

    /// Publishes a closed candle and saves the state of the cumulative indicators every
    /// `CHECKPOINT_EVERY` candles. One lock covers both.
    pub(super) fn close_candle(&self, calculators: &Calculators, bar: &Bar, deltas: &Deltas) {
        let message = self.subject.kline(bar, true, deltas, self.clock.now());
        let mut state = self.state();
        state.checkpoints.closed(calculators, bar.open_time);
        self.publish_locked(&mut state, message);
    }

    /// Publishes an update of the forming candle.
    pub(super) fn update_candle(&self, bar: &Bar, deltas: &Deltas) {
        let message = self.subject.kline(bar, false, deltas, self.clock.now());
        self.publish_locked(&mut self.state(), message);
    }

    pub(super) fn publish_status(&self, status: Status) {
        let event = self.subject.status(status, self.clock.now());
        // One lock covers both: the status for new subscribers and the event for present ones.
        let mut state = self.state();
        if !matches!(status, Status::GapFilled(_)) {
            state.status = Some(status);
        }
        self.publish_locked(&mut state, ChannelEvent::about_stream(event));
    }

    /// Ends the channel if it has no subscribers, and returns whether it did.
    pub(super) fn end_if_unread(&self) -> bool {
        let mut state = self.state();
        let empty = self.broadcast.is_empty();
        if empty {
            state.ended = Some(Ended::Unread);
        }
        empty
    }

    fn close(&self, cause: Ended) {
        self.state().ended.get_or_insert(cause);
        self.broadcast.end();
    }
}

/// Number of candles to read before `first`: enough to settle the indicators and, with a cumulative
/// indicator, all candles since `base`.
fn lead(request: &SubscriptionRequest, first: Millis, base: Millis) -> usize {
    let settles = warm::candles_before(&request.windows, request.interval, first).max(1);
    if !request.windows.iter().any(|it| warm::is_cumulative(it)) {
        return settles;
    }
    let since = request.interval.count_in(TimeRange::new(base, first));
    settles.max(usize::try_from(since).unwrap_or(usize::MAX))
}

/// The last candle of history, and the resume point for the venue subscription.
fn follow_from(
    interval: Interval,
    history: &[Bar],
    now: Millis,
    most: u64,
) -> (Millis, Option<Millis>) {
    let forming = Millis(interval.open_of(now).0 - 1);
    let Some(last) = history.last().map(|bar| bar.open_time) else { return (forming, None) };
    match interval.count_in(TimeRange::new(last, now)) > most {
        true => (forming, None),
        false => (last, Some(last)),
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;
    use fanout::Next;
    use market::{Decimal, Delay, Ticker, TradingHours, Venue};

    const MINUTE: i64 = 60_000;

    /// A clock that runs a callback at its next reading.
    #[derive(Default)]
    struct InterruptingClock(Mutex<Option<Box<dyn FnOnce() + Send>>>);

    impl Clock for InterruptingClock {
        fn now(&self) -> Millis {
            let callback = self.0.lock().take();
            callback.into_iter().for_each(|it| it());
            Millis(0)
        }
    }

    fn request() -> SubscriptionRequest {
        SubscriptionRequest {
            ticker: Ticker::parse("BTCUSDT", Venue::Binance).unwrap(),
            interval: Interval::M1,
            windows: Vec::new(),
            closed_only: true,
            heartbeat: READ_CHECK_PERIOD,
            after: None,
            client: None,
            key: String::new(),
        }
    }

    fn channel(clock: &Arc<InterruptingClock>) -> Arc<Channel> {
        let base = Millis(0);
        let calculators = Calculators::new(&[], base, None);
        let state = ChannelState {
            recent_events: VecDeque::new(),
            history_end: base,
            checkpoints: Checkpoints::new(&calculators, base, 1),
            status: None,
            heartbeat: None,
            ended: None,
        };
        let (symbol, interval) = (Arc::from("BTCUSDT"), Interval::M1);
        Arc::new(Channel {
            subject: Subject { symbol, interval, source: Arc::default(), delay: Delay::RealTime },
            clock: Arc::<InterruptingClock>::clone(clock),
            limits: StreamLimits::default(),
            memory: MemoryBudget::new(usize::MAX, usize::MAX),
            broadcast: Arc::default(),
            state: Mutex::new(state),
        })
    }

    /// The statuses in a subscriber's queue.
    fn statuses(joined: &JoinedSubscriber) -> Vec<String> {
        let mut context = Context::from_waker(Waker::noop());
        let mut all = Vec::new();
        while let Poll::Ready(Next::Event(received)) = joined.subscriber.poll_next(&mut context) {
            let event: serde_json::Value = serde_json::from_str(&received.event.json).unwrap();
            all.push(event["status"].as_str().unwrap().to_owned());
        }
        all
    }

    #[test]
    fn a_subscriber_that_joins_during_a_status_change_receives_it_once() {
        let clock = Arc::new(InterruptingClock::default());
        let channel = channel(&clock);
        for (status, expected) in
            [(Status::Connected, "connected"), (Status::Reconnecting, "reconnecting")]
        {
            let newcomer = Arc::new(Mutex::new(None));
            let (shared, slot) = (Arc::clone(&channel), Arc::clone(&newcomer));
            let join = move || *slot.lock() = shared.join(&request());
            *clock.0.lock() = Some(Box::new(join));
            channel.publish_status(status);
            let received = statuses(newcomer.lock().as_ref().unwrap());
            assert_eq!(received.iter().filter(|it| *it == expected).count(), 1, "{received:?}");
            assert_eq!(received.last().map(String::as_str), Some(expected), "{received:?}");
            // A later subscriber receives only the current status.
            assert_eq!(statuses(&channel.join(&request()).unwrap()), [expected]);
        }
    }

    /// `ago` is how many minutes ago the last candle of history opened.
    #[track_caller]
    fn check(calendar: TradingHours, ago: i64, follows_history: bool) {
        let now = Millis(20_000 * clock::DAY_MS + 30_000);
        let open_time = Millis(now.0 - 30_000 - ago * MINUTE);
        let one = Decimal::ZERO;
        let bar = Bar { open_time, open: one, high: one, low: one, close: one, volume: None };
        let most = followed_max(calendar);
        let (history_end, after) = follow_from(Interval::M1, &[bar], now, most);
        let expected = match follows_history {
            true => (open_time, Some(open_time)),
            false => (Millis(now.0 - 30_001), None),
        };
        assert_eq!((history_end, after), expected, "{calendar:?} {ago}");
    }

    #[test]
    fn a_channel_resumes_from_history_after_a_closed_night() {
        check(TradingHours::AlwaysOpen, 1, true);
        check(TradingHours::AlwaysOpen, 499, true);
        check(TradingHours::AlwaysOpen, 600, false);
        check(TradingHours::Unknown, 600, true);
        check(TradingHours::Unknown, 10 * 1_440, true);
        check(TradingHours::Unknown, 30 * 1_440, false);
    }
}
