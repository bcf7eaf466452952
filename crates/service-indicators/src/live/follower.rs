//! The task behind a channel: it follows the venue, and follows it again for as long as anybody
//! reads. What it hears becomes events in `channel`.

use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use fault::{Fault, Kind};
use market::{EndCause, Kline, KlineEvent, KlineFeed, LiveKlines, SubscribeOptions};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::calculators::Calculators;
use super::channel::{Channel, LOOK};
use super::event::{Ended, Status};

/// The first wait before a venue is asked again, which doubles up to the longest.
const WAIT: Duration = Duration::from_millis(250);
const WAIT_MAX: Duration = Duration::from_secs(30);

/// What the task of a channel works with.
pub(super) struct Follower {
    pub(super) channel: Arc<Channel>,
    pub(super) port: Arc<dyn LiveKlines>,
    pub(super) code: String,
    pub(super) feed: Box<dyn KlineFeed>,
    pub(super) calculators: Calculators,
    /// The last closed candle that was handed out.
    pub(super) last: Millis,
    /// Since when nobody is seen to read.
    pub(super) unread_since: Option<Instant>,
}

impl Follower {
    /// Runs until there is nobody to tell or nothing to be told, and says which.
    pub(super) async fn run(mut self, stop: CancellationToken) -> Ended {
        let mut look = tokio::time::interval(LOOK);
        loop {
            let event = tokio::select! {
                event = self.feed.next() => event,
                _ = look.tick() => match self.is_unread() {
                    true => return Ended::Unread,
                    false => continue,
                },
                () = stop.cancelled() => return Ended::Stopping,
            };
            match event.as_deref() {
                Some(KlineEvent::Candle { kline, .. }) => self.candle(kline),
                Some(KlineEvent::Connected) => self.channel.say(Status::Connected),
                Some(KlineEvent::Reconnecting) => self.channel.say(Status::Reconnecting),
                Some(KlineEvent::GapFilled(span)) => self.channel.say(Status::GapFilled(*span)),
                Some(KlineEvent::Ended(end)) if end.cause == EndCause::Closed => {
                    return Ended::Stopping;
                }
                // A machine that slept has too much waiting for it; what it missed is told again.
                Some(KlineEvent::Ended(_)) | None => {
                    if let Err(ended) = self.follow_again(&stop).await {
                        return ended;
                    }
                }
            }
        }
    }

    fn candle(&mut self, kline: &Kline) {
        let channel = &self.channel;
        if kline.bar.open_time <= self.last {
            return;
        }
        let deltas = match kline.closed {
            true => self.calculators.close(&kline.bar),
            false if !channel.fan.wants_droppable() => return,
            false => self.calculators.preview(&kline.bar),
        };
        if kline.closed {
            self.last = kline.bar.open_time;
            channel.mark(&self.calculators, self.last);
        }
        let now = channel.clock.now();
        channel.publish(channel.subject.kline(&kline.bar, kline.closed, &deltas, now));
    }

    /// Follows from the last closed candle, however often it takes: an exchange that is down comes
    /// back. Gives up on a venue that will not, and where nobody waits for it.
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
                self.channel.say(Status::Reconnecting);
            }
            let wait = WAIT + http_client::jitter(attempt, WAIT, WAIT_MAX);
            self.wait(wait.max(fault.retry_wait().unwrap_or_default()), stop).await?;
            attempt += 1;
        }
    }

    /// An exchange may say that it wants to be left alone for days; whether anybody still reads is
    /// looked at meanwhile.
    async fn wait(&mut self, mut wait: Duration, stop: &CancellationToken) -> Result<(), Ended> {
        while !wait.is_zero() {
            let part = wait.min(LOOK);
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

    /// Whether nobody has read for a while, in which case nobody will.
    fn is_unread(&mut self) -> bool {
        if !self.channel.fan.is_empty() {
            self.unread_since = None;
            return false;
        }
        let since = *self.unread_since.get_or_insert_with(Instant::now);
        since.elapsed() >= LOOK / 2 && self.channel.retire()
    }
}

/// How it ends where asking again would be answered with the same.
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
