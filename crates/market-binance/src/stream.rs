//! Live candles: one stream of the exchange for each series, however many subscribers it has, and many
//! streams on each connection.
//!
//! | module | what it does |
//! |---|---|
//! | `dial`, `connection`, `wire` | one WebSocket: opening, pings, liveness, parsing its messages |
//! | `subscriptions` | subscription requests and their refusals |
//! | `connection_pair`, `standby_probe` | which connection is used, when it is replaced and reopened |
//! | `cadence` | after which silence a stream is suspicious |
//! | `sequence` | the order of candles, and gaps |
//! | `backfill` | history for gaps and replays |
//! | `shard` | the task that runs all of these for its series |
//!
//! Broadcasts and feeds are the same for every venue and are in `market-live`.

mod backfill;
mod cadence;
mod connection;
mod connection_pair;
pub(crate) mod dial;
mod sequence;
mod shard;
mod standby_probe;
mod subscriptions;
pub(crate) mod wire;

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use clock::{Millis, TimeRange};
use fault::Fault;
use market::{Interval, KlineFeed, LiveKlines, SubscribeOptions};
use market_live::{LiveFeed, SeriesBroadcast, SeriesSubscriber, check_resume_point};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use self::backfill::replay;
use self::dial::Dial;
use self::shard::{NewSeries, Shard};
use crate::{Binance, BinanceShared};

/// How many series request history at the same time.
const BACKFILLS_MAX: usize = 8;

/// All live series of one adapter.
pub(crate) struct Streams {
    directory: Mutex<SeriesDirectory>,
    subscribers: Arc<AtomicUsize>,
    /// Permits for requests of history.
    backfill_permits: Semaphore,
    pub(crate) stop: CancellationToken,
    dial: Arc<dyn Dial>,
}

/// Which series are followed, and which shard runs each.
#[derive(Debug, Default)]
struct SeriesDirectory {
    series: HashMap<String, (u64, Arc<SeriesBroadcast>)>,
    shards: HashMap<u64, ShardSlot>,
    next_shard: u64,
}

#[derive(Debug)]
struct ShardSlot {
    new_series: mpsc::Sender<NewSeries>,
    series: usize,
}

impl Streams {
    pub(crate) fn new(dial: Arc<dyn Dial>) -> Self {
        Self {
            directory: Mutex::default(),
            subscribers: Arc::default(),
            backfill_permits: Semaphore::new(BACKFILLS_MAX),
            stop: CancellationToken::new(),
            dial,
        }
    }

    fn directory(&self) -> MutexGuard<'_, SeriesDirectory> {
        self.directory.lock()
    }

    /// Removes those of the `idle` streams that still have no subscribers, and returns them.
    fn remove_idle(&self, shard: u64, idle: Vec<String>) -> Vec<String> {
        if idle.is_empty() {
            return idle;
        }
        let mut directory = self.directory();
        let is_idle = |directory: &SeriesDirectory, stream: &String| {
            let found = directory.series.get(stream);
            found.is_some_and(|(_, broadcast)| broadcast.idle_since().is_some())
        };
        let gone: Vec<String> =
            idle.into_iter().filter(|stream| is_idle(&directory, stream)).collect();
        for stream in &gone {
            directory.series.remove(stream);
        }
        if let Some(entry) = directory.shards.get_mut(&shard) {
            entry.series = entry.series.saturating_sub(gone.len());
        }
        gone
    }

    /// Removes a shard without series. A shard that is about to get one stays.
    fn remove_shard_if_empty(&self, shard: u64) -> bool {
        let mut directory = self.directory();
        let empty = directory.shards.get(&shard).is_none_or(|entry| entry.series == 0);
        if empty {
            directory.shards.remove(&shard);
        }
        empty
    }
}

