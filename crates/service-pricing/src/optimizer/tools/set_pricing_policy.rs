//! `set_pricing_policy`: changes the rules of one SKU, of one category or of every product.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use pricing_engine::{Currency, Grid};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::collector::names;
use crate::optimizer::Optimizer;
use crate::optimizer::pricing_input;
use crate::storage::audit::{self, AuditEntry};
use crate::storage::policies::{self, PolicyScope};

const CATEGORY_CHARS_MAX: usize = 200;

#[derive(Deserialize)]
pub(crate) struct Args {
    sku: Option<String>,
    category: Option<String>,
    policy: Map<String, Value>,
}

pub(crate) async fn call(cx: Cx<Optimizer>, args: Args) -> Result<JsonReply, Fault> {
    let scope = match (args.sku, args.category) {
        (Some(_), Some(_)) => return Err(one_of_two()),
        (Some(sku), None) => {
            pricing_input::within_reach(&cx.caller, &sku)?;
            PolicyScope::Sku(sku)
        }
        (None, category) => {
            pricing_input::reaches_all(&cx.caller)?;
            category.map_or(Ok(PolicyScope::Everything), named)?
        }
    };
    let (by, now) = (&*cx.caller.subject, cx.service.now());
    let db = &cx.service.db;
    let mut tx = db.begin().await?;
    let rules = policies::changed((db, &mut tx), &scope, args.policy).await?;
    let grid = Grid::of(&Currency::default()).ok_or_else(|| Fault::internal("no grid"))?;
    rules.policy().check(grid)?;
    policies::set(&mut tx, &scope, &rules, (by, now)).await?;
    let sku = if let PolicyScope::Sku(sku) = &scope { sku } else { "" };
    let reply = serde_json::to_string(&rules).map_err(Fault::internal)?;
    let note = Some(format!("{}: {reply}", scope.word()));
    audit::write(&mut tx, &AuditEntry { note, ..AuditEntry::new(now, "policy", sku, by) }).await?;
    tx.commit().await?;
    let of = if sku.is_empty() { json!({}) } else { json!({ "sku": sku }) };
    let text =
        format!("The policy of {} is set.", scope.word()) + &next_step("get_pricing_policy", &of);
    let json = json!({ "ok": true, "applies_to": scope.word(), "policy": rules });
    Ok(JsonReply::new(json, text))
}

fn named(category: String) -> Result<PolicyScope, Fault> {
    let problem = names::text_problem(&category, CATEGORY_CHARS_MAX);
    let problems = problem.map(|expected| ("category".to_owned(), expected));
    names::invalid("", problems.into_iter().collect())?;
    Ok(PolicyScope::Category(category))
}

fn one_of_two() -> Fault {
    Fault::invalid("invalid_input", "a policy is for a sku or for a category, not for both")
        .problem("category", "nothing beside sku")
}
