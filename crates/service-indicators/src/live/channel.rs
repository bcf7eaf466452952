//! One series with its indicators: followed once, computed once, serialized once.

use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, Millis, TimeRange};
use contract::StreamEvent;
use fanout::{Broadcast, Priority, Subscriber};
use fault::Fault;
use market::{Bar, Interval, SubscribeOptions};
use tokio::time::Instant;

use super::Live;
use super::ask::Ask;
use super::calculators::{Calculators, Checkpoint};
use super::event::{ChannelEvent, Ended, Status, Subject};
use super::follower::Follower;
use super::limits::{StreamLimits, followed_max};
use super::marks::Checkpoints;
use crate::warm;

/// How long a sign of life is as good as a new one; less than anybody may ask for them to come.
const SIGN_MS: i64 = 100;
/// How often a channel looks whether anybody reads it; one that nobody reads twice is over.
pub(super) const LOOK: Duration = Duration::from_secs(10);

pub(crate) struct Channel {
    pub(crate) subject: Subject,
    pub(crate) clock: Arc<dyn Clock>,
    limits: StreamLimits,
    pub(super) fan: Arc<Broadcast<ChannelEvent>>,
    state: Mutex<State>,
}

struct State {
    /// Closed candles that were handed out, oldest first.
    kept: VecDeque<Arc<ChannelEvent>>,
    /// The last closed candle before those.
    floor: Millis,
    /// What those who resume from before that go on from.
    marks: Checkpoints,
    /// What newcomers are told first, once the venue was heard of.
    status: Option<Status>,
    /// The last sign of life and when it was made, if nothing was told since.
    sign: Option<(Millis, Arc<StreamEvent>)>,
    /// Why nothing more comes, once that is so.
    over: Option<Ended>,
}

/// A place in a channel, with what the newcomer missed.
pub(crate) struct Joined {
    pub(crate) seat: Subscriber<ChannelEvent>,
    /// The last closed candle before those that will come.
    pub(crate) last: Millis,
    /// What the channel still has of it.
    pub(crate) kept: Vec<Arc<ChannelEvent>>,
    /// What is older than that.
    pub(crate) missed: Option<Missed>,
}

/// Candles that a channel does not remember: opening times after the first and up to the second.
pub(crate) struct Missed {
    pub(crate) after: Millis,
    pub(crate) to: Millis,
    /// The state of what adds up, from before them.
    pub(crate) mark: Option<Arc<Checkpoint>>,
}

