//! Proposals as the contract shows them.

use clock::Millis;
use pricing_engine::{Factor, GuardrailAct, Proposal};
use serde_json::{Value, json};

use crate::storage::proposals::{Status, StoredProposal};

pub(crate) fn stored(stored: &StoredProposal, now: Millis) -> Value {
    proposal(&stored.id, &stored.body, stored.expires, stored.status_at(now))
}

pub(crate) fn proposal(id: &str, body: &Proposal, expires: Millis, status: Status) -> Value {
    json!({
        "proposal_id": id,
        "sku": body.sku,
        "current_price": body.current,
        "proposed_price": body.price,
        "expected_margin": body.expected_margin,
        "confidence": body.confidence.value,
        "reasoning": body.reasoning,
        "expires_at": expires.to_rfc3339(),
        "inputs": body.inputs,
        "status": status.word(),
        "mode": body.mode,
        "guardrails": body.acted.iter().map(act).collect::<Vec<_>>(),
    })
}

pub(crate) fn act(act: &GuardrailAct) -> Value {
    json!({ "name": act.name, "before": act.before, "after": act.after, "why": act.why })
}

/// One step of the waterfall.
pub(crate) fn factor(factor: &Factor) -> Value {
    json!({
        "name": factor.name,
        "input": factor.input,
        "age_minutes": factor.age_ms.map(|age| age / 60_000),
        "effect": factor.effect,
        "price_after": factor.price_after,
        "rule": factor.rule,
    })
}

/// A proposal in one line.
pub(crate) fn line(body: &Proposal) -> String {
    let margin = match body.inputs.cost {
        Some(_) => format!("{:.1}%", body.expected_margin * 100.0),
        None => "unknown".to_owned(),
    };
    let sure = body.confidence.value;
    let (sku, from, to) = (&body.sku, body.current, body.price);
    format!("{sku}: {from} → {to} (margin {margin}, confidence {sure:.2})")
}
