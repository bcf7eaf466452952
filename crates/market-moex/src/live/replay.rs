//! Fetches the candles that a subscriber missed.

use std::sync::Arc;

use clock::TimeRange;
use http_client::Backoff;
use market_live::{Replay, ReplayPage};
use tokio::time::sleep;

use super::LiveSeries;
use super::poll::poll_candles;
use crate::Inner;

/// After this many polls that end too early the exchange has no more candles.
const POLLS_MAX: u32 = 3;
/// The same when other subscribers already got later candles: the exchange removed them.
const POLLS_MAX_PUBLISHED: u32 = 20;

/// `published` says that other subscribers already got candles up to the end of the missed range.
pub(crate) fn replay(
    inner: &Arc<Inner>,
    series: &Arc<LiveSeries>,
    missed: TimeRange,
    published: bool,
) -> Replay {
    let (inner, series) = (Arc::clone(inner), Arc::clone(series));
    let polls_max = if published { POLLS_MAX_PUBLISHED } else { POLLS_MAX };
    Replay::new(missed, move |missed| {
        find(Arc::clone(&inner), Arc::clone(&series), missed, polls_max)
    })
}

/// The next page of the missed range. All of its candles have closed, so a response that does not
/// reach the end is an old copy from a cache and is requested again.
async fn find(
    inner: Arc<Inner>,
    series: Arc<LiveSeries>,
    missed: TimeRange,
    polls_max: u32,
) -> ReplayPage {
    let every = inner.config.live.every;
    let mut waits = Backoff::new(every / 2, every * 4);
    let mut polls = 0;
    loop {
        match poll_candles(&inner, &series, missed.from).await {
            Ok(polled) if polled.more || polled.known_to >= missed.to => {
                return ReplayPage { klines: polled.rows, complete_to: polled.known_to };
            }
            Ok(polled) => {
                polls += 1;
                if polls >= polls_max {
                    return ReplayPage { klines: polled.rows, complete_to: missed.to };
                }
            }
            Err(fault) => {
                let code = &series.listed.security.code;
                tracing::debug!(code, %fault, "a replay waits");
            }
        }
        sleep(waits.next()).await;
    }
}
