//! `list_price_pushes`: which prices reached which shop, newest first, by pages, limited to the
//! products that the caller's credential reaches.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::optimizer::paging::{within_reach, wrong_cursor};
use crate::optimizer::{Optimizer, push_wire};
use crate::push::title;
use crate::storage::proposals::is_id;
use crate::storage::pushes::{self, Push, PushCount, PushQuery, PushState};
use crate::storage::switch;

const NO_SHOP: &str = "No shop is set: shopify_url or woocommerce_url in the configuration name one; \
                       GET /api/pricing/prices.csv has the prices meanwhile.";

#[derive(Deserialize)]
pub(crate) struct Args {
    sku: Option<String>,
    target: Option<String>,
    state: Option<String>,
    limit: u32,
    cursor: Option<String>,
}

pub(crate) async fn call(cx: Cx<Optimizer>, args: Args) -> Result<JsonReply, Fault> {
    within_reach(&cx, args.sku.as_deref())?;
    if !args.cursor.as_deref().is_none_or(is_id) {
        return Err(wrong_cursor());
    }
    let (db, prefixes) = (&cx.service.db, cx.caller.sku_prefixes());
    let query = PushQuery {
        sku: args.sku.as_deref(),
        target: args.target.as_deref(),
        state: args.state.as_deref().and_then(PushState::parse),
        prefixes,
        before: args.cursor.as_deref(),
    };
    let mut shown = pushes::page(db, query, args.limit + 1).await?;
    let more = shown.len() > args.limit as usize;
    shown.truncate(args.limit as usize);
    let next = shown.last().filter(|_| more).map(|it| it.id.clone());
    let counts = pushes::counts(db, prefixes).await?;
    let stopped = switch::is_on(db).await?;
    let targets: Vec<Value> = cx
        .service
        .outbox
        .shops
        .iter()
        .map(|shop| target(shop.target, shop.problem(), &counts))
        .collect();
    let mut text = text(&shown, &targets, stopped);
    if let Some(next) = &next {
        let call = json!({ "sku": args.sku, "target": args.target, "state": args.state,
            "limit": args.limit, "cursor": next });
        text.push_str(&next_step("list_price_pushes", &call));
    }
    let list: Vec<Value> = shown.iter().map(push_wire::push).collect();
    Ok(JsonReply::new(
        json!({ "ok": true, "stopped": stopped, "targets": targets, "pushes": list,
            "next_cursor": next }),
        text,
    ))
}

/// A shop that is set, with the number of its pushes by state.
fn target(name: &str, problem: Option<String>, counts: &[PushCount]) -> Value {
    let mut shown = json!({ "target": name, "problem": problem });
    for state in PushState::ALL {
        let of = counts.iter().find(|it| it.target == name && it.state == state);
        shown[state.word()] = of.map_or(0, |it| it.count).into();
    }
    shown
}

fn text(shown: &[Push], targets: &[Value], stopped: bool) -> String {
    let mut lines = Vec::new();
    if targets.is_empty() {
        lines.push(NO_SHOP.to_owned());
    }
    if stopped {
        lines.push("The kill switch is on: nothing is pushed.".to_owned());
    }
    for target in targets {
        let count = |state: PushState| format!("{} {}", target[state.word()], state.word());
        let counts: Vec<String> = PushState::ALL.into_iter().map(count).collect();
        let problem = target["problem"].as_str().map(|it| format!("; {it}")).unwrap_or_default();
        let title = title(target["target"].as_str().unwrap_or_default());
        lines.push(format!("{title}: {}{problem}", counts.join(", ")));
    }
    lines.extend(shown.iter().map(push_wire::line));
    let failed = shown.iter().find(|it| it.state == PushState::Failed);
    let next = failed.map(|it| next_step("retry_price_push", &json!({ "sku": it.sku })));
    lines.join("\n") + &next.unwrap_or_default()
}