impl BinanceShared {
    async fn subscribe(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        options: SubscribeOptions,
    ) -> Result<LiveFeed, Fault> {
        let halted = self.check_listed(code).await?;
        let server_now = self.server_now().await?;
        let expected = interval.open_of(server_now);
        if let Some(after) = options.resume_after {
            check_resume_point(interval, after, server_now, self.config.streams.replay_max)?;
        }
        let subscriber = self.add_subscriber(code, interval, expected, options.queue_max)?;
        let first_live = subscriber.first_live;
        let (after, replay) = match options.resume_after {
            Some(after) if after < first_live => {
                let missed = TimeRange::new(Millis(after.0 + 1), first_live);
                (after, Some(replay(self, (code, interval), missed, halted)))
            }
            Some(after) => (after, None),
            None => (Millis(first_live.0 - 1), None),
        };
        Ok(LiveFeed::new(replay, subscriber, after))
    }

    /// Whether the symbol is halted. Unlisted symbols are refused: the exchange accepts their streams and
    /// never sends anything.
    async fn check_listed(self: &Arc<Self>, code: &str) -> Result<bool, Fault> {
        let mut book = self.listed_pairs().await?;
        if !book.pairs.contains_key(code) {
            book = self.listed_pairs_after_miss(book).await;
        }
        let listed = book.pairs.get(code).ok_or_else(|| book.unknown(code))?;
        Ok(listed.halted.is_some())
    }

    /// Adds a subscriber to a series, which is started if it has none.
    fn add_subscriber(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        expected: Millis,
        queue_max: usize,
    ) -> Result<SeriesSubscriber, Fault> {
        let config = &self.config.streams;
        let busy = |what: &str| {
            Err(Fault::unavailable("too_many_streams", format!("too many {what} are followed")))
        };
        if self.streams.stop.is_cancelled() {
            return Err(closing());
        }
        if self.streams.subscribers.load(Ordering::Relaxed) >= config.subscribers_max {
            return busy("subscriptions");
        }
        let stream = format!("{}@kline_{interval}", code.to_lowercase());
        let mut directory = self.streams.directory();
        if let Some((_, broadcast)) = directory.series.get(&stream) {
            return Ok(broadcast.subscribe(queue_max));
        }
        if directory.series.len() >= config.series_max {
            return busy("series");
        }
        let broadcast =
            Arc::new(SeriesBroadcast::new(expected, Arc::clone(&self.streams.subscribers)));
        let subscriber = broadcast.subscribe(queue_max);
        let shard = self.shard_with_room(&mut directory);
        let new_series = NewSeries {
            stream: stream.clone(),
            code: code.to_owned(),
            interval,
            expected,
            broadcast: Arc::clone(&broadcast),
        };
        let taken = directory.shards.get_mut(&shard).is_some_and(|entry| {
            let sent = entry.new_series.try_send(new_series).is_ok();
            entry.series += usize::from(sent);
            sent
        });
        if !taken {
            // The shard's task has ended, which happens only at shutdown.
            return Err(closing());
        }
        directory.series.insert(stream, (shard, broadcast));
        Ok(subscriber)
    }

    /// The id of a shard that has room for one more series.
    fn shard_with_room(self: &Arc<Self>, directory: &mut SeriesDirectory) -> u64 {
        let most = self.config.streams.streams_per_connection.clamp(1, 1_024);
        let open = directory.shards.iter().find(|(_, entry)| entry.series < most);
        if let Some((id, _)) = open {
            return *id;
        }
        let id = directory.next_shard;
        directory.next_shard += 1;
        let (new_series, receiver) = mpsc::channel(most);
        directory.shards.insert(id, ShardSlot { new_series, series: 0 });
        self.tasks.spawn(Shard::new(id, self, receiver).run());
        id
    }
}

fn closing() -> Fault {
    Fault::unavailable("closing", "live candles are closing down")
}

#[async_trait]
impl LiveKlines for Binance {
    async fn subscribe(
        &self,
        code: &str,
        interval: Interval,
        options: SubscribeOptions,
    ) -> Result<Box<dyn KlineFeed>, Fault> {
        let feed = self.shared.subscribe(code, interval, options).await?;
        Ok(Box::new(feed))
    }
}
