//! `revert_proposal`: sets the price of an applied proposal back.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde_json::json;

use crate::optimizer::lifecycle::{ProposalArgs, find_reachable};
use crate::optimizer::{Optimizer, push_wire};
use crate::storage::proposals::{self, ChangeContext};

pub(crate) async fn call(cx: Cx<Optimizer>, args: ProposalArgs) -> Result<JsonReply, Fault> {
    find_reachable(&cx, &args).await?;
    let change = ChangeContext { by: &cx.caller.subject, now: cx.service.now(), note: None };
    let stored =
        proposals::revert(&cx.service.db, &cx.service.outbox, &args.proposal_id, change).await?;
    let pushes = push_wire::of_proposal(&cx.service, &stored).await?;
    let pushed = push_wire::sentence(&pushes);
    let message = format!("the price of {} was set back to {}{pushed}", stored.sku, stored.current);
    let mut reply = json!({ "proposal_id": stored.id, "status": "reverted", "message": message,
        "price": stored.current, "simulated": stored.body.simulated });
    reply["reverted_at"] = stored.ended.map(|at| at.to_rfc3339()).into();
    let next =
        next_step("propose_price", &json!({ "sku": stored.sku, "our_price": stored.current }));
    let next = next + &push_wire::next_steps(&stored.sku, &pushes);
    push_wire::add(&mut reply, &pushes);
    Ok(JsonReply::new(json!({ "ok": true, "result": reply }), message + &next))
}
