//! One series with its indicators: followed once, computed once, serialized once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fanout::{Fan, Seat, Worth};
use fault::Fault;
use market::{
    Bar, Clock, EndCause, Follow, Interval, Kline, KlineEvent, KlineFeed, LiveKlines, Millis, Span,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ask::Ask;
use super::calculators::{Calculators, Mark};
use super::event::{Status, Subject, Told};
use super::marks::Marks;
use super::{Live, REPLAY_MAX};
use crate::warm;

/// Closed candles kept ready for those who come back soon.
const KEPT_MAX: usize = 512;
/// How often a channel looks whether anybody reads it; one that nobody reads twice is over.
pub(super) const LOOK: Duration = Duration::from_secs(10);
/// A venue tells candles again only so far back; a symbol that stopped trading is followed anew.
const FOLLOWED_MAX: u64 = 500;

pub(crate) struct Channel {
    pub(crate) subject: Subject,
    pub(crate) clock: Arc<dyn Clock>,
    fan: Arc<Fan<Told>>,
    state: Mutex<State>,
}

struct State {
    /// Closed candles that were handed out, oldest first.
    kept: VecDeque<Arc<Told>>,
    /// The last closed candle before those.
    floor: Millis,
    /// What those who resume from before that go on from.
    marks: Marks,
    /// What newcomers are told first, once the venue was heard of.
    status: Option<Status>,
    over: bool,
}

/// A place in a channel, with what the newcomer missed.
pub(crate) struct Joined {
    pub(crate) seat: Seat<Told>,
    /// The last closed candle before those that will come.
    pub(crate) last: Millis,
    /// What the channel still has of it.
    pub(crate) kept: Vec<Arc<Told>>,
    /// What is older than that.
    pub(crate) missed: Option<Missed>,
}

/// Candles that a channel does not remember: opening times after the first and up to the second.
pub(crate) struct Missed {
    pub(crate) after: Millis,
    pub(crate) to: Millis,
    /// The state of what adds up, from before them.
    pub(crate) mark: Option<Arc<Mark>>,
}

/// What the task of a channel works with.
struct Follower {
    channel: Arc<Channel>,
    port: Arc<dyn LiveKlines>,
    code: String,
    feed: Box<dyn KlineFeed>,
    calculators: Calculators,
    /// The last closed candle that was handed out.
    last: Millis,
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
        let base = warm::base(ask.interval, now, REPLAY_MAX);
        let before = lead(ask, first, base);
        let history = live.candles.last(&ask.ticker, ask.interval, before, deadline).await?;
        let mut calculators = Calculators::new(&ask.specs, base, None);
        let mut marks = Marks::new(&calculators, base);
        for bar in &history {
            calculators.close(bar);
            marks.closed(&calculators, bar.open_time);
        }
        let (floor, after) = anchor(ask.interval, &history, now);
        let code = ask.ticker.symbol.code.clone();
        let follow = Follow { after, ..Follow::default() };
        let feed = port.follow(&code, ask.interval, follow).await?;
        let channel = Arc::new(Self {
            subject: Subject { symbol: Arc::from(&*ask.ticker.name), interval: ask.interval },
            clock: Arc::clone(&live.clock),
            fan: Arc::default(),
            state: Mutex::new(State {
                kept: VecDeque::new(),
                floor,
                marks,
                status: None,
                over: false,
            }),
        });
        let follower =
            Follower { channel: Arc::clone(&channel), port, code, feed, calculators, last: floor };
        let (house, key) = (Arc::clone(live), ask.key.clone());
        let stop = live.tasks.stop.clone();
        live.tasks.tracker.spawn(async move {
            let channel = Arc::clone(&follower.channel);
            follower.run(stop).await;
            channel.close();
            house.forget(&key, &channel);
        });
        Ok(channel)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place, unless the channel is over.
    pub(crate) fn join(&self, ask: &Ask) -> Option<Joined> {
        let state = self.state();
        if state.over {
            return None;
        }
        let seat = self.fan.join(Follow::QUEUE_MAX, !ask.closed_only);
        if let Some(status) = state.status {
            let event = self.subject.status(status, self.clock.now());
            seat.tell(&Arc::new(Told { event, candle: None, closed: false }), Worth::Status);
        }
        let newest = state.kept.back().and_then(|told| told.candle);
        let last = newest.unwrap_or(state.floor);
        let Some(after) = ask.after else {
            return Some(Joined { seat, last, kept: Vec::new(), missed: None });
        };
        let later = |told: &&Arc<Told>| told.candle.is_some_and(|at| at > after);
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

    fn publish(&self, told: Told) {
        let worth = match told.candle {
            None => Worth::Status,
            Some(_) if told.closed => Worth::Lasting,
            Some(_) => Worth::Fleeting,
        };
        let told = Arc::new(told);
        // Held while everybody is told, so that newcomers find what they are not told here.
        let mut state = self.state();
        if told.closed {
            if state.kept.len() >= KEPT_MAX {
                let oldest = state.kept.pop_front().and_then(|oldest| oldest.candle);
                state.floor = oldest.unwrap_or(state.floor);
            }
            state.kept.push_back(Arc::clone(&told));
        }
        self.fan.publish(&told, worth);
    }

    fn say(&self, status: Status) {
        if !matches!(status, Status::GapFilled(_)) {
            self.state().status = Some(status);
        }
        let event = self.subject.status(status, self.clock.now());
        self.publish(Told { event, candle: None, closed: false });
    }

    /// Ends the channel if nobody reads it.
    fn retire(&self) -> bool {
        let mut state = self.state();
        state.over = self.fan.is_empty();
        state.over
    }

    fn close(&self) {
        self.state().over = true;
        self.fan.end();
    }
}

/// How many candles are read before the first: what settles the indicators, and all there are since
/// what adds up begins.
fn lead(ask: &Ask, first: Millis, base: Millis) -> usize {
    let settles = warm::candles_before(&ask.specs, ask.interval, first).max(1);
    if !ask.specs.iter().any(warm::adds_up) {
        return settles;
    }
    let since = ask.interval.count_in(Span::new(base, first));
    settles.max(usize::try_from(since).unwrap_or(usize::MAX))
}

/// The last candle of history, and where to follow from.
fn anchor(interval: Interval, history: &[Bar], now: Millis) -> (Millis, Option<Millis>) {
    let forming = Millis(interval.open_of(now).0 - 1);
    let Some(last) = history.last().map(|bar| bar.open_time) else { return (forming, None) };
    match interval.count_in(Span::new(last, now)) > FOLLOWED_MAX {
        true => (forming, None),
        false => (last, Some(last)),
    }
}

impl Follower {
    async fn run(mut self, stop: CancellationToken) {
        let mut look = tokio::time::interval(LOOK);
        let mut idle = false;
        loop {
            tokio::select! {
                event = self.feed.next() => {
                    let Some(event) = event else { return };
                    if !self.take(&event).await {
                        return;
                    }
                }
                _ = look.tick() => {
                    let empty = self.channel.fan.is_empty();
                    if empty && idle && self.channel.retire() {
                        return;
                    }
                    idle = empty;
                }
                () = stop.cancelled() => return,
            }
        }
    }

    /// Whether there is more to come.
    async fn take(&mut self, event: &KlineEvent) -> bool {
        match event {
            KlineEvent::Candle { kline, .. } => self.candle(kline),
            KlineEvent::Connected => self.channel.say(Status::Connected),
            KlineEvent::Reconnecting => self.channel.say(Status::Reconnecting),
            KlineEvent::GapFilled(span) => self.channel.say(Status::GapFilled(*span)),
            KlineEvent::Ended(end) => {
                return end.cause == EndCause::TooSlow && self.follow_again().await;
            }
        }
        true
    }

    fn candle(&mut self, kline: &Kline) {
        let channel = &self.channel;
        if kline.bar.open_time <= self.last {
            return;
        }
        let deltas = match kline.closed {
            true => self.calculators.close(&kline.bar),
            false if !channel.fan.wants_fleeting() => return,
            false => self.calculators.preview(&kline.bar),
        };
        if kline.closed {
            self.last = kline.bar.open_time;
            channel.state().marks.closed(&self.calculators, self.last);
        }
        let now = channel.clock.now();
        channel.publish(channel.subject.kline(&kline.bar, kline.closed, &deltas, now));
    }

    /// A machine that slept has too much waiting for it; what it missed is told again.
    async fn follow_again(&mut self) -> bool {
        let follow = Follow { after: Some(self.last), ..Follow::default() };
        match self.port.follow(&self.code, self.channel.subject.interval, follow).await {
            Ok(feed) => self.feed = feed,
            Err(fault) => {
                tracing::warn!(
                    symbol = &*self.channel.subject.symbol,
                    "not followed again: {fault}"
                );
                return false;
            }
        }
        true
    }
}
