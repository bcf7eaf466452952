//! The task that runs up to `streams_per_connection` series: it orders their candles, fills gaps from
//! history and publishes to subscribers. `connection_pair` decides which connection carries them.

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
use super::connection::ConnectionEvent;
use super::connection_pair::{ConnectionPair, SeriesChange};
use super::sequence::{CandleUpdate, Sequence};
use super::subscriptions::SubscriptionChange;
use crate::history::{GapEvidence, HistoryPage};
use crate::{BinanceShared, StreamConfig};

/// After this many answers without anything new, the history lags behind no longer.
const EMPTY_PAGES_MAX: u32 = 4;

/// A series that a shard starts to follow.
pub(crate) struct NewSeries {
    pub(crate) stream: String,
    pub(crate) code: String,
    pub(crate) interval: Interval,
    pub(crate) expected: Millis,
    pub(crate) broadcast: Arc<SeriesBroadcast>,
}

struct LiveSeries {
    code: String,
    interval: Interval,
    broadcast: Arc<SeriesBroadcast>,
    sequence: Sequence,
    /// Whether a connection carries the stream.
    live: bool,
    /// Whether the last status that subscribers got is `Connected`; `None` before the first.
    told_connected: Option<bool>,
    /// The stream is carried again, and candles before this one are still missing. Subscribers are
    /// not told `Connected` before they have them.
    behind_until: Option<Millis>,
    /// Answers of the history since then that had nothing new.
    empty_pages: u32,
    /// The last frame, or the last time the silence was found harmless.
    last_frame_at: Instant,
    cadence: Cadence,
    /// When the stream counts as mute unless a frame comes: the history has newer trades.
    mute_deadline: Option<Instant>,
    /// The stream sends nothing on the current connection although the symbol trades.
    mute: bool,
    /// No frame has come since the stream was mute.
    was_mute: bool,
    /// A request for history is running.
    backfilling: bool,
    /// When to request history, if it is known to be needed.
    backfill_at: Option<Instant>,
    /// The gap of the last responses.
    gap_evidence: GapEvidence,
    backfill_backoff: Backoff,
    /// Since when a backfill waits for room in the queues.
    full_since: Option<Instant>,
}

impl LiveSeries {
    /// Publishes released candles and then a status.
    fn publish(&self, released: Vec<CandleUpdate>, also: Option<KlineEvent>) {
        let candle = |CandleUpdate { kline, as_of }| KlineEvent::Candle { kline, as_of };
        let events: Vec<KlineEvent> = released.into_iter().map(candle).chain(also).collect();
        self.broadcast.publish(events, self.sequence.expected());
    }

    /// A connection carries the stream; candles that closed before `server_now` may be missing.
    fn connect(&mut self, server_now: Millis) {
        if self.live {
            return;
        }
        self.restart(true);
        let forming = self.interval.open_of(server_now);
        self.behind_until = (self.sequence.expected() < forming).then_some(forming);
        self.empty_pages = 0;
        self.tell_connected();
    }

    /// No connection carries the stream.
    fn disconnect(&mut self) {
        if self.live {
            self.restart(false);
            self.behind_until = None;
            if self.told_connected != Some(false) {
                self.told_connected = Some(false);
                self.publish(Vec::new(), Some(KlineEvent::Reconnecting));
            }
        }
        self.mute = false;
    }

    fn restart(&mut self, live: bool) {
        self.live = live;
        self.last_frame_at = Instant::now();
        self.cadence.restart();
        self.mute_deadline = None;
        self.mute = false;
    }

    /// Tells subscribers `Connected` as soon as they have the candles that they missed.
    fn tell_connected(&mut self) {
        if self.behind_until.is_some_and(|until| self.sequence.expected() < until) {
            return;
        }
        self.behind_until = None;
        if self.live && self.told_connected != Some(true) {
            self.told_connected = Some(true);
            self.publish(Vec::new(), Some(KlineEvent::Connected));
        }
    }

    /// The history has nothing new. After `EMPTY_PAGES_MAX` such answers, and without a later candle
    /// that proves a gap, the symbol does not trade and nothing is missing.
    fn on_empty_page(&mut self) {
        self.empty_pages += 1;
        if self.empty_pages >= EMPTY_PAGES_MAX && self.sequence.gap().is_none() {
            self.behind_until = None;
        }
    }

