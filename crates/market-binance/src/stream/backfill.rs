//! Fetches closed candles from the exchange's history: gaps of live series, and replays.
//!
//! The history may lag behind the streams, and its newest rows may still change. Rows that are not
//! final are not returned and are requested again. `history` decides which gaps are confirmed.

use std::sync::Arc;

use clock::{Millis, TimeRange};
use fault::Fault;
use http_client::Backoff;
use market::Interval;
use market_live::{Replay, ReplayPage};

use crate::BinanceShared;
use crate::history::{GapEvidence, HistoryPage, assess_page};

/// Fetches one page of history from `from` on and skips the gap at `confirmed_gap`.
pub(crate) async fn fetch_page(
    shared: &Arc<BinanceShared>,
    code: &str,
    interval: Interval,
    from: Millis,
    confirmed_gap: Option<Millis>,
) -> Result<HistoryPage, Fault> {
    // Read before the rows: a candle that closes in between is left for the next request.
    let server_now = shared.server_now().await?;
    let page = shared.rows_from(code, interval, from).await?;
    let final_before = Millis(server_now.0.saturating_sub(shared.settle_ms()));
    Ok(assess_page(&page, (interval, from), final_before, confirmed_gap))
}

/// Replays `missed` from history. The history of a halted symbol has an end.
pub(crate) fn replay(
    shared: &Arc<BinanceShared>,
    (code, interval): (&str, Interval),
    missed: TimeRange,
    halted: bool,
) -> Replay {
    let (shared, code) = (Arc::clone(shared), Arc::<str>::from(code));
    Replay::new(missed, move |missed| {
        let (shared, code) = (Arc::clone(&shared), Arc::clone(&code));
        let ends_at = halted.then_some(missed.to);
        fetch_until_progress(shared, code, interval, missed.from, ends_at)
    })
}

/// Requests the page until it has something new. Only for candles that have closed. For a halted
/// symbol,
/// `ends_at` is the time up to which an empty history counts as complete.
async fn fetch_until_progress(
    shared: Arc<BinanceShared>,
    code: Arc<str>,
    interval: Interval,
    from: Millis,
    ends_at: Option<Millis>,
) -> ReplayPage {
    let config = &shared.config.streams;
    let mut backoff = Backoff::new(config.lag_wait, config.lag_wait_max);
    let mut evidence = GapEvidence::default();
    loop {
        match fetch_page(&shared, &code, interval, from, evidence.confirmed()).await {
            Ok(HistoryPage { rows, complete_to, .. }) if complete_to > from => {
                return ReplayPage { klines: rows, complete_to };
            }
            Ok(page) => {
                // For a halted symbol, missing rows are a gap without a later row.
                evidence.observe(page.gap.or(ends_at.map(|_| from)));
                let over = page.gap.is_none() && evidence.confirmed() == Some(from);
                if let Some(complete_to) = ends_at.filter(|_| over) {
                    return ReplayPage { klines: page.rows, complete_to };
                }
            }
            Err(fault) => tracing::debug!(code = &*code, %interval, %fault, "a replay waits"),
        }
        tokio::time::sleep(backoff.next()).await;
    }
}
