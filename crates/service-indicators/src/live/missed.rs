//! Closed candles from before a channel's memory, with their indicators, for those who resume.

use std::sync::Arc;

use fault::Fault;
use market::{Millis, Span};
use tokio::time::Instant;

use super::Live;
use super::ask::Ask;
use super::calculators::Calculators;
use super::event::{Subject, Told};
use crate::warm;

/// The events of the candles that open after the first time and up to the second.
pub(crate) async fn told(
    live: &Live,
    ask: &Ask,
    missed: Option<(Millis, Millis)>,
    deadline: Instant,
) -> Result<Vec<Arc<Told>>, Fault> {
    let Some((after, to)) = missed else { return Ok(Vec::new()) };
    let span = Span::new(Millis(after.0 + 1), Millis(to.0 + 1));
    let before = warm::candles_before(&ask.specs, ask.interval, span.from);
    let bars = live.candles.within(&ask.ticker, ask.interval, span, before, deadline).await?;
    let subject = Subject { symbol: Arc::from(&*ask.ticker.name), interval: ask.interval };
    let (mut calculators, now) = (Calculators::new(&ask.specs), live.clock.now());
    let mut events = Vec::new();
    for bar in &bars {
        let deltas = calculators.close(bar);
        if bar.open_time > after {
            events.push(Arc::new(subject.kline(bar, true, &deltas, now)));
        }
    }
    Ok(events)
}
