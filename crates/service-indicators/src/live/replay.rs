//! Replays closed candles older than a channel's recent events, with indicators, to a resuming
//! subscriber. Each candle is serialized when it is read, so an idle subscriber holds only bars.

use std::sync::Arc;

use clock::{Clock, Millis, TimeRange};
use fault::Fault;
use market::{Bar, Delay};
use tokio::time::Instant;

use super::Live;
use super::calculators::Calculators;
use super::channel::MissedRange;
use super::event::{ChannelEvent, Subject};
use super::subscription_request::SubscriptionRequest;
use crate::warm;

/// The missed candles that the subscriber has not read yet.
pub(crate) struct Replay {
    bars: std::vec::IntoIter<Bar>,
    calculators: Calculators,
    subject: Subject,
    clock: Arc<dyn Clock>,
}

impl Iterator for Replay {
    type Item = ChannelEvent;

    fn next(&mut self) -> Option<ChannelEvent> {
        let bar = self.bars.next()?;
        let deltas = self.calculators.close(&bar);
        Some(self.subject.kline(&bar, true, &deltas, self.clock.now()))
    }
}

/// Reads the missed candles from history and warms up their indicators.
pub(crate) async fn start(
    live: &Live,
    request: &SubscriptionRequest,
    missed: Option<MissedRange>,
    deadline: Instant,
) -> Result<Option<Box<Replay>>, Fault> {
    let Some(MissedRange { after, to, checkpoint }) = missed else { return Ok(None) };
    // The caller's deadline also bounds the wait for this permit.
    let _permit = live.replay_permits.acquire().await.map_err(Fault::internal)?;
    // Cumulative indicators continue from their checkpoint.
    let first = checkpoint.as_ref().map_or(after, |checkpoint| checkpoint.after);
    let span = TimeRange::new(Millis(first.0 + 1), Millis(to.0 + 1));
    let before = warm::candles_before(&request.windows, request.interval, span.from);
    let mut bars =
        live.candles.within(&request.ticker, request.interval, span, before, deadline).await?;
    let mut calculators = Calculators::new(&request.windows, span.from, checkpoint.as_deref());
    let replay_start = bars.partition_point(|bar| bar.open_time <= after);
    for bar in &bars[..replay_start] {
        calculators.close(bar);
    }
    let bars = bars.split_off(replay_start).into_iter();
    let symbol = Arc::from(&*request.ticker.name);
    // A closed candle is final, so a replay does not report the venue's delay.
    let source = Arc::from(live.candles.source(&request.ticker)?);
    let subject = Subject { symbol, interval: request.interval, source, delay: Delay::RealTime };
    let clock = Arc::clone(&live.clock);
    Ok(Some(Box::new(Replay { bars, calculators, subject, clock })))
}
