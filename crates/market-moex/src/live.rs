//! Live candles. The exchange has no open stream, so its candles are asked for again and again: one
//! poller for each series, however many follow it, and only while somebody does.
//!
//! | module | what it does |
//! |---|---|
//! | `look` | one look at the exchange's candles: what has closed, what is forming |
//! | `poller` | the task that looks, and tells whoever follows |
//! | `replay` | what one follower missed before it came |

mod look;
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
use crate::bars::{shown, step_of};
use crate::candles::delay_ms;
use crate::listing::Listed;
use crate::{Inner, Moex};

/// The name of a series here.
type Key = (String, Interval);

/// A series that is followed.
pub(crate) struct Series {
    listed: Arc<Listed>,
    interval: Interval,
    /// What its candles are made from.
    step: CandleStep,
}

impl Series {
    fn key(&self) -> Key {
        (self.listed.security.code.clone(), self.interval)
    }
}

/// All series that are followed.
#[derive(Debug, Default)]
pub(crate) struct Live {
    hubs: Mutex<HashMap<Key, Arc<SeriesBroadcast>>>,
    followers: Arc<AtomicUsize>,
    pub(crate) stop: CancellationToken,
}

impl Live {
    fn hubs(&self) -> MutexGuard<'_, HashMap<Key, Arc<SeriesBroadcast>>> {
        self.hubs.lock()
    }

    /// How many series are followed.
    pub(crate) fn len(&self) -> usize {
        self.hubs().len()
    }

    /// Strikes a series, unless somebody follows it after all.
    fn forget(&self, key: &Key) -> bool {
        let mut hubs = self.hubs();
        let idle = hubs.get(key).is_none_or(|hub| hub.idle_since().is_some());
        if idle {
            hubs.remove(key);
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
    ) -> Result<Late, Fault> {
        let step = step_of(interval)?;
        let listed = self.listed(code, None).await?;
        let delay = match listed.place.is_index() {
            true => Delay::RealTime,
            false => self.names().await?.value.delay,
        };
        let seen = Millis(self.clock.now().0 - delay_ms(delay));
        let forming = interval.open_of(shown(seen, step));
        if let Some(after) = options.resume_after {
            check_resume_point(interval, after, forming, self.config.live.replay_max)?;
        }
        // A reader may be ahead by any number, to which nothing can be added.
        let missed_before = |end: Millis| {
            let after = options.resume_after.filter(|after| *after < end)?;
            let first = interval.open_at_or_after(Millis(after.0.saturating_add(1)));
            Some(TimeRange::new(first, end)).filter(|missed| !missed.is_empty())
        };
        let first = missed_before(forming).map_or(forming, |missed| missed.from);
        let series = Arc::new(Series { listed, interval, step });
        let seat = self.seat(&series, first, options.queue_max)?;
        let begins_at = seat.first_live;
        let after = options.resume_after.unwrap_or(Millis(begins_at.max(forming).0 - 1));
        let missed = missed_before(begins_at);
        let replay = missed.map(|missed| replay(self, &series, missed, seat.has_predecessor));
        Ok(Late { feed: LiveFeed::new(replay, seat, after), delay })
    }

    /// A place among the followers of a series, which begins with its first candle to come where
    /// nobody follows it yet.
    fn seat(
        self: &Arc<Self>,
        series: &Arc<Series>,
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
        if self.live.followers.load(Ordering::Relaxed) >= config.followers_max {
            return busy("subscriptions");
        }
        let mut hubs = self.live.hubs();
        if let Some(hub) = hubs.get(&series.key()) {
            return Ok(hub.subscribe(queue_max));
        }
        if hubs.len() >= config.series_max {
            return busy("series");
        }
        let hub = Arc::new(
            SeriesBroadcast::new(first, Arc::clone(&self.live.followers)).sending_forming(),
        );
        let seat = hub.subscribe(queue_max);
        hubs.insert(series.key(), Arc::clone(&hub));
        drop(hubs);
        self.tasks.spawn(Poller::new(self, series, hub, first).run());
        Ok(seat)
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

/// A subscription, with what is known of its delay.
struct Late {
    feed: LiveFeed,
    delay: Delay,
}

impl KlineFeed for Late {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<KlineEvent>>> {
        self.feed.poll_next(context)
    }

    fn delay(&self) -> Delay {
        self.delay
    }
}
