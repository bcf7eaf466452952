//! Replays closed candles older than a channel's recent events, with indicators, to a resuming
//! subscriber. Each candle is serialized when it is read, so an idle subscriber holds only bars.

use std::sync::Arc;

use clock::{Clock, Millis, TimeRange};
use fault::Fault;
use limits::MemoryReservation;
use market::{Bar, Delay};
use tokio::time::Instant;

use super::calculators::Calculators;
use super::channel::MissedRange;
use super::event::{ChannelEvent, Subject};
use super::subscription_request::SubscriptionRequest;
use super::{Live, reserve};
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

/// Bytes for one candle that an indicator remembers; some keep two numbers for it.
const REMEMBERED_BYTES: usize = 16;

/// Reads the missed candles from history and warms up their indicators. What they take is reserved
/// in `memory`, beside what it has; the candles of the warm-up are freed before this returns, and
/// `replay_permits` bounds them.
pub(crate) async fn start(
    live: &Live,
    request: &SubscriptionRequest,
    missed: Option<MissedRange>,
    memory: &mut MemoryReservation,
    deadline: Instant,
) -> Result<Option<Box<Replay>>, Fault> {
    let Some(MissedRange { after, to, checkpoint }) = missed else { return Ok(None) };
    // Cumulative indicators continue from their checkpoint.
    let first = checkpoint.as_ref().map_or(after, |checkpoint| checkpoint.after);
    let span = TimeRange::new(Millis(first.0 + 1), Millis(to.0 + 1));
    let before = warm::candles_before(&request.windows, request.interval, span.from);
    let held_before = memory.bytes();
    let remembered = REMEMBERED_BYTES * request.remembered_candles();
    let most = usize::try_from(request.interval.count_in(span)).unwrap_or(usize::MAX);
    reserve(memory, bars_bytes(most).saturating_add(remembered))?;
    // The caller's deadline also bounds the wait for this permit.
    let _permit = live.replay_permits.acquire().await.map_err(Fault::internal)?;
    let mut bars =
        live.candles.within(&request.ticker, request.interval, span, before, deadline).await?;
    let mut calculators = Calculators::new(&request.windows, span.from, checkpoint.as_deref());
    let replay_start = bars.partition_point(|bar| bar.open_time <= after);
    for bar in &bars[..replay_start] {
        calculators.close(bar);
    }
    let bars = bars.split_off(replay_start);
    memory.shrink_to(held_before + bars_bytes(bars.capacity()) + remembered);
    let bars = bars.into_iter();
    let symbol = Arc::from(&*request.ticker.name);
    // A closed candle is final, so a replay does not report the venue's delay.
    let source = Arc::from(live.candles.source(&request.ticker)?);
    let subject = Subject { symbol, interval: request.interval, source, delay: Delay::RealTime };
    let clock = Arc::clone(&live.clock);
    Ok(Some(Box::new(Replay { bars, calculators, subject, clock })))
}

fn bars_bytes(count: usize) -> usize {
    count.saturating_mul(size_of::<Bar>())
}
