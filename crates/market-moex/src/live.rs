//! Live candles. The exchange has no public stream, so candles are polled: one poller per series
//! serves all subscribers, and only while there are any.
//!
//! | module | what it does |
//! |---|---|
//! | `poll` | one poll of the exchange's candles: which have closed, which is forming |
//! | `poller` | the task that polls and publishes to the subscribers |
//! | `replay` | the candles that one subscriber missed before it subscribed |

mod poll;
mod poller;
mod replay;

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use async_trait::async_trait;
use clock::{Millis, TimeRange};
use fault::Fault;
use market::{CandleStep, Delay, Interval, KlineEvent, KlineFeed, LiveKlines, SubscribeOptions};
use market_live::{LiveFeed, SeriesBroadcast, SeriesSubscriber, check_resume_point};
use tokio_util::sync::CancellationToken;

use self::poller::Poller;
use self::replay::replay;
use crate::bars::{bar_clock, step_of};
use crate::candles::delay_ms;
use crate::listing::Listed;
use crate::{Inner, Moex};

/// The key of a live series.
type SeriesKey = (String, Interval);

/// A series that has subscribers.
pub(crate) struct LiveSeries {
    listed: Arc<Listed>,
    interval: Interval,
    /// The length of the candles it is built from.
    step: CandleStep,
}

impl LiveSeries {
    fn key(&self) -> SeriesKey {
        (self.listed.security.code.clone(), self.interval)
    }
}

/// All series that have subscribers.
#[derive(Debug, Default)]
pub(crate) struct LiveSeriesRegistry {
    broadcasts: Mutex<HashMap<SeriesKey, Arc<SeriesBroadcast>>>,
    followers: Arc<AtomicUsize>,
    pub(crate) stop: CancellationToken,
}

impl LiveSeriesRegistry {
    fn broadcasts(&self) -> MutexGuard<'_, HashMap<SeriesKey, Arc<SeriesBroadcast>>> {
        self.broadcasts.lock()
    }

    /// How many series have subscribers.
    pub(crate) fn len(&self) -> usize {
        self.broadcasts().len()
    }

    /// Removes a series, unless it has a subscriber again; returns whether it was removed.
    fn forget(&self, key: &SeriesKey) -> bool {
        let mut broadcasts = self.broadcasts();
        let idle = broadcasts.get(key).is_none_or(|broadcast| broadcast.idle_since().is_some());
        if idle {
            broadcasts.remove(key);
        }
        idle
    }
}

impl Inner {
    async fn subscribe(
        self: &Arc<Self>,
        code: &str,
        interval: Interval,
        options: SubscribeOptions,
    ) -> Result<MoexFeed, Fault> {
        let step = step_of(interval)?;
        let listed = self.listed(code, None).await?;
        let delay = match listed.address.is_index() {
            true => Delay::RealTime,
            false => self.names().await?.value.delay,
        };
        let data_time = Millis(self.clock.now().0 - delay_ms(delay));
        let forming = interval.open_of(bar_clock(data_time, step));
        if let Some(after) = options.resume_after {
            check_resume_point(interval, after, forming, self.config.live.replay_max)?;
        }
        // The resume point may be any number, so the addition saturates.
        let missed_before = |end: Millis| {
            let after = options.resume_after.filter(|after| *after < end)?;
            let first = interval.open_at_or_after(Millis(after.0.saturating_add(1)));
            Some(TimeRange::new(first, end)).filter(|missed| !missed.is_empty())
        };
        let first = missed_before(forming).map_or(forming, |missed| missed.from);
        let series = Arc::new(LiveSeries { listed, interval, step });
        let subscriber = self.add_subscriber(&series, first, options.queue_max)?;
        let begins_at = subscriber.first_live;
        let after = options.resume_after.unwrap_or(Millis(begins_at.max(forming).0 - 1));
        let missed = missed_before(begins_at);
        let replay = missed.map(|missed| replay(self, &series, missed, subscriber.has_predecessor));
        Ok(MoexFeed { feed: LiveFeed::new(replay, subscriber, after), delay })
    }

    /// Subscribes to a series. A new series starts a poller at the candle that opens at `first`.
    fn add_subscriber(
        self: &Arc<Self>,
        series: &Arc<LiveSeries>,
        first: Millis,
        queue_max: usize,
    ) -> Result<SeriesSubscriber, Fault> {
        let config = &self.config.live;
        let busy = |what: &str| {
            Err(Fault::unavailable("too_many_streams", format!("too many {what} are followed")))
        };
        if self.live.stop.is_cancelled() {
            return Err(Fault::unavailable("closing", "live candles are closing down"));
        }
        if self.live.followers.load(Ordering::Relaxed) >= config.subscribers_max {
            return busy("subscriptions");
        }
        let mut broadcasts = self.live.broadcasts();
        if let Some(broadcast) = broadcasts.get(&series.key()) {
            return Ok(broadcast.subscribe(queue_max));
        }
        if broadcasts.len() >= config.series_max {
            return busy("series");
        }
        let broadcast = Arc::new(
            SeriesBroadcast::new(first, Arc::clone(&self.live.followers)).sending_forming(),
        );
        let subscriber = broadcast.subscribe(queue_max);
        broadcasts.insert(series.key(), Arc::clone(&broadcast));
        drop(broadcasts);
        self.tasks.spawn(Poller::new(self, series, broadcast, first).run());
        Ok(subscriber)
    }
}

#[async_trait]
impl LiveKlines for Moex {
    async fn subscribe(
        &self,
        code: &str,
        interval: Interval,
        options: SubscribeOptions,
    ) -> Result<Box<dyn KlineFeed>, Fault> {
        Ok(Box::new(self.inner.subscribe(code, interval, options).await?))
    }
}

/// A subscription with the delay of its data.
struct MoexFeed {
    feed: LiveFeed,
    delay: Delay,
}

impl KlineFeed for MoexFeed {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<KlineEvent>>> {
        self.feed.poll_next(context)
    }

    fn delay(&self) -> Delay {
        self.delay
    }
}