    /// The connection works, but no frame has come for unusually long.
    fn is_silent(&self, config: &StreamConfig) -> bool {
        let silence_limit = self.cadence.silence_limit(config.silence_min, config.stream_silence);
        self.live && self.mute_deadline.is_none() && self.last_frame_at.elapsed() >= silence_limit
    }

    /// Records a frame; true if it ends a mute period.
    fn on_frame(&mut self, server_now: Millis) -> bool {
        self.last_frame_at = Instant::now();
        self.cadence.record(self.last_frame_at);
        self.mute_deadline = None;
        if self.mute {
            self.connect(server_now);
        }
        std::mem::take(&mut self.was_mute)
    }

    /// Records what the history says about a silence; `moved` means it has newer trades.
    fn on_silence_checked(&mut self, moved: bool, config: &StreamConfig) {
        self.last_frame_at = Instant::now();
        match moved {
            // The frame of the newest trade may still be on its way.
            true => self.mute_deadline = Some(self.last_frame_at + config.delivery_delay_max),
            false => self.cadence.silence_was_harmless(),
        }
    }

    fn backfill_by(&mut self, at: Instant) {
        self.backfill_at = Some(self.backfill_at.map_or(at, |before| before.min(at)));
    }
}

type BackfillResult = (String, Result<HistoryPage, Fault>);

pub(crate) struct Shard {
    id: u64,
    shared: Arc<BinanceShared>,
    new_series: mpsc::Receiver<NewSeries>,
    series: HashMap<String, LiveSeries>,
    connections: ConnectionPair,
    backfills: JoinSet<BackfillResult>,
}

impl Shard {
    pub(crate) fn new(
        id: u64,
        shared: &Arc<BinanceShared>,
        new_series: mpsc::Receiver<NewSeries>,
    ) -> Self {
        Self {
            id,
            shared: Arc::clone(shared),
            new_series,
            series: HashMap::new(),
            connections: ConnectionPair::new(shared),
            backfills: JoinSet::new(),
        }
    }

