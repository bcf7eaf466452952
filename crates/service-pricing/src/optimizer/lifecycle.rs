//! What the tools that act on one stored proposal share: its argument, its lookup and its reply.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::optimizer::Optimizer;
use crate::optimizer::pricing_input::MARKET;
use crate::storage::proposals::{self, Kept};

#[derive(Deserialize)]
pub(crate) struct Which {
    pub(crate) proposal_id: String,
}

/// Finds a proposal that the caller's credential reaches.
pub(crate) async fn found(cx: &Cx<Optimizer>, which: &Which) -> Result<Kept, Fault> {
    cx.caller.require_market(MARKET)?;
    let kept = proposals::find(&cx.service.db, &which.proposal_id).await?;
    cx.caller.require_sku(&kept.sku)?;
    Ok(kept)
}

pub(crate) fn done(kept: &Kept, status: &str, message: String) -> JsonReply {
    let mut result =
        json!({ "proposal_id": kept.id, "status": status, "message": message, "sku": kept.sku });
    result[format!("{status}_at")] = kept.ended.map(|at| at.to_rfc3339()).into();
    JsonReply::new(json!({ "ok": true, "result": result }), message)
}
