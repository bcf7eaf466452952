//! Live candles with indicators: one channel for each symbol, interval and set of indicators,
//! shared by all its subscribers.
//!
//! | module | what it does |
//! |---|---|
//! | `subscription_request` | parses and checks the arguments of a subscription |
//! | `channel` | broadcasts one series, keeps its recent events, serializes each event once |
//! | `follower` | subscribes to the venue for a channel and resubscribes after an end |
//! | `calculators` | the indicators' state, warm before the first event |
//! | `event` | events in the contract's shape |
//! | `limits` | every bound, and the relations between the bounds |
//! | `checkpoints` | saved states of cumulative indicators, for replays |
//! | `replay` | closed candles older than the channel's recent events, for resuming subscribers |
//! | `reader`, `batch` | the event feed of one subscriber, for one symbol and for several |

mod batch;
mod calculators;
mod channel;
mod checkpoints;
mod event;
mod follower;
mod limits;
mod reader;
mod replay;
mod subscription_request;
#[cfg(test)]
mod tests;

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use ::limits::{ClientAddress, MemoryBudget, MemoryReservation};
use clock::{Clock, Millis};
use fanout::QueueDepth;
use fault::Fault;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use batch::Batch;
pub use limits::{CHANNELS_MAX, StreamLimits};
pub(crate) use reader::{Reader, ReaderEvent};
pub(crate) use subscription_request::{BatchArgs, StreamArgs, SubscriptionRequest};

use crate::candles::CandleReader;
use channel::Channel;
use limits::{READERS_MAX, REMEMBERED_MAX, REPLAYS_MAX};

/// Tolerated lag of our clock behind a venue's clock.
const CLOCKS_APART_MS: i64 = 2_000;

/// When a subscriber may try again that found no memory for the candles it missed.
const MEMORY_RETRY_AFTER: Duration = Duration::from_secs(5);

/// The tracker and the stop signal of background tasks.
#[derive(Debug, Clone)]
pub struct Tasks {
    pub tracker: TaskTracker,
    pub stop: CancellationToken,
}

/// Settings and handles that live streams need.
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

/// A handle to the depth and the memory of all subscriber queues, for metrics. It reports zero until
/// `service` runs.
#[derive(Clone, Default)]
pub struct Queues(Arc<OnceLock<Weak<Live>>>);

impl Queues {
    pub fn depth(&self) -> QueueDepth {
        self.0.get().and_then(Weak::upgrade).map_or_else(QueueDepth::default, |live| live.depth())
    }

    /// Bytes that events, long queues and missed candles take of the stream memory.
    pub fn memory_bytes(&self) -> usize {
        self.0.get().and_then(Weak::upgrade).map_or(0, |live| live.memory.held())
    }
}

pub(crate) struct Live {
    pub(crate) candles: Arc<CandleReader>,
    pub(crate) clock: Arc<dyn Clock>,
    tasks: Tasks,
    pub(crate) limits: StreamLimits,
    memory: MemoryBudget,
    channels: Mutex<HashMap<String, ChannelEntry>>,
    readers: Arc<AtomicUsize>,
    /// Permits for reading replays from history.
    replay_permits: Semaphore,
}

/// A channel, or one that is being opened.
type ChannelCell = Arc<OnceCell<Arc<Channel>>>;

