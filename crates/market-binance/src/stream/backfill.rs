//! Closed candles from the exchange's record, for what was not heard live.
//!
//! The record may lag behind the streams, and its newest rows may still change: what is not
//! certain is not told, and is asked for again. Which holes are believed is said in `record`.

use std::sync::Arc;

use clock::{Millis, TimeRange};
use fault::Fault;
use http_client::Backoff;
use market::Interval;
use market_live::{Replay, ReplayPage};

use crate::Inner;
use crate::record::{Doubt, Filled, judge};

/// One page of the record from `from` on, over the hole that is believed.
pub(crate) async fn look(
    inner: &Arc<Inner>,
    code: &str,
    interval: Interval,
    from: Millis,
    believed: Option<Millis>,
) -> Result<Filled, Fault> {
    // Read before the rows: what closes in between is left for the next look.
    let server_now = inner.server_now().await?;
    let page = inner.rows_from(code, interval, from).await?;
    let certain_at = Millis(server_now.0.saturating_sub(inner.settle_ms()));
    Ok(judge(&page, (interval, from), certain_at, believed))
}

/// What was missed of a series. Where the symbol is halted, the record has an end.
pub(crate) fn replay(
    inner: &Arc<Inner>,
    (code, interval): (&str, Interval),
    missed: TimeRange,
    halted: bool,
) -> Replay {
    let (inner, code) = (Arc::clone(inner), Arc::<str>::from(code));
    Replay::new(missed, move |missed| {
        let (inner, code) = (Arc::clone(&inner), Arc::clone(&code));
        let ends_at = halted.then_some(missed.to);
        look_until_known(inner, code, interval, missed.from, ends_at)
    })
}

/// Looks until the record says something new. Only for candles that are known to be over. Where
/// the symbol is not traded any more, nothing new is as good as knowing everything up to `ends_at`.
async fn look_until_known(
    inner: Arc<Inner>,
    code: Arc<str>,
    interval: Interval,
    from: Millis,
    ends_at: Option<Millis>,
) -> ReplayPage {
    let config = &inner.config.streams;
    let mut waits = Backoff::new(config.lag_wait, config.lag_wait_max);
    let mut doubt = Doubt::default();
    loop {
        match look(&inner, &code, interval, from, doubt.believed()).await {
            Ok(Filled { rows, known_to, .. }) if known_to > from => {
                return ReplayPage { klines: rows, complete_to: known_to };
            }
            Ok(filled) => {
                // Where there is an end, rows that are not there are a hole without a later row.
                doubt.see(filled.hole.or(ends_at.map(|_| from)));
                let over = filled.hole.is_none() && doubt.believed() == Some(from);
                if let Some(known_to) = ends_at.filter(|_| over) {
                    return ReplayPage { klines: filled.rows, complete_to: known_to };
                }
            }
            Err(fault) => tracing::debug!(code = &*code, %interval, %fault, "a replay waits"),
        }
        tokio::time::sleep(waits.next()).await;
    }
}
