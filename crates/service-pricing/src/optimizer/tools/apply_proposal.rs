//! `apply_proposal`: sets the product's price to the proposed one.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde_json::json;

use crate::optimizer::lifecycle::{ProposalArgs, find_reachable, reply_with_end};
use crate::optimizer::{Optimizer, push_wire, wire};
use crate::storage::proposals::{self, ChangeContext};

pub(crate) async fn call(cx: Cx<Optimizer>, args: ProposalArgs) -> Result<JsonReply, Fault> {
    find_reachable(&cx, &args).await?;
    let change = ChangeContext { by: &cx.caller.subject, now: cx.service.now(), note: None };
    let stored =
        proposals::apply(&cx.service.db, &cx.service.outbox, &args.proposal_id, change).await?;
    let pushes = push_wire::of_proposal(&cx.service, &stored).await?;
    let note = wire::simulated_note(&stored);
    let pushed = push_wire::sentence(&pushes);
    let message =
        format!("the price of {} was set to {}{note}{pushed}", stored.sku, stored.proposed);
    let next = next_step("revert_proposal", &json!({ "proposal_id": stored.id }));
    let next = next + &push_wire::next_steps(&stored.sku, &pushes);
    Ok(reply_with_end(&stored, "applied", message, &next, &pushes))
}