    pub(crate) async fn run(mut self) {
        let stop = self.shared.streams.stop.clone();
        let mut tick = tokio::time::interval(self.shared.config.streams.tick);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let retry_at = self.connections.retry_at();
            tokio::select! {
                () = stop.cancelled() => break,
                new_series = self.new_series.recv() => match new_series {
                    Some(new_series) => self.add_series(new_series),
                    None => break,
                },
                (connection, event) = self.connections.next_event() => self.on_event(connection, event),
                Some(looked) = self.backfills.join_next(), if !self.backfills.is_empty() => {
                    if let Ok((stream, looked)) = looked {
                        self.on_backfill(&stream, looked);
                    }
                }
                () = sleep_until(retry_at.unwrap_or_else(Instant::now)), if retry_at.is_some() => {
                    self.connections.retry(self.series.keys());
                }
                _ = tick.tick() => {
                    if self.tick() {
                        break;
                    }
                }
            }
        }
        for series in self.series.values() {
            series.broadcast.close();
        }
        // Series that were added too late end as well.
        self.new_series.close();
        while let Ok(late) = self.new_series.try_recv() {
            late.broadcast.close();
        }
    }

    fn add_series(&mut self, new_series: NewSeries) {
        let NewSeries { stream, code, interval, expected, broadcast } = new_series;
        let config = &self.shared.config.streams;
        let series = LiveSeries {
            code,
            interval,
            broadcast,
            sequence: Sequence::new(interval, expected),
            live: false,
            told_connected: None,
            behind_until: None,
            empty_pages: 0,
            last_frame_at: Instant::now(),
            cadence: Cadence::new(frame_interval(interval)),
            mute_deadline: None,
            mute: false,
            was_mute: false,
            backfilling: false,
            backfill_at: None,
            gap_evidence: GapEvidence::default(),
            backfill_backoff: Backoff::new(config.lag_wait, config.lag_wait_max),
            full_since: None,
        };
        self.series.insert(stream.clone(), series);
        self.connections.update_subscriptions(
            || SubscriptionChange::Subscribe(vec![stream.clone()]),
            self.series.keys(),
        );
    }

    fn on_event(&mut self, connection: u64, event: ConnectionEvent) {
        let change = match event {
            // A late frame of a series without subscribers. Ignored: liveness was already recorded, and
            // the frame must not count as proof for the standby connection.
            ConnectionEvent::Candle { stream, .. } if !self.series.contains_key(&stream) => return,
            ConnectionEvent::Candle { stream, update } => {
                self.on_candle(&stream, *update);
                self.connections.on_candle(connection, &stream)
            }
            // A late confirmation must not make the probe wait for a stream without subscribers.
            ConnectionEvent::Subscribed(mut names) => {
                names.retain(|name| self.series.contains_key(name));
                self.connections.on_event(
                    connection,
                    ConnectionEvent::Subscribed(names),
                    self.series.keys(),
                )
            }
            ConnectionEvent::Refused => {
                self.shared.client.observer.stream("refused");
                return;
            }
            event => self.connections.on_event(connection, event, self.series.keys()),
        };
        self.apply_change(change);
    }

    fn on_candle(&mut self, stream: &str, update: CandleUpdate) {
        let server_now = self.shared.server_now_about();
        let Some(series) = self.series.get_mut(stream) else { return };
        let mut released = Vec::new();
        if series.on_frame(server_now) {
            self.connections.on_recovered();
        }
        series.sequence.push(update, &mut released);
        // A backfill that is planned or running is not changed by more frames.
        if series.sequence.gap().is_some() && !series.backfilling {
            let wait = self.shared.config.streams.gap_wait;
            series.backfill_at.get_or_insert_with(|| Instant::now() + wait);
        }
        if !released.is_empty() {
            series.publish(released, None);
        }
        series.tell_connected();
    }

    fn apply_change(&mut self, change: SeriesChange) {
        match change {
            SeriesChange::Nothing => {}
            SeriesChange::Live(names) => self.mark_live(&names),
            SeriesChange::Moved(carried) => {
                self.disconnect_all_except(&carried);
                self.mark_live(&carried);
            }
            SeriesChange::Broken(remaining_streams) => {
                self.disconnect_all_except(&remaining_streams);
                // Mute streams have not sent on the remaining connection yet.
                let mute = |name: &&String| self.series.get(*name).is_some_and(|it| it.mute);
                let live_streams: Vec<String> =
                    remaining_streams.iter().filter(|it| !mute(it)).cloned().collect();
                self.mark_live(&live_streams);
                self.shared.client.observer.stream("reconnecting");
            }
        }
    }

    /// Marks all series except these as disconnected.
    fn disconnect_all_except(&mut self, carried: &HashSet<String>) {
        for (name, series) in &mut self.series {
            if !carried.contains(name) {
                series.disconnect();
            }
        }
    }

    fn mark_live<'a>(&mut self, names: impl IntoIterator<Item = &'a String>) {
        let now = self.shared.server_now_about();
        for name in names {
            if let Some(series) = self.series.get_mut(name) {
                let listened = series.live;
                series.connect(now);
                // A candle may have closed while the stream was down.
                if !listened && series.sequence.closes_at() <= now {
                    series.backfill_by(Instant::now());
                }
            }
        }
    }

    /// Checks deadlines; true if the shard has no series left.
    fn tick(&mut self) -> bool {
        let (now, server_now) = (Instant::now(), self.shared.server_now_about());
        let config = &self.shared.config.streams;
        let grace = config.close_grace.as_millis() as i64;
        for (stream, series) in &mut self.series {
            if series.backfilling {
                continue;
            }
            // A candle without trades and a lost closing frame look alike: the clock decides.
            let overdue = series.sequence.closes_at().0 + grace <= server_now.0;
            let silent = series.is_silent(config);
            if series.backfill_at.map_or(overdue || silent, |at| at <= now) {
                start_backfill(&self.shared, &mut self.backfills, stream, series);
            }
        }
        self.replace_if_mute(now);
        let change = self.connections.decide_takeover();
        self.apply_change(change);
        let config = &self.shared.config.streams;
        let idle: Vec<String> = self
            .series
            .iter()
            .filter(|(_, series)| {
                series
                    .broadcast
                    .idle_since()
                    .is_some_and(|since| now - since >= config.idle_series_ttl)
            })
            .map(|(stream, _)| stream.clone())
            .collect();
        let gone = self.shared.streams.remove_idle(self.id, idle);
        for stream in &gone {
            self.series.remove(stream);
        }
        if !gone.is_empty() {
            self.connections.update_subscriptions(
                || SubscriptionChange::Unsubscribe(gone.clone()),
                self.series.keys(),
            );
        }
        self.series.is_empty() && self.shared.streams.remove_shard_if_empty(self.id)
    }

    fn on_backfill(&mut self, stream: &str, looked: Result<HistoryPage, Fault>) {
        let Some(series) = self.series.get_mut(stream) else { return };
        series.backfilling = false;
        let before = series.sequence.expected();
        match looked {
            Ok(page) => {
                if series.is_silent(&self.shared.config.streams) {
                    let moved = page.traded_after(series.sequence.forming());
                    series.on_silence_checked(moved, &self.shared.config.streams);
                }
                series.gap_evidence.observe(page.gap);
                let mut released = Vec::new();
                let span = series.sequence.fill(&page.rows, page.complete_to, &mut released);
                series.publish(released, span.map(KlineEvent::GapFilled));
                match span {
                    Some(_) => self.shared.client.observer.stream("gap_filled"),
                    None => series.on_empty_page(),
                }
                series.tell_connected();
            }
            Err(fault) => {
                let code = fault.code();
                tracing::debug!(stream, code, %fault, "a gap could not be page yet");
            }
        }
        let over = series.sequence.closes_at() <= self.shared.server_now_about();
        let open = series.sequence.gap().is_some() || over;
        if series.sequence.expected() > before {
            series.backfill_backoff.reset();
            series.backfill_at = open.then(Instant::now);
        } else {
            // The history lags behind or has nothing: an outage, or a halted symbol.
            let needed = open || series.backfill_at.is_some();
            series.backfill_at = needed.then(|| Instant::now() + series.backfill_backoff.next());
        }
    }

    /// Replaces the connection while it has mute streams.
    fn replace_if_mute(&mut self, now: Instant) {
        let mut mute = false;
        for (stream, series) in &mut self.series {
            if series.mute_deadline.is_some_and(|at| at <= now) {
                tracing::info!(stream, "a stream sends nothing although it trades");
                self.shared.client.observer.stream("mute");
                series.disconnect();
                (series.mute, series.was_mute) = (true, true);
            }
            mute |= series.mute;
        }
        if mute {
            self.connections.replace(self.series.keys());
        }
    }
}

