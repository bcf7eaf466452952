//! `cancel_proposal`: withdraws a pending proposal without touching the price.

use contract::{Cx, JsonReply};
use fault::Fault;

use crate::optimizer::Optimizer;
use crate::optimizer::lifecycle::{Which, done, found};
use crate::storage::proposals::{self, Deed};

pub(crate) async fn call(cx: Cx<Optimizer>, which: Which) -> Result<JsonReply, Fault> {
    found(&cx, &which).await?;
    let deed = Deed { by: &cx.caller.subject, now: cx.service.now(), note: None };
    let kept = proposals::cancel(&cx.service.db, &which.proposal_id, deed).await?;
    let message =
        format!("the proposal for {} was taken back; its price was not touched", kept.sku);
    Ok(done(&kept, "cancelled", message))
}
