//! Schedules as the tools show them, and the check whether a caller's token allows one.

use clock::Millis;
use contract::Caller;
use fault::Fault;
use serde_json::{Value, json};

use crate::collector::names::require_sku_and_market;
use crate::storage::schedules::{Schedule, unknown_schedule};

/// A schedule of every product needs a token without limits.
pub(super) fn require_schedule(
    caller: &Caller,
    sku: Option<&str>,
    market: &str,
) -> Result<(), Fault> {
    match sku {
        Some(sku) => require_sku_and_market(caller, sku, market),
        None if caller.grant_limits.is_some() => {
            let message = "a schedule of every product needs a token without limits; name a sku";
            Err(Fault::new(fault::Kind::Forbidden, "limit_not_honoured", message))
        }
        None => require_sku_and_market(caller, "*", market),
    }
}

/// A schedule beyond the token's limits is reported as missing.
pub(super) fn require_or_hide(caller: &Caller, schedule: &Schedule) -> Result<(), Fault> {
    let reached = require_schedule(caller, schedule.sku.as_deref(), &schedule.market);
    reached.map_err(|_| unknown_schedule(&schedule.id))
}

pub(super) fn schedule_json(it: &Schedule) -> Value {
    json!({
        "schedule_id": it.id,
        "schedule": it.recurrence,
        "sku": it.sku,
        "market": it.market,
        "connector": it.connector,
        "depth": it.depth,
        "paused": it.paused,
        "next_run_at": (!it.paused).then(|| it.next.to_rfc3339()),
        "last_run_at": it.last.map(Millis::to_rfc3339),
        "last_job_id": it.last_job,
        "by": it.by,
        "created_at": it.created.to_rfc3339(),
    })
}

pub(super) fn line(it: &Schedule) -> String {
    let of = it.sku.as_deref().unwrap_or("every product");
    let next = match it.paused {
        true => "paused".to_owned(),
        false => format!("next at {}", it.next.to_rfc3339()),
    };
    format!("{}: {of} in {} from {}, {}, {next}", it.id, it.market, it.connector, it.recurrence)
}
