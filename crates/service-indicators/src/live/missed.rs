//! Closed candles from before a channel's memory, with their indicators, for those who resume. They
//! become events only as they are read, so that one who does not read costs candles alone.

use std::sync::Arc;

use clock::{Clock, Millis, TimeRange};
use fault::Fault;
use market::{Bar, Delay};
use tokio::time::Instant;

use super::Live;
use super::ask::Ask;
use super::calculators::Calculators;
use super::channel::Missed;
use super::event::{ChannelEvent, Subject};
use crate::warm;

/// What is still to be told.
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

/// Reads these candles, and what warms their indicators.
pub(crate) async fn replay(
    live: &Live,
    ask: &Ask,
    missed: Option<Missed>,
    deadline: Instant,
) -> Result<Option<Box<Replay>>, Fault> {
    let Some(Missed { after, to, mark }) = missed else { return Ok(None) };
    // Whoever asks has a deadline of their own, under which this waits as well.
    let _turn = live.replays.acquire().await.map_err(Fault::internal)?;
    // What adds up goes on from where it was marked.
    let first = mark.as_ref().map_or(after, |mark| mark.after);
    let span = TimeRange::new(Millis(first.0 + 1), Millis(to.0 + 1));
    let before = warm::candles_before(&ask.windows, ask.interval, span.from);
    let mut bars = live.candles.within(&ask.ticker, ask.interval, span, before, deadline).await?;
    let mut calculators = Calculators::new(&ask.windows, span.from, mark.as_deref());
    let told_from = bars.partition_point(|bar| bar.open_time <= after);
    for bar in &bars[..told_from] {
        calculators.close(bar);
    }
    let bars = bars.split_off(told_from).into_iter();
    let symbol = Arc::from(&*ask.ticker.name);
    // What is over is as true as it will be, however late it came.
    let subject = Subject { symbol, interval: ask.interval, delay: Delay::RealTime };
    let clock = Arc::clone(&live.clock);
    Ok(Some(Box::new(Replay { bars, calculators, subject, clock })))
}
