//! The task behind one series: it looks at the exchange's candles at a pace, and tells whoever
//! follows what is new. While nobody follows it asks nothing, and after a while it is over.

use std::sync::Arc;
use std::time::Duration;

use clock::{Millis, TimeRange};
use fault::Fault;
use http_client::{Backoff, random_unit};
use market::{Interval, Kline, KlineEvent};
use market_live::SeriesBroadcast;
use tokio::time::{Instant, sleep, sleep_until};

use super::Series;
use super::look::{Look, look};
use crate::{Inner, LiveConfig};

/// How many times as long the longest wait between two looks is as the shortest.
const SLOWEST: u32 = 12;
/// The same for looks that failed; an exchange that fails is left alone by the line to it as well.
const SLOWEST_RETRY: u32 = 6;
/// A silence of our own that is longer than this, beside the pace, is an interruption.
const PAUSE_MIN: Duration = Duration::from_mins(1);

pub(crate) struct Poller {
    inner: Arc<Inner>,
    series: Arc<Series>,
    hub: Arc<SeriesBroadcast>,
    /// All closed candles before this one were told.
    expected: Millis,
    /// The forming candle as it was last told.
    forming: Option<Kline>,
    /// What followers were told about the connection.
    live: Option<bool>,
    /// Looks were missed, so that what closes is not heard live.
    missed: bool,
    /// When something last changed.
    changed_at: Instant,
    /// When the last good look was due to be followed by another, on the house's clock.
    due: Option<Millis>,
    waits: Backoff,
}

impl Poller {
    pub(crate) fn new(
        inner: &Arc<Inner>,
        series: &Arc<Series>,
        hub: Arc<SeriesBroadcast>,
        expected: Millis,
    ) -> Self {
        let every = inner.config.live.every;
        Self {
            inner: Arc::clone(inner),
            series: Arc::clone(series),
            hub,
            expected,
            forming: None,
            live: None,
            missed: false,
            changed_at: Instant::now(),
            due: None,
            waits: Backoff::new(every, every * SLOWEST_RETRY),
        }
    }

    pub(crate) async fn run(mut self) {
        let stop = self.inner.live.stop.clone();
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.poll() => {}
        }
        // Those who came when it was already over must hear of it, too.
        self.hub.close();
    }

    async fn poll(&mut self) {
        let mut wait = Duration::ZERO;
        while self.is_wanted_after(wait).await {
            wait = match look(&self.inner, &self.series, self.expected).await {
                Ok(look) => self.tell(look),
                Err(fault) => self.fail(&fault),
            };
            if wait.is_zero() {
                self.make_room().await;
            }
        }
    }

    /// Waits, and for as long as nobody follows; whether it is to go on.
    async fn is_wanted_after(&self, wait: Duration) -> bool {
        sleep(wait).await;
        while let Some(since) = self.hub.idle_since() {
            let until = since + self.inner.config.live.linger;
            if Instant::now() < until {
                sleep_until(until).await;
            } else if self.inner.live.forget(&self.series.key()) {
                return false;
            }
        }
        true
    }

    /// Tells what is new; how long until the next look.
    fn tell(&mut self, look: Look) -> Duration {
        let now = self.inner.clock.now();
        // A machine that slept has missed looks without any failing.
        let pause = i64::try_from(PAUSE_MIN.as_millis()).unwrap_or(i64::MAX);
        self.missed |= self.due.is_some_and(|due| now.0 - due.0 > pause);
        let mut events = Vec::with_capacity(look.rows.len() + 3);
        if self.live != Some(true) {
            self.live = Some(true);
            events.push(KlineEvent::Connected);
        }
        let candle = |kline: Kline, as_of| KlineEvent::Candle { kline, as_of };
        events.extend(look.rows.iter().map(|row| candle(*row, row.close_time)));
        if let Some((first, last)) = look.rows.first().zip(look.rows.last()).filter(|_| self.missed)
        {
            let to = self.series.interval.next_open(last.bar.open_time);
            events.push(KlineEvent::GapFilled(TimeRange::new(first.bar.open_time, to)));
            self.inner.client.observer.stream("gap_filled");
        }
        let forming = look.forming.filter(|forming| self.forming.as_ref() != Some(forming));
        if let Some(forming) = forming {
            self.forming = Some(forming);
            events.push(candle(forming, look.as_of));
        }
        if !look.rows.is_empty() || forming.is_some() {
            self.changed_at = Instant::now();
        }
        self.expected = self.expected.max(look.known_to);
        self.hub.publish(events, self.expected);
        self.waits.reset();
        if look.more {
            return Duration::ZERO;
        }
        self.missed = false;
        let wait = self.pace();
        let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        self.due = Some(Millis(now.0.saturating_add(wait_ms)));
        wait
    }

    /// Says that nothing is heard; how long until the next attempt.
    fn fail(&mut self, fault: &Fault) -> Duration {
        let (code, interval) = (&self.series.listed.security.code, self.series.interval);
        tracing::debug!(code, %interval, %fault, "candles could not be looked at");
        if self.live != Some(false) {
            self.live = Some(false);
            self.hub.publish(vec![KlineEvent::Reconnecting], self.expected);
            self.inner.client.observer.stream("reconnecting");
        }
        // What closes before the first look was good was never going to be heard live.
        self.missed = self.due.is_some();
        // Where the exchange said when to come back, nothing is sent before that.
        self.waits.next()
    }

    /// Between two looks that went well.
    fn pace(&self) -> Duration {
        let config = &self.inner.config;
        // All series together take at most half of what the adapter may ask.
        let crowd =
            self.inner.live.len() as f64 * 2.0 / f64::from(config.requests_per_second.max(1));
        let mut wait = pace(&config.live, self.series.interval).max(Duration::from_secs_f64(crowd));
        if self.changed_at.elapsed() >= config.live.quiet_after {
            wait = wait.max(config.live.every * SLOWEST);
        }
        wait.mul_f64(0.8 + 0.4 * random_unit())
    }

    /// Before the next of many pages, readers with full queues are given a moment.
    async fn make_room(&self) {
        let config = &self.inner.config.live;
        let until = Instant::now() + config.room_wait;
        while self.hub.is_nearly_full() && Instant::now() < until {
            sleep(config.room_wait / 20).await;
        }
    }
}

/// Short candles change quickly, long ones slowly.
fn pace(config: &LiveConfig, interval: Interval) -> Duration {
    use Interval::{D1, D3, H1, H2, H4, H6, H8, H12, M1, M3, M5, M15, M30, Month, S1, W1};
    config.every
        * match interval {
            S1 | M1 => 1,
            M3 => 2,
            M5 => 3,
            M15 | M30 => 4,
            H1 | H2 | H4 | H6 | H8 | H12 => 6,
            D1 | D3 | W1 | Month => SLOWEST,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_candles_are_asked_for_more_rarely() {
        let config = LiveConfig::default();
        let paces = Interval::ALL.map(|interval| pace(&config, interval).as_secs());
        assert!(paces.is_sorted(), "{paces:?}");
        assert_eq!((paces[1], paces[15]), (5, 60));
    }
}