/// How often the exchange sends a forming candle that changes.
fn frame_interval(interval: Interval) -> Duration {
    Duration::from_secs(if interval == Interval::S1 { 1 } else { 2 })
}

/// Requests the missing candles, unless full queues need up to `queue_room_wait` to drain.
fn start_backfill(
    shared: &Arc<BinanceShared>,
    backfills: &mut JoinSet<BackfillResult>,
    stream: &str,
    series: &mut LiveSeries,
) {
    if series.broadcast.is_nearly_full() {
        let since = *series.full_since.get_or_insert_with(Instant::now);
        if since.elapsed() < shared.config.streams.queue_room_wait {
            return;
        }
    }
    series.full_since = None;
    series.backfilling = true;
    series.backfill_at = None;
    let (shared, stream) = (Arc::clone(shared), stream.to_owned());
    let (code, interval) = (series.code.clone(), series.interval);
    let (from, confirmed_gap) = (series.sequence.expected(), series.gap_evidence.confirmed());
    backfills.spawn(async move {
        let looked = match shared.streams.backfill_permits.acquire().await {
            Ok(_turn) => backfill::fetch_page(&shared, &code, interval, from, confirmed_gap).await,
            Err(error) => Err(Fault::internal(error)),
        };
        (stream, looked)
    });
}

#[cfg(test)]
mod tests;
