//! `get_pricing_policy`: the policy that holds for a SKU, where it was set, and the kill switch.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::optimizer::Optimizer;
use crate::optimizer::pricing_input::{self, MARKET};
use crate::storage::switch::{self, Switch};
use crate::storage::{policies, products};

#[derive(Deserialize)]
pub(crate) struct Args {
    sku: Option<String>,
}

pub(crate) async fn call(cx: Cx<Optimizer>, args: Args) -> Result<JsonReply, Fault> {
    match &args.sku {
        Some(sku) => pricing_input::within_reach(&cx.caller, sku)?,
        None => cx.caller.require_market(MARKET)?,
    }
    let db = &cx.service.db;
    let product = match &args.sku {
        Some(sku) => products::find(db, sku).await?,
        None => None,
    };
    let category = product.as_ref().and_then(|it| it.category.as_deref());
    let in_force = policies::in_force(db, args.sku.as_deref(), category).await?;
    let policy = pricing_input::policy(&in_force, product.as_ref());
    let switch = switch::find(db).await?;
    let on = switch.as_ref().is_some_and(|it| it.on);
    let text = format!(
        "Mode {}; from {}; price changes are {}.",
        serde_json::to_value(policy.mode)
            .ok()
            .and_then(|it| it.as_str().map(str::to_owned))
            .unwrap_or_default(),
        if in_force.from.is_empty() { "the defaults".to_owned() } else { in_force.from.join(", ") },
        if on { "stopped" } else { "allowed" },
    );
    let json = json!({ "ok": true, "policy": policy, "from": in_force.from,
        "kill_switch": shown(switch.as_ref()) });
    Ok(JsonReply::new(json, text))
}

fn shown(switch: Option<&Switch>) -> Value {
    match switch {
        None => json!({ "on": false, "reason": null, "since": null, "by": null }),
        Some(it) => json!({ "on": it.on, "reason": it.reason, "since": it.since.to_rfc3339(),
            "by": it.by }),
    }
}
