//! The task of a channel: it subscribes to the venue, resubscribes while the channel has readers,
//! and publishes the venue's events to the channel.

use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use fault::{Fault, Kind};
use market::{EndCause, Kline, KlineEvent, KlineFeed, LiveKlines, SubscribeOptions};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::calculators::Calculators;
use super::channel::{Channel, READ_CHECK_PERIOD};
use super::event::{Ended, Status};

/// The first wait before a resubscription; it doubles up to `WAIT_MAX`.
const WAIT: Duration = Duration::from_millis(250);
const WAIT_MAX: Duration = Duration::from_secs(30);

/// The state of a channel's task.
pub(super) struct Follower {
    pub(super) channel: Arc<Channel>,
    pub(super) port: Arc<dyn LiveKlines>,
    pub(super) code: String,
    pub(super) feed: Box<dyn KlineFeed>,
    pub(super) calculators: Calculators,
    /// Opening time of the last published closed candle.
    pub(super) last: Millis,
    /// Time of the first check that found no readers; `None` while there are readers.
    pub(super) unread_since: Option<Instant>,
}

impl Follower {
    /// Runs until the channel has no readers, the venue ends the series or the server stops, and
    /// returns the cause.
    pub(super) async fn run(mut self, stop: CancellationToken) -> Ended {
        let mut read_check = tokio::time::interval(READ_CHECK_PERIOD);
        loop {
            let event = tokio::select! {
                event = self.feed.next() => event,
                _ = read_check.tick() => match self.is_unread() {
                    true => return Ended::Unread,
                    false => continue,
                },
                () = stop.cancelled() => return Ended::Stopping,
            };
            match event.as_deref() {
                Some(KlineEvent::Candle { kline, .. }) => self.candle(kline),
                Some(KlineEvent::Connected) => self.channel.publish_status(Status::Connected),
                Some(KlineEvent::Reconnecting) => self.channel.publish_status(Status::Reconnecting),
                Some(KlineEvent::GapFilled(span)) => {
                    self.channel.publish_status(Status::GapFilled(*span))
                }
                Some(KlineEvent::Ended(end)) if end.cause == EndCause::Closed => {
                    return Ended::Stopping;
                }
                // After a machine's sleep the feed overflows and ends; a new subscription replays
                // the gap.
                Some(KlineEvent::Ended(_)) | None => {
                    if let Err(ended) = self.follow_again(&stop).await {
                        return ended;
                    }
                }
            }
        }
    }

    fn candle(&mut self, kline: &Kline) {
        let bar = &kline.bar;
        if bar.open_time <= self.last {
            return;
        }
        if kline.closed {
            let deltas = self.calculators.close(bar);
            self.last = bar.open_time;
            self.channel.close_candle(&self.calculators, bar, &deltas);
        } else if self.channel.broadcast.wants_droppable() {
            self.channel.update_candle(bar, &self.calculators.preview(bar));
        }
    }

    /// Resubscribes from the last closed candle and retries without limit, because an exchange that
    /// is down comes back. Ends when the venue refuses for good or the channel has no readers.
    async fn follow_again(&mut self, stop: &CancellationToken) -> Result<(), Ended> {
        let mut attempt = 0;
        loop {
            let follow =
                SubscribeOptions { resume_after: Some(self.last), ..SubscribeOptions::default() };
            let interval = self.channel.subject.interval;
            let fault = tokio::select! {
                followed = self.port.subscribe(&self.code, interval, follow) => match followed {
                    Ok(feed) => {
                        self.feed = feed;
                        return Ok(());
                    }
                    Err(fault) => fault,
                },
                () = stop.cancelled() => return Err(Ended::Stopping),
            };
            let symbol = &*self.channel.subject.symbol;
            tracing::warn!(symbol, attempt, code = fault.code(), "not followed again: {fault}");
            if let Some(ended) = refusal(&fault) {
                return Err(ended);
            }
            if attempt == 0 {
                self.channel.publish_status(Status::Reconnecting);
            }
            let wait = WAIT + http_client::jitter(attempt, WAIT, WAIT_MAX);
            self.wait(wait.max(fault.retry_wait().unwrap_or_default()), stop).await?;
            attempt += 1;
        }
    }

    /// Sleeps for `wait` and checks for readers meanwhile: an exchange may demand a wait of days.
    async fn wait(&mut self, mut wait: Duration, stop: &CancellationToken) -> Result<(), Ended> {
        while !wait.is_zero() {
            let part = wait.min(READ_CHECK_PERIOD);
            wait -= part;
            tokio::select! {
                () = tokio::time::sleep(part) => {}
                () = stop.cancelled() => return Err(Ended::Stopping),
            }
            if self.is_unread() {
                return Err(Ended::Unread);
            }
        }
        Ok(())
    }

    /// Whether two checks in succession found no readers; if so, ends the channel.
    fn is_unread(&mut self) -> bool {
        if !self.channel.broadcast.is_empty() {
            self.unread_since = None;
            return false;
        }
        let since = *self.unread_since.get_or_insert_with(Instant::now);
        since.elapsed() >= READ_CHECK_PERIOD / 2 && self.channel.end_if_unread()
    }
}

/// The end cause of a fault that a retry cannot change; `None` for a fault worth a retry.
fn refusal(fault: &Fault) -> Option<Ended> {
    match (fault.kind(), fault.code()) {
        (_, "closing") => Some(Ended::Stopping),
        (_, "resume_too_far") => Some(Ended::TooFarBehind),
        (Kind::NotFound | Kind::Invalid | Kind::Forbidden | Kind::Unauthenticated, _) => {
            Some(Ended::Refused)
        }
        _ => None,
    }
}
