//! `apply_proposal`: sets the product's price to the proposed one.

use contract::{Cx, JsonReply};
use fault::Fault;

use crate::optimizer::Optimizer;
use crate::optimizer::lifecycle::{Which, done, found};
use crate::storage::proposals::{self, Deed};

pub(crate) async fn call(cx: Cx<Optimizer>, which: Which) -> Result<JsonReply, Fault> {
    found(&cx, &which).await?;
    let deed = Deed { by: &cx.caller.subject, now: cx.service.now(), note: None };
    let kept = proposals::apply(&cx.service.db, &which.proposal_id, deed).await?;
    let message = format!("the price of {} was set to {}", kept.sku, kept.proposed);
    Ok(done(&kept, "applied", message))
}
