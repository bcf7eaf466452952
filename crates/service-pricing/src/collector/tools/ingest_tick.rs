//! `ingest_tick`: stores one observation and replies after the commit.

use contract::{Cx, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::collector::Collector;
use crate::collector::names::invalid;
use crate::collector::tick::{self, TickDefaults};
use contract::JsonReply;

#[derive(Deserialize)]
pub(crate) struct Args {
    d: Map<String, Value>,
}

pub(crate) async fn call(cx: Cx<Collector>, args: Args) -> Result<JsonReply, Fault> {
    let defaults = TickDefaults::by_hand(cx.service.now());
    // The limits are checked before the fields, so that the error of a SKU beyond the token's
    // limits says nothing about the tick.
    let text = |name: &str| args.d.get(name).and_then(Value::as_str);
    if let Some(sku) = text("sku") {
        cx.caller.require_sku(sku)?;
    }
    cx.caller.require_market(text("market").unwrap_or(defaults.market))?;
    let tick = match tick::parse(&args.d, defaults) {
        Ok(tick) => tick,
        Err(wrong) => return invalid("d", wrong).map(|()| JsonReply::new(Value::Null, "")),
    };
    let of = json!({ "sku": tick.sku, "market": tick.market });
    let summary = format!("Kept: {} in {} at {}", tick.sku, tick.market, tick.at.to_rfc3339())
        + &next_step("fetch_market_features", &of);
    cx.service.tick_writer.store(vec![tick]).await?;
    Ok(JsonReply::new(json!({ "ok": true }), summary))
}
