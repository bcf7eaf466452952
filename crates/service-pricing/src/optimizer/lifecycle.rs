//! What becomes of a proposal: explained, applied, cancelled, reverted.

use contract::Cx;
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::optimizer::asking::MARKET;
use crate::optimizer::{Optimizer, wire};
use crate::storage::proposals::{self, Deed, Kept};
use contract::JsonReply;

#[derive(Deserialize)]
pub(crate) struct Which {
    proposal_id: String,
}

/// Finds a proposal that the caller's credential reaches.
async fn found(cx: &Cx<Optimizer>, which: &Which) -> Result<Kept, Fault> {
    cx.caller.require_market(MARKET)?;
    let kept = proposals::find(&cx.service.db, &which.proposal_id).await?;
    cx.caller.require_sku(&kept.sku)?;
    Ok(kept)
}

pub(crate) async fn explain(cx: Cx<Optimizer>, which: Which) -> Result<JsonReply, Fault> {
    let kept = found(&cx, &which).await?;
    let body = &kept.body;
    let factors: Vec<Value> = body.factors.iter().map(wire::factor).collect();
    let json = json!({ "ok": true, "explanation": {
        "proposal_id": kept.id,
        "reasoning": body.reasoning,
        "factors": factors,
        "algorithm": format!("{} (rules {})", body.algorithm, body.rules),
        "generated_at": kept.created.to_rfc3339(),
        "sku": kept.sku,
        "status": kept.status_at(cx.service.now()).word(),
        "current_price": body.current,
        "proposed_price": body.price,
        "best_price": body.best,
        "aim": body.aim,
        "confidence": body.confidence,
        "elasticity": body.elasticity,
        "outlook": body.outlook,
        "market": body.market,
        "guardrails": body.acted.iter().map(wire::act).collect::<Vec<_>>(),
        "review_because": body.review_because,
    } });
    let mut text = format!("{}\n{}\n{} now", wire::line(body), body.reasoning, body.current);
    for step in &body.factors {
        let effect = step.effect.signed();
        text.push_str(&format!("\n{effect} {} ({}) → {}", step.name, step.input, step.price_after));
    }
    Ok(JsonReply::new(json, text))
}

pub(crate) async fn apply(cx: Cx<Optimizer>, which: Which) -> Result<JsonReply, Fault> {
    found(&cx, &which).await?;
    let deed = Deed { by: &cx.caller.subject, now: cx.service.now(), note: None };
    let kept = proposals::apply(&cx.service.db, &which.proposal_id, deed).await?;
    let message = format!("the price of {} was set to {}", kept.sku, kept.proposed);
    Ok(done(&kept, "applied", message))
}

pub(crate) async fn cancel(cx: Cx<Optimizer>, which: Which) -> Result<JsonReply, Fault> {
    found(&cx, &which).await?;
    let deed = Deed { by: &cx.caller.subject, now: cx.service.now(), note: None };
    let kept = proposals::cancel(&cx.service.db, &which.proposal_id, deed).await?;
    let message =
        format!("the proposal for {} was taken back; its price was not touched", kept.sku);
    Ok(done(&kept, "cancelled", message))
}

pub(crate) async fn revert(cx: Cx<Optimizer>, which: Which) -> Result<JsonReply, Fault> {
    found(&cx, &which).await?;
    let deed = Deed { by: &cx.caller.subject, now: cx.service.now(), note: None };
    let kept = proposals::revert(&cx.service.db, &which.proposal_id, deed).await?;
    let message = format!("the price of {} was set back to {}", kept.sku, kept.current);
    let mut reply = json!({ "proposal_id": kept.id, "status": "reverted", "message": message,
        "price": kept.current });
    reply["reverted_at"] = kept.ended.map(|at| at.to_rfc3339()).into();
    Ok(JsonReply::new(json!({ "ok": true, "result": reply }), message))
}

fn done(kept: &Kept, status: &str, message: String) -> JsonReply {
    let mut result =
        json!({ "proposal_id": kept.id, "status": status, "message": message, "sku": kept.sku });
    result[format!("{status}_at")] = kept.ended.map(|at| at.to_rfc3339()).into();
    JsonReply::new(json!({ "ok": true, "result": result }), message)
}
