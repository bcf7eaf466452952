//! `propose_prices`: proposals for many products at once, optionally as a dry run.

use contract::{Caller, Cx, JsonReply, Scope};
use fault::{Fault, Kind};
use pricing_engine::Mode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::optimizer::pricing_input::{self, Asked};
use crate::optimizer::proposing::computed;
use crate::optimizer::{Optimizer, wire};
use crate::storage::proposals::{self, Deed, Kept, Status};

const NOT_KEPT: &str = "a dry run: this proposal was not kept and cannot be applied";
const MAY_NOT_APPLY: &str =
    "not applied, though the policy is auto: the token does not carry the scope apply";

#[derive(Deserialize)]
pub(crate) struct Args {
    items: Vec<Asked>,
    dry_run: bool,
}

/// What became of one of many, with a remark where there is one.
enum Made {
    Kept(Box<Kept>, Option<String>),
    Failed(String, Fault),
}

pub(crate) async fn call(cx: Cx<Optimizer>, args: Args) -> Result<JsonReply, Fault> {
    let service_info = &cx.service;
    let total = args.items.len();
    let mut made = Vec::with_capacity(total);
    for (at, asked) in args.items.into_iter().enumerate() {
        if cx.cancel.is_cancelled() {
            let message = "the caller cancelled the request; nothing was kept";
            return Err(Fault::new(Kind::Cancelled, "cancelled", message));
        }
        let sku = asked.sku.clone();
        made.push(match considered(&cx, asked).await {
            Ok(kept) => Made::Kept(Box::new(kept), args.dry_run.then(|| NOT_KEPT.to_owned())),
            Err(fault) => Made::Failed(sku, fault),
        });
        cx.progress.report((at + 1) as f64, Some(total as f64), "proposing");
    }
    if !args.dry_run {
        keep_all(service_info, &cx.caller, &mut made).await?;
    }
    Ok(told(&made, args.dry_run))
}

async fn considered(cx: &Cx<Optimizer>, asked: Asked) -> Result<Kept, Fault> {
    pricing_input::within_reach(&cx.caller, &asked.sku)?;
    let body = computed(&cx.service, asked.ask(cx.service.now())?).await?;
    cx.service.kept(body, &cx.caller.subject)
}

/// Keeps every proposal, and applies those whose policy is `auto` where the caller may. Each change
/// of a price is a transaction of its own, so that one stale price does not undo the others.
async fn keep_all(
    service_info: &Optimizer,
    caller: &Caller,
    made: &mut [Made],
) -> Result<(), Fault> {
    let mut tx = service_info.db.begin().await?;
    for it in made.iter() {
        if let Made::Kept(kept, _) = it {
            proposals::keep(&mut tx, kept).await?;
        }
    }
    tx.commit().await?;
    for it in made {
        let Made::Kept(kept, remark) = it else { continue };
        if kept.body.mode != Mode::Auto {
            continue;
        }
        if !caller.may(Scope::Apply) {
            *remark = Some(MAY_NOT_APPLY.to_owned());
            continue;
        }
        let deed = Deed {
            by: &caller.subject,
            now: service_info.now(),
            note: Some("by its policy: auto"),
        };
        match proposals::apply(&service_info.db, &kept.id, deed).await {
            Ok(applied) => **kept = applied,
            Err(fault) => *remark = Some(format!("not applied: {}", fault.message())),
        }
    }
    Ok(())
}

fn told(made: &[Made], dry_run: bool) -> JsonReply {
    let count = |wanted: fn(&Made) -> bool| made.iter().filter(|it| wanted(it)).count();
    let failed = count(|it| matches!(it, Made::Failed(..)));
    let applied = count(|it| matches!(it, Made::Kept(kept, _) if kept.status == Status::Applied));
    let proposed = made.len() - failed;
    let results: Vec<Value> = made.iter().map(result).collect();
    let json = json!({ "ok": true, "dry_run": dry_run, "results": results, "proposed": proposed,
        "applied": applied, "failed": failed });
    let mut text = format!("{proposed} proposed, {applied} applied, {failed} failed");
    if dry_run {
        text.push_str("; a dry run: nothing was kept");
    }
    for it in made.iter().take(50) {
        text.push('\n');
        text.push_str(&match it {
            Made::Kept(kept, _) => wire::line(&kept.body),
            Made::Failed(sku, fault) => format!("{sku}: {}", fault.message()),
        });
    }
    if made.len() > 50 {
        text.push_str(&format!("\n… and {} more in the structured result", made.len() - 50));
    }
    JsonReply::new(json, text)
}

fn result(made: &Made) -> Value {
    match made {
        Made::Kept(kept, remark) => {
            let mut json = json!({ "sku": kept.sku, "ok": true, "status": kept.status.word(),
                "proposal": wire::proposal(&kept.id, &kept.body, kept.expires, kept.status) });
            if let Some(remark) = remark {
                json["message"] = Value::from(remark.as_str());
            }
            json
        }
        Made::Failed(sku, fault) => {
            json!({ "sku": sku, "ok": false, "error": fault.code(), "message": fault.message() })
        }
    }
}
