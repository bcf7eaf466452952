//! Live candles: one upstream stream for each series, however many follow it, and many streams on
//! each connection.
//!
//! | module | what it does |
//! |---|---|
//! | `connection`, `wire` | one WebSocket: pings, its death; what its frames say |
//! | `requests` | what it asks for, and what becomes of what is refused |
//! | `lines`, `trial` | which connection is in use, when to replace it, when to try again |
//! | `cadence` | after how long a silence means something |
//! | `sequence` | the order of candles, and what is missing |
//! | `backfill` | what the record says about it, and about what came before a follower |
//! | `shard` | the task that runs all of these for its series |
//!
//! The followers of a series, and what each of them reads, are the same for every venue: `upstream`.

mod backfill;
mod cadence;
mod connection;
mod lines;
mod requests;
mod sequence;
mod shard;
mod trial;
mod wire;

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
use self::shard::{Joining, Shard};
use crate::{Binance, Inner};

/// How many series ask the record at the same time.
const LOOKS_MAX: usize = 8;

/// All live series of one adapter.
#[derive(Debug)]
pub(crate) struct Streams {
    book: Mutex<Directory>,
    followers: Arc<AtomicUsize>,
    /// Turns at the record.
    looks: Semaphore,
    pub(crate) stop: CancellationToken,
}

/// Which series are followed, and which shard runs each.
#[derive(Debug, Default)]
struct Directory {
    series: HashMap<String, (u64, Arc<SeriesBroadcast>)>,
    shards: HashMap<u64, ShardEntry>,
    next_shard: u64,
}

#[derive(Debug)]
struct ShardEntry {
    joining: mpsc::Sender<Joining>,
    series: usize,
}

impl Streams {
    pub(crate) fn new() -> Self {
        Self {
            book: Mutex::default(),
            followers: Arc::default(),
            looks: Semaphore::new(LOOKS_MAX),
            stop: CancellationToken::new(),
        }
    }

    fn directory(&self) -> MutexGuard<'_, Directory> {
        self.book.lock()
    }

    /// Strikes the streams that are still without followers, and names them.
    fn forget(&self, shard: u64, idle: Vec<String>) -> Vec<String> {
        if idle.is_empty() {
            return idle;
        }
        let mut directory = self.directory();
        let is_idle = |directory: &Directory, stream: &String| {
            let found = directory.series.get(stream);
            found.is_some_and(|(_, hub)| hub.idle_since().is_some())
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

    /// Strikes a shard without series. It stays where one is about to join.
    fn retire(&self, shard: u64) -> bool {
        let mut directory = self.directory();
        let empty = directory.shards.get(&shard).is_none_or(|entry| entry.series == 0);
        if empty {
            directory.shards.remove(&shard);
        }
        empty
    }
}

impl Inner {
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
        let seat = self.seat(code, interval, expected, options.queue_max)?;
        let begins_at = seat.first_live;
        let (after, replay) = match options.resume_after {
            Some(after) if after < begins_at => {
                let missed = TimeRange::new(Millis(after.0 + 1), begins_at);
                (after, Some(replay(self, (code, interval), missed, halted)))
            }
            Some(after) => (after, None),
            None => (Millis(begins_at.0 - 1), None),
        };
        Ok(LiveFeed::new(replay, seat, after))
    }

    /// Says whether the symbol has stopped trading. One that is not listed must not get further:
    /// the exchange accepts its streams and never sends anything.
    async fn check_listed(self: &Arc<Self>, code: &str) -> Result<bool, Fault> {
        let mut book = self.book().await?;
        if !book.pairs.contains_key(code) {
            book = self.book_after_miss(book).await;
        }
        let listed = book.pairs.get(code).ok_or_else(|| book.unknown(code))?;
        Ok(listed.halted.is_some())
    }

    /// A place among the followers of a series, which begins where nobody followed it.
    fn seat(
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
        if self.streams.followers.load(Ordering::Relaxed) >= config.followers_max {
            return busy("subscriptions");
        }
        let stream = format!("{}@kline_{interval}", code.to_lowercase());
        let mut directory = self.streams.directory();
        if let Some((_, hub)) = directory.series.get(&stream) {
            return Ok(hub.subscribe(queue_max));
        }
        if directory.series.len() >= config.series_max {
            return busy("series");
        }
        let hub = Arc::new(SeriesBroadcast::new(expected, Arc::clone(&self.streams.followers)));
        let seat = hub.subscribe(queue_max);
        let shard = self.shard_with_room(&mut directory);
        let joining = Joining {
            stream: stream.clone(),
            code: code.to_owned(),
            interval,
            expected,
            hub: Arc::clone(&hub),
        };
        let taken = directory.shards.get_mut(&shard).is_some_and(|entry| {
            let sent = entry.joining.try_send(joining).is_ok();
            entry.series += usize::from(sent);
            sent
        });
        if !taken {
            // Its task is over, which happens only when the house closes.
            return Err(closing());
        }
        directory.series.insert(stream, (shard, hub));
        Ok(seat)
    }

    /// The number of a shard that takes one more series.
    fn shard_with_room(self: &Arc<Self>, directory: &mut Directory) -> u64 {
        let most = self.config.streams.streams_per_connection.clamp(1, 1_024);
        let open = directory.shards.iter().find(|(_, entry)| entry.series < most);
        if let Some((id, _)) = open {
            return *id;
        }
        let id = directory.next_shard;
        directory.next_shard += 1;
        let (joining, receiver) = mpsc::channel(most);
        directory.shards.insert(id, ShardEntry { joining, series: 0 });
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
        let feed = self.inner.subscribe(code, interval, options).await?;
        Ok(Box::new(feed))
    }
}
