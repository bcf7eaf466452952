//! The merchant's rules: set, shown, and the switch that stops everything.

use contract::Cx;
use fault::Fault;
use pricing_engine::{Currency, Grid};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::collector::names;
use crate::optimizer::Optimizer;
use crate::optimizer::asking::{self, MARKET};
use crate::storage::audit::{self, Entry};
use crate::storage::policies::{self, Reaches};
use crate::storage::products;
use crate::storage::switch::{self, Switch};
use contract::JsonReply;

const CATEGORY_CHARS_MAX: usize = 200;

#[derive(Deserialize)]
pub(crate) struct Setting {
    sku: Option<String>,
    category: Option<String>,
    policy: Map<String, Value>,
}

pub(crate) async fn set(cx: Cx<Optimizer>, setting: Setting) -> Result<JsonReply, Fault> {
    let reaches = match (setting.sku, setting.category) {
        (Some(_), Some(_)) => return Err(one_of_two()),
        (Some(sku), None) => {
            asking::within_reach(&cx.caller, &sku)?;
            Reaches::Sku(sku)
        }
        (None, category) => {
            asking::reaches_all(&cx.caller)?;
            category.map_or(Ok(Reaches::Everything), named)?
        }
    };
    let (by, now) = (&*cx.caller.subject, cx.service.now());
    let db = &cx.service.db;
    let mut tx = db.begin().await?;
    let rules = policies::changed((db, &mut tx), &reaches, setting.policy).await?;
    let grid = Grid::of(&Currency::default()).ok_or_else(|| Fault::internal("no grid"))?;
    rules.policy().check(grid)?;
    policies::set(&mut tx, &reaches, &rules, (by, now)).await?;
    let sku = if let Reaches::Sku(sku) = &reaches { sku } else { "" };
    let reply = serde_json::to_string(&rules).map_err(Fault::internal)?;
    let note = Some(format!("{}: {reply}", reaches.word()));
    audit::write(&mut tx, &Entry { note, ..Entry::new(now, "policy", sku, by) }).await?;
    tx.commit().await?;
    let text = format!("The policy of {} is set.", reaches.word());
    let json = json!({ "ok": true, "applies_to": reaches.word(), "policy": rules });
    Ok(JsonReply::new(json, text))
}

fn named(category: String) -> Result<Reaches, Fault> {
    let problem = names::text_problem(&category, CATEGORY_CHARS_MAX);
    let problems = problem.map(|expected| ("category".to_owned(), expected));
    names::invalid("", problems.into_iter().collect())?;
    Ok(Reaches::Category(category))
}

fn one_of_two() -> Fault {
    Fault::invalid("invalid_input", "a policy is for a sku or for a category, not for both")
        .problem("category", "nothing beside sku")
}

#[derive(Deserialize)]
pub(crate) struct Whose {
    sku: Option<String>,
}

pub(crate) async fn get(cx: Cx<Optimizer>, whose: Whose) -> Result<JsonReply, Fault> {
    match &whose.sku {
        Some(sku) => asking::within_reach(&cx.caller, sku)?,
        None => cx.caller.require_market(MARKET)?,
    }
    let db = &cx.service.db;
    let product = match &whose.sku {
        Some(sku) => products::find(db, sku).await?,
        None => None,
    };
    let category = product.as_ref().and_then(|it| it.category.as_deref());
    let in_force = policies::in_force(db, whose.sku.as_deref(), category).await?;
    let policy = asking::policy(&in_force, product.as_ref());
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

#[derive(Deserialize)]
pub(crate) struct Turn {
    on: bool,
    reason: Option<String>,
}

pub(crate) async fn kill_switch(cx: Cx<Optimizer>, turn: Turn) -> Result<JsonReply, Fault> {
    asking::reaches_all(&cx.caller)?;
    let (by, now) = (&*cx.caller.subject, cx.service.now());
    let switch = Switch { on: turn.on, reason: turn.reason, since: now, by: by.to_owned() };
    let mut tx = cx.service.db.begin().await?;
    switch::set(&mut tx, &switch).await?;
    let word = if switch.on { "on" } else { "off" };
    let note = Some(match &switch.reason {
        Some(reason) => format!("{word}: {reason}"),
        None => word.to_owned(),
    });
    audit::write(&mut tx, &Entry { note, ..Entry::new(now, "kill_switch", "", by) }).await?;
    tx.commit().await?;
    let text = format!("Price changes are {}.", if switch.on { "stopped" } else { "allowed" });
    Ok(JsonReply::new(json!({ "ok": true, "on": switch.on, "since": now.to_rfc3339() }), text))
}
