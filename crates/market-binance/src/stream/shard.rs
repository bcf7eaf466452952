//! The task behind one connection: it keeps the order of its series, has gaps filled from the
//! record, and tells whoever follows. Which connection carries them is decided in `lines`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use fault::Fault;
use http_client::Backoff;
use market::{Interval, KlineEvent};
use market_live::SeriesBroadcast;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, sleep_until};

use super::backfill;
use super::cadence::Cadence;
use super::connection::Heard;
use super::lines::{Change, Lines};
use super::requests::Order;
use super::sequence::{Sequence, Update};
use crate::record::{Doubt, Filled};
use crate::{Inner, StreamConfig};

/// A series that is to be followed.
pub(crate) struct Joining {
    pub(crate) stream: String,
    pub(crate) code: String,
    pub(crate) interval: Interval,
    pub(crate) expected: Millis,
    pub(crate) hub: Arc<SeriesBroadcast>,
}

struct Series {
    code: String,
    interval: Interval,
    hub: Arc<SeriesBroadcast>,
    sequence: Sequence,
    /// Whether followers were told that it is heard live.
    live: bool,
    /// The last sign of its stream, or that it is quiet for good reason.
    heard_at: Instant,
    cadence: Cadence,
    /// When it is mute unless something is heard: the record has moved on.
    mute_at: Option<Instant>,
    /// It sends nothing although it trades, on the connection that there is.
    mute: bool,
    /// It has not been heard since it was mute.
    lost: bool,
    /// The record is being asked.
    looking: bool,
    /// When to ask the record, where that is known to be needed.
    look_at: Option<Instant>,
    /// What the record does not have, though it goes on after it.
    doubt: Doubt,
    waits: Backoff,
    /// Since when a fill waits for readers.
    crowded_since: Option<Instant>,
}

impl Series {
    /// Tells what the sequence released.
    fn publish(&self, told: Vec<Update>, also: Option<KlineEvent>) {
        let candle = |Update { kline, as_of }| KlineEvent::Candle { kline, as_of };
        let events: Vec<KlineEvent> = told.into_iter().map(candle).chain(also).collect();
        self.hub.publish(events, self.sequence.expected());
    }

    fn say(&mut self, live: bool) {
        if self.live != live {
            self.live = live;
            self.heard_at = Instant::now();
            self.cadence.interrupted();
            self.mute_at = None;
            self.mute = false;
            let word = if live { KlineEvent::Connected } else { KlineEvent::Reconnecting };
            self.publish(Vec::new(), Some(word));
        }
    }

    /// No connection carries it.
    fn drop_out(&mut self) {
        self.say(false);
        self.mute = false;
    }

    /// Its connection works, and yet nothing comes for longer than usual.
    fn is_silent(&self, config: &StreamConfig) -> bool {
        let patience = self.cadence.patience(config.silence_min, config.stream_silence);
        self.live && self.mute_at.is_none() && self.heard_at.elapsed() >= patience
    }

    /// Notes a frame; whether one came at last.
    fn heard(&mut self) -> bool {
        self.heard_at = Instant::now();
        self.cadence.heard(self.heard_at);
        self.mute_at = None;
        if self.mute {
            self.say(true);
        }
        std::mem::take(&mut self.lost)
    }

    /// What the record says about a silence.
    fn explain(&mut self, moved: bool, config: &StreamConfig) {
        self.heard_at = Instant::now();
        match moved {
            // What was traded just now may still be on its way.
            true => self.mute_at = Some(self.heard_at + config.behind_record),
            false => self.cadence.excused(),
        }
    }

    fn look_by(&mut self, at: Instant) {
        self.look_at = Some(self.look_at.map_or(at, |before| before.min(at)));
    }
}

type Looked = (String, Result<Filled, Fault>);

pub(crate) struct Shard {
    id: u64,
    inner: Arc<Inner>,
    joining: mpsc::Receiver<Joining>,
    series: HashMap<String, Series>,
    lines: Lines,
    looks: JoinSet<Looked>,
}

impl Shard {
    pub(crate) fn new(id: u64, inner: &Arc<Inner>, joining: mpsc::Receiver<Joining>) -> Self {
        Self {
            id,
            inner: Arc::clone(inner),
            joining,
            series: HashMap::new(),
            lines: Lines::new(inner),
            looks: JoinSet::new(),
        }
    }

