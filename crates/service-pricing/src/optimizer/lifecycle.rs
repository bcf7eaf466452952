//! What the tools that act on one stored proposal share: its argument, its lookup and its reply.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::optimizer::pricing_input::MARKET;
use crate::optimizer::{Optimizer, push_wire};
use crate::storage::proposals::{self, StoredProposal};
use crate::storage::pushes::Push;

#[derive(Deserialize)]
pub(crate) struct ProposalArgs {
    pub(crate) proposal_id: String,
}

/// Finds a proposal that the caller's credential reaches.
pub(crate) async fn find_reachable(
    cx: &Cx<Optimizer>,
    args: &ProposalArgs,
) -> Result<StoredProposal, Fault> {
    cx.caller.require_market(MARKET)?;
    let stored = proposals::find(&cx.service.db, &args.proposal_id).await?;
    cx.caller.require_sku(&stored.sku)?;
    Ok(stored)
}

/// The reply of a tool that ends a proposal's state; `next` names the call that usually follows.
pub(crate) fn reply_with_end(
    stored: &StoredProposal,
    status: &str,
    message: String,
    next: &str,
    pushes: &[Push],
) -> JsonReply {
    let mut result = json!({ "proposal_id": stored.id, "status": status, "message": message,
        "sku": stored.sku, "simulated": stored.body.simulated });
    result[format!("{status}_at")] = stored.ended.map(|at| at.to_rfc3339()).into();
    push_wire::add(&mut result, pushes);
    JsonReply::new(json!({ "ok": true, "result": result }), message + next)
}
