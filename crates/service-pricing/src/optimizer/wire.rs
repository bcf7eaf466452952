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
        "simulated": body.simulated,
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
    let mark = simulated_mark(body.simulated);
    format!("{sku}: {from} → {to} (margin {margin}, confidence {sure:.2}){mark}")
}

/// Ends a line about a price that simulated ticks took part in.
pub(crate) fn simulated_mark(simulated: bool) -> &'static str {
    if simulated { " [simulated]" } else { "" }
}

/// Ends a sentence about a price that was set from simulated ticks.
pub(crate) fn simulated_note(stored: &StoredProposal) -> &'static str {
    if stored.body.simulated { "; simulated prices took part in it" } else { "" }
}
