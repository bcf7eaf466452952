//! `health`: whether candles can be had right now.

use contract::Cx;
use fault::Fault;
use market::VenueHealth;

use crate::Indicators;
use crate::wire::{Health, NoArgs};

pub(crate) async fn call(cx: Cx<Indicators>, _: NoArgs) -> Result<Health, Fault> {
    let market = &cx.service.candles.market;
    let status = match ((market.health)().await, market.history.check().await) {
        (_, Err(_)) | (VenueHealth::Down, _) => "error",
        (VenueHealth::Degraded, Ok(())) => "degraded",
        (VenueHealth::Up, Ok(())) => "ok",
    };
    Ok(Health {
        status,
        uptime_s: (cx.service.clock.now().0 - cx.service.started.0).max(0) / 1000,
        version: cx.service.version,
        provider: cx.service.candles.provider().to_owned(),
    })
}
