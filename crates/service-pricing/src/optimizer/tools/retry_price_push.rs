//! `retry_price_push`: pushes failed prices again, after their cause was removed.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::optimizer::Optimizer;
use crate::optimizer::paging::within_reach;
use crate::storage::pushes::{self, PushQuery};
use crate::storage::switch;

/// Pushes that one call queues.
const RETRIED_MAX: u32 = 500;

#[derive(Deserialize)]
pub(crate) struct Args {
    sku: Option<String>,
    target: Option<String>,
}

pub(crate) async fn call(cx: Cx<Optimizer>, args: Args) -> Result<JsonReply, Fault> {
    within_reach(&cx, args.sku.as_deref())?;
    let query = PushQuery {
        sku: args.sku.as_deref(),
        target: args.target.as_deref(),
        prefixes: cx.caller.sku_prefixes(),
        ..PushQuery::default()
    };
    let (db, outbox) = (&cx.service.db, &cx.service.outbox);
    let mut tx = db.begin().await?;
    switch::must_be_off(db, &mut tx).await?;
    let retried = pushes::retry_failed(&mut tx, query, cx.service.now(), RETRIED_MAX).await?;
    for push in &retried {
        outbox.enqueue(&mut tx, &push.target, &push.sku).await?;
    }
    tx.commit().await?;
    outbox.notify();
    let count = retried.len();
    let of = if count == 0 { json!({}) } else { json!({ "state": "pending" }) };
    let next = next_step("list_price_pushes", &of);
    let text = match count {
        0 => format!("No push has failed.{next}"),
        count => format!("{count} pushes are tried again.{next}"),
    };
    Ok(JsonReply::new(json!({ "ok": true, "retried": count }), text))
}
