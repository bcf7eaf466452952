//! How the proposing tools compute a proposal, prepare its stored form and, for a single one, store
//! it and reply.

use std::sync::Arc;

use clock::Millis;
use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use pricing_engine::{PricingInput, Proposal};
use serde_json::json;

use crate::optimizer::pricing_input;
use crate::optimizer::{Optimizer, wire};
use crate::storage::proposals::{Status, StoredProposal};

pub(crate) async fn propose_and_reply(
    cx: &Cx<Optimizer>,
    input: PricingInput,
    note: Option<String>,
) -> Result<JsonReply, Fault> {
    pricing_input::within_reach(&cx.caller, &input.sku)?;
    let optimizer = &cx.service;
    let mut body = compute_proposal(optimizer, input).await?;
    body.reasoning.extend(note.into_iter().flat_map(|note| [" ".to_owned(), note]));
    let stored = Arc::new(optimizer.to_stored(body, &cx.caller.subject)?);
    let Optimizer { db, outbox, proposal_writer, .. } = &**optimizer;
    proposal_writer.store(db, outbox, &stored).await?;
    let id = json!({ "proposal_id": stored.id });
    let text = format!(
        "{}\n{}\nproposal_id {}{}\n  or: apply_proposal {id}",
        wire::line(&stored.body),
        stored.body.reasoning,
        stored.id,
        next_step("explain_proposal", &id),
    );
    Ok(JsonReply::new(
        json!({ "ok": true, "proposal": wire::stored(&stored, stored.created) }),
        text,
    ))
}

pub(crate) async fn compute_proposal(
    optimizer: &Optimizer,
    input: PricingInput,
) -> Result<Proposal, Fault> {
    let case = pricing_input::complete(&optimizer.db, input).await?;
    let mut body = pricing_engine::propose(&case.input, &case.policy)?;
    if let Some(price) = case.other_price {
        body.reasoning.push_str(&format!(
            " The catalogue has {price}, not {}: applying will be refused until they agree.",
            body.current
        ));
    }
    Ok(body)
}

impl Optimizer {
    pub(crate) fn to_stored(&self, body: Proposal, by: &str) -> Result<StoredProposal, Fault> {
        let now = self.now();
        Ok(StoredProposal {
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