struct ChannelEntry {
    slot: ChannelCell,
    /// Number of candles that its indicators hold in memory.
    memory: usize,
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
            memory: MemoryBudget::new(limits.memory_max, limits.memory_max.div_ceil(2)),
            channels: Mutex::default(),
            readers: Arc::default(),
            replay_permits: Semaphore::new(REPLAYS_MAX),
        });
        // A handle reports the first service that received it; a second `set` has no effect.
        _ = queues.0.set(Arc::downgrade(&live));
        live
    }

    fn depth(&self) -> QueueDepth {
        let slots: Vec<ChannelCell> =
            self.channels().values().map(|it| Arc::clone(&it.slot)).collect();
        let channels = slots.iter().filter_map(|slot| slot.get());
        channels
            .fold(QueueDepth::default(), |depth, channel| depth.merge(channel.broadcast.depth()))
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<String, ChannelEntry>> {
        self.channels.lock()
    }

    /// Opens a subscription. Requests with equal keys share one channel.
    pub(crate) async fn subscribe(
        self: &Arc<Self>,
        request: &SubscriptionRequest,
        deadline: Instant,
    ) -> Result<Reader, Fault> {
        self.check_resume(request)?;
        let reader_slot = ReaderSlot::new(&self.readers)?;
        loop {
            let slot = self.slot(request)?;
            let channel = slot.get_or_try_init(|| Channel::open(self, request, deadline)).await?;
            // The channel ended after the lookup: remove it and open a new one.
            let Some(mut joined) = channel.join(request) else {
                self.remove(&request.key, channel);
                continue;
            };
            let mut memory = self.memory.reservation(request.client.map(ClientAddress::from));
            reserve(&mut memory, joined.recent_events_bytes())?;
            let missed = joined.missed.take();
            let replay = replay::start(self, request, missed, &mut memory, deadline).await?;
            return Ok(Reader::new(channel, request, joined, replay, memory, reader_slot));
        }
    }

    fn slot(&self, request: &SubscriptionRequest) -> Result<ChannelCell, Fault> {
        let mut channels = self.channels();
        if let Some(entry) = channels.get(&request.key) {
            return Ok(Arc::clone(&entry.slot));
        }
        // Drop slots whose opening failed or was cancelled and that no caller awaits.
        channels.retain(|_, it| it.slot.initialized() || Arc::strong_count(&it.slot) > 1);
        let memory = request.remembered_candles();
        let memory_in_use: usize = channels.values().map(|it| it.memory).sum();
        if channels.len() >= CHANNELS_MAX || memory_in_use + memory > REMEMBERED_MAX {
            return Err(too_many("too many different streams are followed; ask for one that is"));
        }
        let slot = ChannelCell::default();
        channels.insert(request.key.clone(), ChannelEntry { slot: Arc::clone(&slot), memory });
        Ok(slot)
    }

    fn remove(&self, key: &str, channel: &Arc<Channel>) {
        let mut channels = self.channels();
        let same = |it: &ChannelEntry| it.slot.get().is_some_and(|it| Arc::ptr_eq(it, channel));
        if channels.get(key).is_some_and(same) {
            channels.remove(key);
        }
    }

    fn check_resume(&self, request: &SubscriptionRequest) -> Result<(), Fault> {
        let Some(after) = request.after else { return Ok(()) };
        let now = self.clock.now();
        let forming = request.interval.open_of(now);
        // A candle that has just opened by our clock may have closed by the venue's clock.
        if after > now || (after >= forming && now.0 - forming.0 > CLOCKS_APART_MS) {
            let message = "after: expected the opening time of a closed candle, not of a later one";
            return Err(Fault::invalid("resume_ahead", message).problem("after", "a time past"));
        }
        let missed = request.interval.count_in(clock::TimeRange::new(Millis(after.0 + 1), now));
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

/// Channels without readers end within two read checks, hence the retry time.
fn too_many(message: &str) -> Fault {
    Fault::unavailable("too_many_streams", message).retry_after(2 * channel::READ_CHECK_PERIOD)
}

/// Reserves memory for the candles that a resuming subscriber missed.
fn reserve(memory: &mut MemoryReservation, more: usize) -> Result<(), Fault> {
    memory.grow_to(memory.bytes().saturating_add(more)).map_err(|_| {
        let message = "the memory for streams that are not read is taken; resume later";
        Fault::unavailable("too_many_streams", message).retry_after(MEMORY_RETRY_AFTER)
    })
}

/// One counted subscription of at most `READERS_MAX`; dropping it frees the place.
#[derive(Debug)]
pub(crate) struct ReaderSlot(Arc<AtomicUsize>);

impl ReaderSlot {
    fn new(readers: &Arc<AtomicUsize>) -> Result<Self, Fault> {
        let reader_slot = Self(Arc::clone(readers));
        if readers.fetch_add(1, Ordering::Relaxed) >= READERS_MAX {
            return Err(too_many("too many streams are read"));
        }
        Ok(reader_slot)
    }
}

impl Drop for ReaderSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
