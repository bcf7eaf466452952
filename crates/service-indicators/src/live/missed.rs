//! Closed candles from before a channel's memory, with their indicators, for those who resume.

use std::sync::Arc;

use fault::Fault;
use market::{Millis, Span};
use tokio::time::Instant;

use super::Live;
use super::ask::Ask;
use super::calculators::Calculators;
use super::channel::Missed;
use super::event::{Subject, Told};
use crate::warm;

/// The events of these candles.
pub(crate) async fn told(
    live: &Live,
    ask: &Ask,
    missed: Option<Missed>,
    deadline: Instant,
) -> Result<Vec<Arc<Told>>, Fault> {
    let Some(Missed { after, to, mark }) = missed else { return Ok(Vec::new()) };
    // What adds up goes on from where it was marked.
    let first = mark.as_ref().map_or(after, |mark| mark.after);
    let span = Span::new(Millis(first.0 + 1), Millis(to.0 + 1));
    let before = warm::candles_before(&ask.specs, ask.interval, span.from);
    let bars = live.candles.within(&ask.ticker, ask.interval, span, before, deadline).await?;
    let subject = Subject { symbol: Arc::from(&*ask.ticker.name), interval: ask.interval };
    let mut calculators = Calculators::new(&ask.specs, span.from, mark.as_deref());
    let now = live.clock.now();
    let mut events = Vec::new();
    for bar in &bars {
        let deltas = calculators.close(bar);
        if bar.open_time > after {
            events.push(Arc::new(subject.kline(bar, true, &deltas, now)));
        }
    }
    Ok(events)
}
