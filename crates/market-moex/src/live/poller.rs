//! The task of one series: it polls the candles and publishes what is new. It stops polling while
//! there are no subscribers and ends after `linger`.

use std::sync::Arc;
use std::time::Duration;

use clock::{Millis, TimeRange};
use fault::Fault;
use http_client::Backoff;
use market::{Interval, Kline, KlineEvent};
use market_live::SeriesBroadcast;
use tokio::time::{Instant, sleep, sleep_until};

use super::LiveSeries;
use super::poll::{CandlePoll, poll_candles};
use crate::{Inner, LiveConfig};

/// The longest wait between two polls as a multiple of the shortest.
const SLOWEST: u32 = 12;
/// The same after failed polls; the circuit breaker protects the exchange, too.
const SLOWEST_RETRY: u32 = 6;
/// A poll that is later than due by more than this counts as an interruption.
const PAUSE_MIN: Duration = Duration::from_mins(1);

pub(crate) struct Poller {
    inner: Arc<Inner>,
    series: Arc<LiveSeries>,
    broadcast: Arc<SeriesBroadcast>,
    /// All closed candles before this opening time were published.
    expected: Millis,
    /// The forming candle as it was last published.
    forming: Option<Kline>,
    /// The connection status that was last published.
    live: Option<bool>,
    /// Whether polls were missed, so that the next closed candles are a filled gap.
    missed: bool,
    /// When something last changed.
    changed_at: Instant,
    /// When the poll after the last successful one was due.
    due: Option<Millis>,
    waits: Backoff,
}

impl Poller {
    pub(crate) fn new(
        inner: &Arc<Inner>,
        series: &Arc<LiveSeries>,
        broadcast: Arc<SeriesBroadcast>,
        expected: Millis,
    ) -> Self {
        let every = inner.config.live.every;
        Self {
            inner: Arc::clone(inner),
            series: Arc::clone(series),
            broadcast,
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
        // Ends subscriptions that were added while the task ended, too.
        self.broadcast.close();
    }

    async fn poll(&mut self) {
        let mut wait = Duration::ZERO;
        while self.wait_for_subscriber(wait).await {
            wait = match poll_candles(&self.inner, &self.series, self.expected).await {
                Ok(polled) => self.publish(polled),
                Err(fault) => self.fail(&fault),
            };
            if wait.is_zero() {
                self.wait_for_queues().await;
            }
        }
    }

    /// Waits, and then until there is a subscriber; `false` when the series was removed.
    async fn wait_for_subscriber(&self, wait: Duration) -> bool {
        sleep(wait).await;
        while let Some(since) = self.broadcast.idle_since() {
            let until = since + self.inner.config.live.linger;
            if Instant::now() < until {
                sleep_until(until).await;
            } else if self.inner.live.forget(&self.series.key()) {
                return false;
            }
        }
        true
    }

    /// Publishes what is new and returns the wait until the next poll.
    fn publish(&mut self, polled: CandlePoll) -> Duration {
        let now = self.inner.clock.now();
        // A machine that was suspended has missed polls although none failed.
        let pause = i64::try_from(PAUSE_MIN.as_millis()).unwrap_or(i64::MAX);
        self.missed |= self.due.is_some_and(|due| now.0 - due.0 > pause);
        let mut events = Vec::with_capacity(polled.rows.len() + 3);
        let candle = |kline: Kline, as_of| KlineEvent::Candle { kline, as_of };
        events.extend(polled.rows.iter().map(|row| candle(*row, row.close_time)));
        if let Some((first, last)) =
            polled.rows.first().zip(polled.rows.last()).filter(|_| self.missed)
        {
            let to = self.series.interval.next_open(last.bar.open_time);
            events.push(KlineEvent::GapFilled(TimeRange::new(first.bar.open_time, to)));
            self.inner.client.observer.stream("gap_filled");
        }
        // A stream is connected after the last page of the candles that it missed.
        if self.live != Some(true) && !polled.more {
            self.live = Some(true);
            events.push(KlineEvent::Connected);
        }
        let forming = polled.forming.filter(|forming| self.forming.as_ref() != Some(forming));
        if let Some(forming) = forming {
            self.forming = Some(forming);
            events.push(candle(forming, polled.as_of));
        }
        if !polled.rows.is_empty() || forming.is_some() {
            self.changed_at = Instant::now();
        }
        self.expected = self.expected.max(polled.known_to);
        self.broadcast.publish(events, self.expected);
        self.waits.reset();
        if polled.more {
            return Duration::ZERO;
        }
        self.missed = false;
        let wait = self.poll_wait();
        let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        self.due = Some(Millis(now.0.saturating_add(wait_ms)));
        wait
    }

    /// Publishes the interruption and returns the wait until the next attempt.
    fn fail(&mut self, fault: &Fault) -> Duration {
        let (code, interval) = (&self.series.listed.security.code, self.series.interval);
        tracing::debug!(code, %interval, %fault, "polling candles failed");
        if self.live != Some(false) {
            self.live = Some(false);
            self.broadcast.publish(vec![KlineEvent::Reconnecting], self.expected);
            self.inner.client.observer.stream("reconnecting");
        }
        // Before the first successful poll nothing was missed.
        self.missed = self.due.is_some();
        // The pacer waits longer when the exchange sent `Retry-After`.
        self.waits.next()
    }

    /// The wait after a successful poll.
    fn poll_wait(&self) -> Duration {
        let config = &self.inner.config;
        // All series together use at most half of the request rate.
        let crowd =
            self.inner.live.len() as f64 * 2.0 / f64::from(config.requests_per_second.max(1));
        let mut wait =
            poll_wait(&config.live, self.series.interval).max(Duration::from_secs_f64(crowd));
        if self.changed_at.elapsed() >= config.live.quiet_after {
            wait = wait.max(config.live.every * SLOWEST);
        }
        wait.mul_f64(0.8 + 0.4 * fastrand::f64())
    }

    /// Waits up to `queue_wait` for subscribers with full queues before the next page.
    async fn wait_for_queues(&self) {
        let config = &self.inner.config.live;
        let until = Instant::now() + config.queue_wait;
        while self.broadcast.is_nearly_full() && Instant::now() < until {
            sleep(config.queue_wait / 20).await;
        }
    }
}

/// The wait between polls by candle length: long candles change slowly.
fn poll_wait(config: &LiveConfig, interval: Interval) -> Duration {
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
    fn longer_candles_are_polled_less_often() {
        let config = LiveConfig::default();
        let waits = Interval::ALL.map(|interval| poll_wait(&config, interval).as_secs());
        assert!(waits.is_sorted(), "{waits:?}");
        assert_eq!((waits[1], waits[15]), (5, 60));
    }
}
