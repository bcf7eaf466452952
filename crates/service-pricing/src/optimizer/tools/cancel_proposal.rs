//! `cancel_proposal`: withdraws a pending proposal without touching the price.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde_json::json;

use crate::optimizer::Optimizer;
use crate::optimizer::lifecycle::{ProposalArgs, find_reachable, reply_with_end};
use crate::storage::proposals::{self, ChangeContext};

pub(crate) async fn call(cx: Cx<Optimizer>, args: ProposalArgs) -> Result<JsonReply, Fault> {
    find_reachable(&cx, &args).await?;
    let change = ChangeContext { by: &cx.caller.subject, now: cx.service.now(), note: None };
    let stored = proposals::cancel(&cx.service.db, &args.proposal_id, change).await?;
    let message =
        format!("the proposal for {} was taken back; its price was not touched", stored.sku);
    let next =
        next_step("propose_price", &json!({ "sku": stored.sku, "our_price": stored.current }));
    Ok(reply_with_end(&stored, "cancelled", message, &next, &[]))
}
