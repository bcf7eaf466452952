//! `explain_proposal`: shows the factors, the guardrails and the evidence behind a stored proposal.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde_json::{Value, json};

use crate::optimizer::lifecycle::{ProposalArgs, find_reachable};
use crate::optimizer::{Optimizer, wire};

pub(crate) async fn call(cx: Cx<Optimizer>, args: ProposalArgs) -> Result<JsonReply, Fault> {
    let stored = find_reachable(&cx, &args).await?;
    let body = &stored.body;
    let factors: Vec<Value> = body.factors.iter().map(wire::factor).collect();
    let json = json!({ "ok": true, "explanation": {
        "proposal_id": stored.id,
        "reasoning": body.reasoning,
        "factors": factors,
        "algorithm": format!("{} (rules {})", body.algorithm, body.rules),
        "generated_at": stored.created.to_rfc3339(),
        "sku": stored.sku,
        "status": stored.status_at(cx.service.now()).word(),
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
        "simulated": body.simulated,
    } });
    let mut text = format!("{}\n{}\n{} now", wire::line(body), body.reasoning, body.current);
    for step in &body.factors {
        let effect = step.effect.signed();
        text.push_str(&format!("\n{effect} {} ({}) → {}", step.name, step.input, step.price_after));
    }
    Ok(JsonReply::new(json, text))
}
