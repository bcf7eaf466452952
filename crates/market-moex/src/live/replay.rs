//! What was missed of a series of this exchange.

use std::sync::Arc;

use clock::TimeRange;
use http_client::Backoff;
use market_live::{Replay, ReplayPage};
use tokio::time::sleep;

use super::Series;
use super::look::look;
use crate::Inner;

/// So many looks that end too early say that there is nothing more.
const LOOKS_MAX: u32 = 3;
/// The same where others were told of more, minutes later: the exchange has struck it.
const LOOKS_MAX_TOLD: u32 = 20;

/// `told` says that others were told of candles up to the end of what was missed.
pub(crate) fn replay(
    inner: &Arc<Inner>,
    series: &Arc<Series>,
    missed: TimeRange,
    told: bool,
) -> Replay {
    let (inner, series) = (Arc::clone(inner), Arc::clone(series));
    let looks_max = if told { LOOKS_MAX_TOLD } else { LOOKS_MAX };
    Replay::new(missed, move |missed| {
        find(Arc::clone(&inner), Arc::clone(&series), missed, looks_max)
    })
}

/// The next page of what was missed. All of it has closed, so an answer that does not reach the end
/// is older than what was told to others.
async fn find(
    inner: Arc<Inner>,
    series: Arc<Series>,
    missed: TimeRange,
    looks_max: u32,
) -> ReplayPage {
    let every = inner.config.live.every;
    let mut waits = Backoff::new(every / 2, every * 4);
    let mut looks = 0;
    loop {
        match look(&inner, &series, missed.from).await {
            Ok(look) if look.more || look.known_to >= missed.to => {
                return ReplayPage { klines: look.rows, complete_to: look.known_to };
            }
            Ok(look) => {
                looks += 1;
                if looks >= looks_max {
                    return ReplayPage { klines: look.rows, complete_to: missed.to };
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
