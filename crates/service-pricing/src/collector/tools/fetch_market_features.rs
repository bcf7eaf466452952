//! `fetch_market_features`: a window of ticks as one flat object.

use ::market::{DAY_MS, Millis};
use contract::Cx;
use fault::Fault;
use pricing_engine::{Amount, figure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::collector::Collector;
use crate::collector::names::{invalid, require_sku_and_market};
use crate::collector::tick::AHEAD_MS;
use crate::features::{self, Features};
use crate::storage::ticks;
use contract::JsonReply;

#[derive(Deserialize)]
pub(crate) struct Args {
    sku: String,
    market: String,
    time_window: String,
    freshness_sla_minutes: u32,
}

pub(crate) async fn call(cx: Cx<Collector>, args: Args) -> Result<JsonReply, Fault> {
    let Args { sku, market, .. } = &args;
    require_sku_and_market(&cx.caller, sku, market)?;
    let now = cx.service.now();
    let Some(length) = length_ms(&args.time_window) else {
        let problem = ("time_window".to_owned(), "days as P7D".to_owned());
        return invalid("", vec![problem]).map(|()| JsonReply::new(Value::Null, ""));
    };
    // The window ends 5 minutes ahead, because a source's clock may be ahead of the server's.
    let span = (Millis(now.0.saturating_sub(length)), Millis(now.0 + AHEAD_MS + 1));
    let limit = features::TICKS_MAX;
    let mut seen = ticks::window_or_trial(&cx.service.db, (sku, market), span, limit + 1).await?;
    let truncated = seen.len() > limit as usize;
    seen.truncate(limit as usize);
    let found = features::of(&seen);
    let json = flat(&args, &found, now, truncated);
    let text = summary(&args, &found, &json["fresh"]);
    Ok(JsonReply::new(json, text))
}

/// The length of `P7D` in milliseconds; a window longer than all history is cut to it.
fn length_ms(window: &str) -> Option<i64> {
    let days = window.strip_prefix('P')?.strip_suffix('D')?;
    if days.is_empty() || !days.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    Some(days.parse::<i64>().unwrap_or(i64::MAX).saturating_mul(DAY_MS))
}

fn flat(args: &Args, found: &Features, now: Millis, truncated: bool) -> Value {
    let as_of = found.as_of.map(Millis::to_rfc3339);
    let age = found.as_of.map(|at| (now.0 - at.0).max(0) as f64 / 60_000.0);
    let fresh = age.is_some_and(|age| age <= f64::from(args.freshness_sla_minutes));
    let snapshot = as_of.as_ref().map(|at| format!("snap:{}:{}:{at}", args.sku, args.market));
    let competitors = &found.competitors;
    json!({
        "ok": true,
        "sku": args.sku,
        "market": args.market,
        "time_window": args.time_window,
        "freshness_sla_minutes": args.freshness_sla_minutes,
        "snapshot_id": snapshot,
        "as_of": as_of,
        "age_minutes": age,
        "fresh": fresh,
        "sample_count": found.samples,
        "count": found.samples,
        "truncated": truncated,
        "our_price": found.our_price,
        "competitor_price": found.competitor_price,
        "competitor_median": competitors.median,
        "competitor_min": competitors.min,
        "competitor_max": competitors.max,
        "competitor_spread": competitors.spread,
        "competitor_count": competitors.count,
        "price_gap_pct": found.gap,
        "demand_index": found.demand,
        "demand_mean": found.demand_mean,
        "demand_trend": found.demand_trend,
        "volatility": found.volatility,
        "stockout_share": found.stockout_share,
        "units": found.units,
        "simulated": found.simulated,
        "provenance": found.sources.keys().take(20).collect::<Vec<_>>(),
    })
}

fn summary(args: &Args, found: &Features, fresh: &Value) -> String {
    let Args { sku, market, time_window, .. } = args;
    if found.samples == 0 {
        return format!("Nothing was seen of {sku} in {market} over {time_window}");
    }
    let unknown = || "unknown".to_owned();
    let money = |amount: Option<Amount>| amount.map_or_else(unknown, |it| it.to_string());
    let competitors = &found.competitors;
    let mut text = format!(
        "{sku} in {market} over {time_window}: our price {}, competitors' median {} of {} (from {} \
         to {}), demand index {}, {} ticks, fresh: {fresh}",
        money(found.our_price),
        money(competitors.median),
        competitors.count,
        money(competitors.min),
        money(competitors.max),
        found.demand.map_or_else(unknown, figure),
        found.samples,
    );
    if found.simulated {
        text.push_str("\nSimulated: invented prices are among these ticks.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_whole_days() {
        assert_eq!(length_ms("P7D"), Some(7 * DAY_MS));
        assert_eq!(length_ms("P0D"), Some(0));
        assert_eq!(length_ms("P99999999999999999999D"), Some(i64::MAX));
        for wrong in ["", "P", "PD", "P7", "7D", "P-1D", "P1.5D", "PT7D", "P７D"] {
            assert_eq!(length_ms(wrong), None, "{wrong}");
        }
    }
}
