//! `propose_prices`: proposals for many products at once, optionally as a dry run.

use contract::{Caller, Cx, JsonReply, Scope, next_step};
use fault::{Fault, Kind};
use pricing_engine::Mode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::optimizer::pricing_input::{self, PriceArgs};
use crate::optimizer::proposing::compute_proposal;
use crate::optimizer::{Optimizer, wire};
use crate::storage::proposals::{self, ChangeContext, Status, StoredProposal};

const NOT_KEPT: &str = "a dry run: this proposal was not kept and cannot be applied";
const MAY_NOT_APPLY: &str =
    "not applied, though the policy is auto: the token does not carry the scope apply";

/// The longest call that the text of a dry run repeats.
const NEXT_BYTES_MAX: usize = 2_000;

#[derive(Deserialize)]
pub(crate) struct Args {
    items: Vec<PriceArgs>,
    dry_run: bool,
}

/// The result of one item: a proposal with an optional remark, or the error of its SKU.
enum BatchItem {
    Proposed(Box<StoredProposal>, Option<String>),
    Failed(String, Fault),
}

pub(crate) async fn call(cx: Cx<Optimizer>, given: Value) -> Result<JsonReply, Fault> {
    let optimizer = &cx.service;
    let kept_call = kept_call(&given);
    let args: Args = serde_json::from_value(given).map_err(Fault::internal)?;
    let total = args.items.len();
    let mut items = Vec::with_capacity(total);
    for (at, item) in args.items.into_iter().enumerate() {
        if cx.cancel.is_cancelled() {
            let message = "the caller cancelled the request; nothing was kept";
            return Err(Fault::new(Kind::Cancelled, "cancelled", message));
        }
        let sku = item.sku.clone();
        items.push(match compute_item(&cx, item).await {
            Ok(stored) => {
                BatchItem::Proposed(Box::new(stored), args.dry_run.then(|| NOT_KEPT.to_owned()))
            }
            Err(fault) => BatchItem::Failed(sku, fault),
        });
        cx.progress.report((at + 1) as f64, Some(total as f64), "proposing");
    }
    if !args.dry_run {
        store_all(optimizer, &cx.caller, &mut items).await?;
    }
    Ok(reply(&items, args.dry_run, kept_call))
}

/// The same call without the dry run, unless it is too long for a text.
fn kept_call(given: &Value) -> Option<Value> {
    let mut call = given.clone();
    call["dry_run"] = Value::from(false);
    Some(call).filter(|it| it.to_string().len() <= NEXT_BYTES_MAX)
}

async fn compute_item(cx: &Cx<Optimizer>, item: PriceArgs) -> Result<StoredProposal, Fault> {
    pricing_input::within_reach(&cx.caller, &item.sku)?;
    let body = compute_proposal(&cx.service, item.input(cx.service.now())?).await?;
    cx.service.to_stored(body, &cx.caller.subject)
}

/// Stores every proposal and applies each one whose policy is `auto`, if the caller has the scope
/// `apply`. Each price change has its own transaction, so that one stale price does not undo the
/// others.
async fn store_all(
    optimizer: &Optimizer,
    caller: &Caller,
    items: &mut [BatchItem],
) -> Result<(), Fault> {
    let mut tx = optimizer.db.begin().await?;
    for it in items.iter() {
        if let BatchItem::Proposed(stored, _) = it {
            proposals::insert(&mut tx, &optimizer.outbox, stored).await?;
        }
    }
    tx.commit().await?;
    optimizer.outbox.notify();
    for it in items {
        let BatchItem::Proposed(stored, remark) = it else { continue };
        if stored.body.mode != Mode::Auto {
            let why = stored.body.review_because.join("; ");
            *remark =
                (!why.is_empty()).then(|| format!("not applied, though the policy is auto: {why}"));
            continue;
        }
        if !caller.may(Scope::Apply) {
            *remark = Some(MAY_NOT_APPLY.to_owned());
            continue;
        }
        let change = ChangeContext {
            by: &caller.subject,
            now: optimizer.now(),
            note: Some("by its policy: auto"),
        };
        match proposals::apply(&optimizer.db, &optimizer.outbox, &stored.id, change).await {
            Ok(applied) => **stored = applied,
            Err(fault) => *remark = Some(format!("not applied: {}", fault.message())),
        }
    }
    Ok(())
}

fn reply(items: &[BatchItem], dry_run: bool, kept_call: Option<Value>) -> JsonReply {
    let count = |wanted: fn(&BatchItem) -> bool| items.iter().filter(|it| wanted(it)).count();
    let failed = count(|it| matches!(it, BatchItem::Failed(..)));
    let applied = count(
        |it| matches!(it, BatchItem::Proposed(stored, _) if stored.status == Status::Applied),
    );
    let proposed = items.len() - failed;
    let results: Vec<Value> = items.iter().map(result).collect();
    let json = json!({ "ok": true, "dry_run": dry_run, "results": results, "proposed": proposed,
        "applied": applied, "failed": failed });
    let mut text = format!("{proposed} proposed, {applied} applied, {failed} failed");
    if dry_run {
        text.push_str("; a dry run: nothing was kept");
    }
    for it in items.iter().take(50) {
        text.push('\n');
        text.push_str(&match it {
            BatchItem::Proposed(stored, remark) => {
                let remark = remark.as_deref().filter(|_| !dry_run);
                let remark = remark.map(|it| format!("; {it}")).unwrap_or_default();
                format!("{}: {}{remark}", stored.status.word(), wire::line(&stored.body))
            }
            BatchItem::Failed(sku, fault) => format!("{sku}: {}", fault.message()),
        });
    }
    if items.len() > 50 {
        text.push_str(&format!("\n… and {} more in the structured result", items.len() - 50));
    }
    if dry_run && proposed > 0 {
        text.push_str("\nThe same call with \"dry_run\": false keeps the proposals.");
        text.extend(kept_call.map(|call| next_step("propose_prices", &call)));
    } else if proposed > applied {
        text.push_str(&next_step("list_proposals", &json!({ "status": "pending" })));
    }
    JsonReply::new(json, text)
}

fn result(items: &BatchItem) -> Value {
    match items {
        BatchItem::Proposed(stored, remark) => {
            let mut json = json!({ "sku": stored.sku, "ok": true, "status": stored.status.word(),
                "proposal": wire::proposal(&stored.id, &stored.body, stored.expires, stored.status) });
            if let Some(remark) = remark {
                json["message"] = Value::from(remark.as_str());
            }
            json
        }
        BatchItem::Failed(sku, fault) => {
            json!({ "sku": sku, "ok": false, "error": fault.code(), "message": fault.message() })
        }
    }
}
