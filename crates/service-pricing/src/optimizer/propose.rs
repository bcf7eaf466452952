//! `propose_price`, its old form `optimize_price`, and `propose_prices` for many at once.

use std::sync::Arc;

use clock::Millis;
use contract::{Caller, Cx, Scope};
use fault::{Fault, Kind};
use pricing_engine::{Ask, Mode, Proposal};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::optimizer::asking::{self, Asked};
use crate::optimizer::{Optimizer, wire};
use crate::storage::proposals::{self, Deed, Kept, Status};
use contract::JsonReply;

const NOT_KEPT: &str = "a dry run: this proposal was not kept and cannot be applied";
const MAY_NOT_APPLY: &str =
    "not applied, though the policy is auto: the token does not carry the scope apply";

pub(crate) async fn one(cx: Cx<Optimizer>, asked: Asked) -> Result<JsonReply, Fault> {
    let ask = asked.ask(cx.service.now())?;
    made(&cx, ask, None).await
}

#[derive(Deserialize)]
pub(crate) struct Old {
    payload: Map<String, Value>,
}

pub(crate) async fn legacy(cx: Cx<Optimizer>, old: Old) -> Result<JsonReply, Fault> {
    let read = pricing_engine::legacy::read(&old.payload, cx.service.now().0)?;
    let note = match read.ignored.as_slice() {
        [] => None,
        ignored => {
            Some(format!("Fields of the payload that mean nothing here: {}.", ignored.join(", ")))
        }
    };
    made(&cx, read.ask, note).await
}

async fn made(cx: &Cx<Optimizer>, ask: Ask, note: Option<String>) -> Result<JsonReply, Fault> {
    asking::within_reach(&cx.caller, &ask.sku)?;
    let service_info = &cx.service;
    let mut body = computed(service_info, ask).await?;
    body.reasoning.extend(note.into_iter().flat_map(|note| [" ".to_owned(), note]));
    let kept = Arc::new(service_info.kept(body, &cx.caller.subject)?);
    service_info.group_commit.keep(&service_info.db, &kept).await?;
    let text =
        format!("{}\n{}\nproposal_id {}", wire::line(&kept.body), kept.body.reasoning, kept.id);
    Ok(JsonReply::new(json!({ "ok": true, "proposal": wire::kept(&kept, kept.created) }), text))
}

async fn computed(service_info: &Optimizer, ask: Ask) -> Result<Proposal, Fault> {
    let case = asking::complete(&service_info.db, ask).await?;
    let mut body = pricing_engine::propose(&case.ask, &case.policy)?;
    if let Some(price) = case.other_price {
        body.reasoning.push_str(&format!(
            " The catalogue has {price}, not {}: applying will be refused until they agree.",
            body.current
        ));
    }
    Ok(body)
}

impl Optimizer {
    fn kept(&self, body: Proposal, by: &str) -> Result<Kept, Fault> {
        let now = self.now();
        Ok(Kept {
            id: self.ids.next(now),
            sku: body.sku.clone(),
            status: Status::Pending,
            current: body.current,
            proposed: body.price,
            by: by.to_owned(),
            created: now,
            expires: Millis(now.0.saturating_add(self.life_ms)),
            ended: None,
            body,
        })
    }
}

#[derive(Deserialize)]
pub(crate) struct Many {
    items: Vec<Asked>,
    dry_run: bool,
}

/// What became of one of many, with a remark where there is one.
enum Made {
    Kept(Box<Kept>, Option<String>),
    Failed(String, Fault),
}

pub(crate) async fn many(cx: Cx<Optimizer>, many: Many) -> Result<JsonReply, Fault> {
    let service_info = &cx.service;
    let total = many.items.len();
    let mut made = Vec::with_capacity(total);
    for (at, asked) in many.items.into_iter().enumerate() {
        if cx.cancel.is_cancelled() {
            let message = "the caller cancelled the request; nothing was kept";
            return Err(Fault::new(Kind::Cancelled, "cancelled", message));
        }
        let sku = asked.sku.clone();
        made.push(match considered(&cx, asked).await {
            Ok(kept) => Made::Kept(Box::new(kept), many.dry_run.then(|| NOT_KEPT.to_owned())),
            Err(fault) => Made::Failed(sku, fault),
        });
        cx.progress.report((at + 1) as f64, Some(total as f64), "proposing");
    }
    if !many.dry_run {
        keep_all(service_info, &cx.caller, &mut made).await?;
    }
    Ok(told(&made, many.dry_run))
}

async fn considered(cx: &Cx<Optimizer>, asked: Asked) -> Result<Kept, Fault> {
    asking::within_reach(&cx.caller, &asked.sku)?;
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
