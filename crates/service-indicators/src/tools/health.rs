//! `health`: whether the venue and the archive can serve candles now.

use std::time::Duration;

use contract::Cx;
use fault::Fault;
use market::VenueHealth;
use tokio::time::timeout;

use crate::Indicators;
use crate::wire::{Health, NoArgs};

/// Timeout of the venue check; a slower one counts as degraded. The archive has a timeout of its own.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) async fn call(cx: Cx<Indicators>, _: NoArgs) -> Result<Health, Fault> {
    let market = &cx.service.candles.market;
    let venue = timeout(CHECK_TIMEOUT, (market.health)());
    let status = match tokio::join!(venue, market.history.check()) {
        (_, Err(_)) | (Ok(VenueHealth::Down), _) => "error",
        (Ok(VenueHealth::Degraded) | Err(_), Ok(())) => "degraded",
        (Ok(VenueHealth::Up), Ok(())) => "ok",
    };
    Ok(Health {
        status,
        uptime_s: (cx.service.clock.now().0 - cx.service.started.0).max(0) / 1000,
        version: cx.service.version,
        provider: cx.service.candles.provider().to_owned(),
        sources: cx.service.candles.sources(),
    })
}
