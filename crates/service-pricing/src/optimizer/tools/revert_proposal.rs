//! `revert_proposal`: sets the price of an applied proposal back.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde_json::json;

use crate::optimizer::Optimizer;
use crate::optimizer::lifecycle::{Which, found};
use crate::storage::proposals::{self, Deed};

pub(crate) async fn call(cx: Cx<Optimizer>, which: Which) -> Result<JsonReply, Fault> {
    found(&cx, &which).await?;
    let deed = Deed { by: &cx.caller.subject, now: cx.service.now(), note: None };
    let kept = proposals::revert(&cx.service.db, &which.proposal_id, deed).await?;
    let message = format!("the price of {} was set back to {}", kept.sku, kept.current);
    let mut reply = json!({ "proposal_id": kept.id, "status": "reverted", "message": message,
        "price": kept.current });
    reply["reverted_at"] = kept.ended.map(|at| at.to_rfc3339()).into();
    Ok(JsonReply::new(json!({ "ok": true, "result": reply }), message))
}