impl Channel {
    /// Feeds the calculators with history, then follows the venue from where history ends.
    pub(crate) async fn open(
        live: &Arc<Live>,
        ask: &Ask,
        deadline: Instant,
    ) -> Result<Arc<Self>, Fault> {
        let port = live.candles.live(&ask.ticker)?;
        let now = live.clock.now();
        let first = ask.interval.open_of(now);
        let base = warm::base(ask.interval, now, live.limits.block());
        let before = lead(ask, first, base);
        let history = live.candles.last(&ask.ticker, ask.interval, before, deadline).await?;
        let mut calculators = Calculators::new(&ask.windows, base, None);
        let mut marks = Checkpoints::new(&calculators, base, live.limits.marks());
        for bar in &history {
            calculators.close(bar);
            marks.closed(&calculators, bar.open_time);
        }
        let most = followed_max(live.candles.calendar(&ask.ticker)?);
        let (floor, after) = anchor(ask.interval, &history, now, most);
        let code = ask.ticker.symbol.code.clone();
        let follow = SubscribeOptions { resume_after: after, ..SubscribeOptions::default() };
        let feed = port.subscribe(&code, ask.interval, follow).await?;
        let channel = Arc::new(Self {
            subject: Subject {
                symbol: Arc::from(&*ask.ticker.name),
                interval: ask.interval,
                delay: feed.delay(),
            },
            clock: Arc::clone(&live.clock),
            limits: live.limits,
            fan: Arc::default(),
            state: Mutex::new(State {
                kept: VecDeque::new(),
                floor,
                marks,
                status: None,
                sign: None,
                over: None,
            }),
        });
        let follower = Follower {
            channel: Arc::clone(&channel),
            port,
            code,
            feed,
            calculators,
            last: floor,
            unread_since: None,
        };
        let (house, key) = (Arc::clone(live), ask.key.clone());
        let stop = live.tasks.stop.clone();
        live.tasks.tracker.spawn(async move {
            let channel = Arc::clone(&follower.channel);
            channel.close(follower.run(stop).await);
            house.forget(&key, &channel);
        });
        Ok(channel)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// A place, unless the channel is over.
    pub(crate) fn join(&self, ask: &Ask) -> Option<Joined> {
        let state = self.state();
        if state.over.is_some() {
            return None;
        }
        let seat = self.fan.subscribe(self.limits.queue_max, !ask.closed_only);
        if let Some(status) = state.status {
            let event = self.subject.status(status, self.clock.now());
            seat.send(
                &Arc::new(ChannelEvent { event, candle: None, closed: false }),
                Priority::Status,
            );
        }
        let newest = state.kept.back().and_then(|told| told.candle);
        let last = newest.unwrap_or(state.floor);
        let Some(after) = ask.after else {
            return Some(Joined { seat, last, kept: Vec::new(), missed: None });
        };
        let later = |told: &&Arc<ChannelEvent>| told.candle.is_some_and(|at| at > after);
        Some(Joined {
            seat,
            last,
            kept: state.kept.iter().filter(later).cloned().collect(),
            missed: (after < state.floor).then(|| Missed {
                after,
                to: state.floor,
                mark: state.marks.before(after),
            }),
        })
    }

    /// Why it is over; asked by those who were told that it is.
    pub(crate) fn over(&self) -> Ended {
        self.state().over.unwrap_or(Ended::Stopping)
    }

    pub(super) fn publish(&self, told: ChannelEvent) {
        self.hand_out(&mut self.state(), told);
    }

    /// The state is held while everybody is told, so that newcomers find there what they are not
    /// told.
    fn hand_out(&self, state: &mut State, told: ChannelEvent) {
        let worth = match told.candle {
            None => Priority::Status,
            Some(_) if told.closed => Priority::MustDeliver,
            Some(_) => Priority::Droppable,
        };
        let told = Arc::new(told);
        state.sign = None;
        if told.closed {
            if state.kept.len() >= self.limits.kept() {
                let oldest = state.kept.pop_front().and_then(|oldest| oldest.candle);
                state.floor = oldest.unwrap_or(state.floor);
            }
            state.kept.push_back(Arc::clone(&told));
        }
        self.fan.publish(&told, worth);
    }

    /// A sign of life: one for everybody whose turn it is in the same while. It is never older than
    /// the last event, so that times do not go back.
    pub(crate) fn heartbeat(&self) -> Arc<StreamEvent> {
        let now = self.clock.now();
        let mut state = self.state();
        if let Some((at, sign)) = &state.sign
            && (0..SIGN_MS).contains(&(now.0 - at.0))
        {
            return Arc::clone(sign);
        }
        let sign = self.subject.heartbeat(now);
        state.sign = Some((now, Arc::clone(&sign)));
        sign
    }

    /// What adds up is remembered now and then.
    pub(super) fn mark(&self, calculators: &Calculators, last: Millis) {
        self.state().marks.closed(calculators, last);
    }

    pub(super) fn say(&self, status: Status) {
        let event = self.subject.status(status, self.clock.now());
        // What newcomers are told changes together with what the others are told.
        let mut state = self.state();
        if !matches!(status, Status::GapFilled(_)) {
            state.status = Some(status);
        }
        self.hand_out(&mut state, ChannelEvent { event, candle: None, closed: false });
    }

    /// Ends the channel if nobody reads it.
    pub(super) fn retire(&self) -> bool {
        let mut state = self.state();
        let empty = self.fan.is_empty();
        if empty {
            state.over = Some(Ended::Unread);
        }
        empty
    }

    fn close(&self, cause: Ended) {
        self.state().over.get_or_insert(cause);
        self.fan.end();
    }
}

/// How many candles are read before the first: what settles the indicators, and all there are since
/// what adds up begins.
fn lead(ask: &Ask, first: Millis, base: Millis) -> usize {
    let settles = warm::candles_before(&ask.windows, ask.interval, first).max(1);
    if !ask.windows.iter().any(|it| warm::adds_up(it)) {
        return settles;
    }
    let since = ask.interval.count_in(TimeRange::new(base, first));
    settles.max(usize::try_from(since).unwrap_or(usize::MAX))
}

/// The last candle of history, and where to follow from.
fn anchor(interval: Interval, history: &[Bar], now: Millis, most: u64) -> (Millis, Option<Millis>) {
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

    /// A clock that does something else the next time it is read.
    #[derive(Default)]
    struct HistoryRace(Mutex<Option<Box<dyn FnOnce() + Send>>>);

    impl Clock for HistoryRace {
        fn now(&self) -> Millis {
            let meddle = self.0.lock().take();
            meddle.into_iter().for_each(|it| it());
            Millis(0)
        }
    }

    fn ask() -> Ask {
        Ask {
            ticker: Ticker::parse("BTCUSDT", Venue::Binance).unwrap(),
            interval: Interval::M1,
            windows: Vec::new(),
            closed_only: true,
            heartbeat: LOOK,
            after: None,
            key: String::new(),
        }
    }

    fn channel(clock: &Arc<HistoryRace>) -> Arc<Channel> {
        let base = Millis(0);
        let calculators = Calculators::new(&[], base, None);
        let state = State {
            kept: VecDeque::new(),
            floor: base,
            marks: Checkpoints::new(&calculators, base, 1),
            status: None,
            sign: None,
            over: None,
        };
        let (symbol, interval) = (Arc::from("BTCUSDT"), Interval::M1);
        Arc::new(Channel {
            subject: Subject { symbol, interval, delay: Delay::RealTime },
            clock: Arc::<HistoryRace>::clone(clock),
            limits: StreamLimits::default(),
            fan: Arc::default(),
            state: Mutex::new(state),
        })
    }

    /// The statuses that somebody was told.
    fn statuses(joined: &Joined) -> Vec<String> {
        let mut context = Context::from_waker(Waker::noop());
        let mut all = Vec::new();
        while let Poll::Ready(Next::Event(told)) = joined.seat.poll_next(&mut context) {
            let event: serde_json::Value = serde_json::from_str(&told.event.json).unwrap();
            all.push(event["status"].as_str().unwrap().to_owned());
        }
        all
    }

    #[test]
    fn who_comes_while_something_is_said_is_told_it_once() {
        let clock = Arc::new(HistoryRace::default());
        let channel = channel(&clock);
        for (status, said) in
            [(Status::Connected, "connected"), (Status::Reconnecting, "reconnecting")]
        {
            let newcomer = Arc::new(Mutex::new(None));
            let (house, seat) = (Arc::clone(&channel), Arc::clone(&newcomer));
            let come = move || *seat.lock() = house.join(&ask());
            *clock.0.lock() = Some(Box::new(come));
            channel.say(status);
            let told = statuses(newcomer.lock().as_ref().unwrap());
            assert_eq!(told.iter().filter(|it| *it == said).count(), 1, "{told:?}");
            assert_eq!(told.last().map(String::as_str), Some(said), "{told:?}");
            // Who comes later is told how it is, and nothing of how it was.
            assert_eq!(statuses(&channel.join(&ask()).unwrap()), [said]);
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
        let (floor, after) = anchor(Interval::M1, &[bar], now, most);
        let expected = match follows_history {
            true => (open_time, Some(open_time)),
            false => (Millis(now.0 - 30_001), None),
        };
        assert_eq!((floor, after), expected, "{calendar:?} {ago}");
    }

    #[test]
    fn a_night_is_no_reason_to_pass_over_the_first_candles_of_the_morning() {
        check(TradingHours::AlwaysOpen, 1, true);
        check(TradingHours::AlwaysOpen, 499, true);
        check(TradingHours::AlwaysOpen, 600, false);
        check(TradingHours::Unknown, 600, true);
        check(TradingHours::Unknown, 10 * 1_440, true);
        check(TradingHours::Unknown, 30 * 1_440, false);
    }
}
