//! Live candles with indicators: one channel for each symbol, interval and set of indicators,
//! however many read it.
//!
//! | module | what it does |
//! |---|---|
//! | `ask` | what a subscriber may ask for |
//! | `channel` | who reads one series, what it remembers, each event serialized once |
//! | `follower` | follows the venue for a channel, again and again |
//! | `calculators` | the indicators' state, warm before the first event |
//! | `event` | events in the contract's shape |
//! | `limits` | every bound, and how they fit together |
//! | `marks` | the states of what adds up, for those who resume |
//! | `missed` | closed candles from before the channel, for those who resume |
//! | `reader`, `batch` | what one subscriber reads, of one symbol and of several |

mod ask;
mod batch;
mod calculators;
mod channel;
mod event;
mod follower;
mod limits;
mod marks;
mod missed;
mod reader;
#[cfg(test)]
mod tests;

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use clock::{Clock, Millis};
use fanout::QueueDepth;
use fault::Fault;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use ask::{Ask, BatchArgs, StreamArgs};
pub(crate) use batch::Batch;
pub use limits::{CHANNELS_MAX, StreamLimits};
pub(crate) use reader::{Read, Reader};

use crate::candles::CandleReader;
use channel::Channel;
use limits::{READERS_MAX, REMEMBERED_MAX, REPLAYS_MAX};

/// How far our clock may be behind a venue's.
const CLOCKS_APART_MS: i64 = 2_000;

/// Where background work runs.
#[derive(Debug, Clone)]
pub struct Tasks {
    pub tracker: TaskTracker,
    pub stop: CancellationToken,
}

/// What live streams are given to work with.
#[derive(Clone)]
pub struct LiveSetup {
    pub tasks: Tasks,
    pub limits: StreamLimits,
    pub queues: Queues,
}

impl From<Tasks> for LiveSetup {
    fn from(tasks: Tasks) -> Self {
        Self { tasks, limits: StreamLimits::default(), queues: Queues::default() }
    }
}

/// A view of what waits for subscribers, for those who measure. Empty until a service is made.
#[derive(Clone, Default)]
pub struct Queues(Arc<OnceLock<Weak<Live>>>);

impl Queues {
    pub fn depth(&self) -> QueueDepth {
        self.0.get().and_then(Weak::upgrade).map_or_else(QueueDepth::default, |live| live.depth())
    }
}

pub(crate) struct Live {
    pub(crate) candles: Arc<CandleReader>,
    pub(crate) clock: Arc<dyn Clock>,
    tasks: Tasks,
    pub(crate) limits: StreamLimits,
    channels: Mutex<HashMap<String, Entry>>,
    readers: Arc<AtomicUsize>,
    /// Turns at reading what somebody missed.
    replays: Semaphore,
}

/// A channel, or its beginning.
type Slot = Arc<OnceCell<Arc<Channel>>>;

struct Entry {
    slot: Slot,
    /// How many candles its indicators remember.
    remembers: usize,
}

impl Live {
    pub(crate) fn new(
        candles: Arc<CandleReader>,
        clock: Arc<dyn Clock>,
        setup: LiveSetup,
    ) -> Arc<Self> {
        let LiveSetup { tasks, limits, queues } = setup;
        let live = Arc::new(Self {
            candles,
            clock,
            tasks,
            limits,
            channels: Mutex::default(),
            readers: Arc::default(),
            replays: Semaphore::new(REPLAYS_MAX),
        });
        // One view shows one service; there is no second to show.
        _ = queues.0.set(Arc::downgrade(&live));
        live
    }

    fn depth(&self) -> QueueDepth {
        let slots: Vec<Slot> = self.channels().values().map(|it| Arc::clone(&it.slot)).collect();
        let channels = slots.iter().filter_map(|slot| slot.get());
        channels.fold(QueueDepth::default(), |depth, channel| depth.merge(channel.fan.depth()))
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.channels.lock()
    }

    /// Begins to read. Everybody who asks for the same reads the same channel.
    pub(crate) async fn subscribe(
        self: &Arc<Self>,
        ask: &Ask,
        deadline: Instant,
    ) -> Result<Reader, Fault> {
        self.check_resume(ask)?;
        let counted = Counted::new(&self.readers)?;
        loop {
            let slot = self.slot(ask)?;
            let channel = slot.get_or_try_init(|| Channel::open(self, ask, deadline)).await?;
            // One that ends just now makes room for its successor.
            let Some(mut joined) = channel.join(ask) else {
                self.forget(&ask.key, channel);
                continue;
            };
            let missed = missed::replay(self, ask, joined.missed.take(), deadline).await?;
            return Ok(Reader::new(channel, ask, joined, missed, counted));
        }
    }

    fn slot(&self, ask: &Ask) -> Result<Slot, Fault> {
        let mut channels = self.channels();
        if let Some(entry) = channels.get(&ask.key) {
            return Ok(Arc::clone(&entry.slot));
        }
        // Beginnings that everybody has given up on.
        channels.retain(|_, it| it.slot.initialized() || Arc::strong_count(&it.slot) > 1);
        let remembers = ask.windows.iter().map(|it| it.warmup() + 1).sum();
        let remembered: usize = channels.values().map(|it| it.remembers).sum();
        if channels.len() >= CHANNELS_MAX || remembered + remembers > REMEMBERED_MAX {
            return Err(too_many("too many different streams are followed; ask for one that is"));
        }
        let slot = Slot::default();
        channels.insert(ask.key.clone(), Entry { slot: Arc::clone(&slot), remembers });
        Ok(slot)
    }

    fn forget(&self, key: &str, channel: &Arc<Channel>) {
        let mut channels = self.channels();
        let same = |it: &Entry| it.slot.get().is_some_and(|it| Arc::ptr_eq(it, channel));
        if channels.get(key).is_some_and(same) {
            channels.remove(key);
        }
    }

    fn check_resume(&self, ask: &Ask) -> Result<(), Fault> {
        let Some(after) = ask.after else { return Ok(()) };
        let now = self.clock.now();
        let forming = ask.interval.open_of(now);
        // A candle that has just begun may have closed by the venue's clock.
        if after > now || (after >= forming && now.0 - forming.0 > CLOCKS_APART_MS) {
            let message = "after: expected the opening time of a closed candle, not of a later one";
            return Err(Fault::invalid("resume_ahead", message).problem("after", "a time past"));
        }
        let missed = ask.interval.count_in(clock::TimeRange::new(Millis(after.0 + 1), now));
        let most = self.limits.replay_max;
        if missed > most {
            let message =
                format!("after: expected at most {most} candles ago; read older ones as history");
            return Err(Fault::invalid("resume_too_far", message)
                .problem("after", format!("at most {most} candles ago")));
        }
        Ok(())
    }
}

/// Channels that nobody reads any more are gone by then.
fn too_many(message: &str) -> Fault {
    Fault::unavailable("too_many_streams", message).retry_after(2 * channel::LOOK)
}

/// One of the subscriptions that are counted.
#[derive(Debug)]
pub(crate) struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(readers: &Arc<AtomicUsize>) -> Result<Self, Fault> {
        let counted = Self(Arc::clone(readers));
        if readers.fetch_add(1, Ordering::Relaxed) >= READERS_MAX {
            return Err(too_many("too many streams are read"));
        }
        Ok(counted)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