    pub(crate) async fn run(mut self) {
        let stop = self.inner.streams.stop.clone();
        let mut tick = tokio::time::interval(self.inner.config.streams.tick);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let retry_at = self.lines.retry_at();
            tokio::select! {
                () = stop.cancelled() => break,
                joining = self.joining.recv() => match joining {
                    Some(joining) => self.join(joining),
                    None => break,
                },
                (line, heard) = self.lines.hear() => self.hear(line, heard),
                Some(looked) = self.looks.join_next(), if !self.looks.is_empty() => {
                    if let Ok((stream, looked)) = looked {
                        self.looked(&stream, looked);
                    }
                }
                () = sleep_until(retry_at.unwrap_or_else(Instant::now)), if retry_at.is_some() => {
                    self.lines.retry(self.series.keys());
                }
                _ = tick.tick() => {
                    if self.tick() {
                        break;
                    }
                }
            }
        }
        for series in self.series.values() {
            series.hub.close();
        }
        // Those who came too late to be followed must hear of it, too.
        self.joining.close();
        while let Ok(late) = self.joining.try_recv() {
            late.hub.close();
        }
    }

    fn join(&mut self, joining: Joining) {
        let Joining { stream, code, interval, expected, hub } = joining;
        let config = &self.inner.config.streams;
        let series = Series {
            code,
            interval,
            hub,
            sequence: Sequence::new(interval, expected),
            live: false,
            heard_at: Instant::now(),
            cadence: Cadence::new(frames_every(interval)),
            mute_at: None,
            mute: false,
            lost: false,
            looking: false,
            look_at: None,
            doubt: Doubt::default(),
            waits: Backoff::new(config.lag_wait, config.lag_wait_max),
            crowded_since: None,
        };
        self.series.insert(stream.clone(), series);
        self.lines.order(|| Order::Subscribe(vec![stream.clone()]), self.series.keys());
    }

    fn hear(&mut self, line: u64, heard: Heard) {
        let change = match heard {
            // One that was on its way when the last follower left. That its connection is alive was
            // noted there; of the streams that a new one must be heard on it says nothing.
            Heard::Candle { stream, .. } if !self.series.contains_key(&stream) => return,
            Heard::Candle { stream, update } => {
                self.candle(&stream, *update);
                self.lines.candle(line, &stream)
            }
            // The same of a confirmation: nothing will be heard of what is not followed.
            Heard::Subscribed(mut names) => {
                names.retain(|name| self.series.contains_key(name));
                self.lines.heard(line, Heard::Subscribed(names), self.series.keys())
            }
            Heard::Refused => {
                self.inner.client.observer.stream("refused");
                return;
            }
            heard => self.lines.heard(line, heard, self.series.keys()),
        };
        self.apply(change);
    }

    fn candle(&mut self, stream: &str, update: Update) {
        let Some(series) = self.series.get_mut(stream) else { return };
        let mut told = Vec::new();
        if series.heard() {
            self.lines.regained();
        }
        series.sequence.hear(update, &mut told);
        // Once it is planned or under way, more frames change nothing about it.
        if series.sequence.gap().is_some() && !series.looking {
            let wait = self.inner.config.streams.gap_wait;
            series.look_at.get_or_insert_with(|| Instant::now() + wait);
        }
        if !told.is_empty() {
            series.publish(told, None);
        }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Nothing => {}
            Change::Live(names) => self.live(&names),
            Change::Moved(carried) => {
                self.drop_all_but(&carried);
                self.live(&carried);
            }
            Change::Broken(kept) => {
                self.drop_all_but(&kept);
                // Those that are mute have yet to be heard on it.
                let mute = |name: &&String| self.series.get(*name).is_some_and(|it| it.mute);
                let heard: Vec<String> = kept.iter().filter(|it| !mute(it)).cloned().collect();
                self.live(&heard);
                self.inner.client.observer.stream("reconnecting");
            }
        }
    }

    /// Says of all series but these that nothing is heard of them.
    fn drop_all_but(&mut self, carried: &HashSet<String>) {
        for (name, series) in &mut self.series {
            if !carried.contains(name) {
                series.drop_out();
            }
        }
    }

    fn live<'a>(&mut self, names: impl IntoIterator<Item = &'a String>) {
        let now = self.inner.server_now_about();
        for name in names {
            if let Some(series) = self.series.get_mut(name) {
                let listened = series.live;
                series.say(true);
                // Something may have closed while nobody listened.
                if !listened && series.sequence.closes_at() <= now {
                    series.look_by(Instant::now());
                }
            }
        }
    }

    /// Says whether the shard has nothing left to do.
    fn tick(&mut self) -> bool {
        let (now, server_now) = (Instant::now(), self.inner.server_now_about());
        let config = &self.inner.config.streams;
        let grace = config.close_grace.as_millis() as i64;
        for (stream, series) in &mut self.series {
            if series.looking {
                continue;
            }
            // Quiet candles and lost closing frames: the clock alone says that one is over.
            let overdue = series.sequence.closes_at().0 + grace <= server_now.0;
            let silent = series.is_silent(config);
            if series.look_at.map_or(overdue || silent, |at| at <= now) {
                start(&self.inner, &mut self.looks, stream, series);
            }
        }
        self.judge_silence(now);
        let change = self.lines.judge();
        self.apply(change);
        let config = &self.inner.config.streams;
        let idle: Vec<String> = self
            .series
            .iter()
            .filter(|(_, series)| {
                series.hub.idle_since().is_some_and(|since| now - since >= config.linger)
            })
            .map(|(stream, _)| stream.clone())
            .collect();
        let gone = self.inner.streams.forget(self.id, idle);
        for stream in &gone {
            self.series.remove(stream);
        }
        if !gone.is_empty() {
            self.lines.order(|| Order::Unsubscribe(gone.clone()), self.series.keys());
        }
        self.series.is_empty() && self.inner.streams.retire(self.id)
    }

    fn looked(&mut self, stream: &str, looked: Result<Filled, Fault>) {
        let Some(series) = self.series.get_mut(stream) else { return };
        series.looking = false;
        let before = series.sequence.expected();
        match looked {
            Ok(filled) => {
                if series.is_silent(&self.inner.config.streams) {
                    let moved = filled.moved_beyond(series.sequence.forming());
                    series.explain(moved, &self.inner.config.streams);
                }
                series.doubt.see(filled.hole);
                let mut told = Vec::new();
                let span = series.sequence.fill(&filled.rows, filled.known_to, &mut told);
                series.publish(told, span.map(KlineEvent::GapFilled));
                if span.is_some() {
                    self.inner.client.observer.stream("gap_filled");
                }
            }
            Err(fault) => {
                let code = fault.code();
                tracing::debug!(stream, code, %fault, "a gap could not be filled yet");
            }
        }
        let over = series.sequence.closes_at() <= self.inner.server_now_about();
        let open = series.sequence.gap().is_some() || over;
        if series.sequence.expected() > before {
            series.waits.reset();
            series.look_at = open.then(Instant::now);
        } else {
            // The record lags behind, or has nothing: an outage, a symbol that does not trade.
            let needed = open || series.look_at.is_some();
            series.look_at = needed.then(|| Instant::now() + series.waits.next());
        }
    }

    /// Has the connection replaced whose streams are mute, for as long as there are any.
    fn judge_silence(&mut self, now: Instant) {
        let mut mute = false;
        for (stream, series) in &mut self.series {
            if series.mute_at.is_some_and(|at| at <= now) {
                tracing::info!(stream, "a stream sends nothing although it trades");
                self.inner.client.observer.stream("mute");
                series.say(false);
                (series.mute, series.lost) = (true, true);
            }
            mute |= series.mute;
        }
        if mute {
            self.lines.replace(self.series.keys());
        }
    }
}

/// How often the exchange sends a forming candle that changes.
fn frames_every(interval: Interval) -> Duration {
    Duration::from_secs(if interval == Interval::S1 { 1 } else { 2 })
}

/// Asks the record for what is missing, unless readers need a moment to make room for it.
fn start(inner: &Arc<Inner>, looks: &mut JoinSet<Looked>, stream: &str, series: &mut Series) {
    if series.hub.is_nearly_full() {
        let since = *series.crowded_since.get_or_insert_with(Instant::now);
        if since.elapsed() < inner.config.streams.room_wait {
            return;
        }
    }
    series.crowded_since = None;
    series.looking = true;
    series.look_at = None;
    let (inner, stream) = (Arc::clone(inner), stream.to_owned());
    let (code, interval) = (series.code.clone(), series.interval);
    let (from, believed) = (series.sequence.expected(), series.doubt.believed());
    looks.spawn(async move {
        let looked = match inner.streams.looks.acquire().await {
            Ok(_turn) => backfill::look(&inner, &code, interval, from, believed).await,
            Err(error) => Err(Fault::internal(error)),
        };
        (stream, looked)
    });
}

#[cfg(test)]
mod tests;
