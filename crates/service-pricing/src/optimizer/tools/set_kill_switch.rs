//! `set_kill_switch`: stops every price change, or allows them again.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::optimizer::Optimizer;
use crate::optimizer::pricing_input;
use crate::storage::audit::{self, AuditEntry};
use crate::storage::switch::{self, Switch};

/// Pushes that are queued at once when the switch is turned off; the others follow.
const PENDING_MAX: u32 = 500;

#[derive(Deserialize)]
pub(crate) struct Args {
    on: bool,
    reason: Option<String>,
}

pub(crate) async fn call(cx: Cx<Optimizer>, args: Args) -> Result<JsonReply, Fault> {
    pricing_input::reaches_all(&cx.caller)?;
    let (by, now) = (&*cx.caller.subject, cx.service.now());
    let switch = Switch { on: args.on, reason: args.reason, since: now, by: by.to_owned() };
    let mut tx = cx.service.db.begin().await?;
    switch::set(&mut tx, &switch).await?;
    let word = if switch.on { "on" } else { "off" };
    let note = Some(match &switch.reason {
        Some(reason) => format!("{word}: {reason}"),
        None => word.to_owned(),
    });
    audit::write(&mut tx, &AuditEntry { note, ..AuditEntry::new(now, "kill_switch", "", by) })
        .await?;
    tx.commit().await?;
    if !switch.on {
        cx.service.outbox.enqueue_pending(&cx.service.db, "", PENDING_MAX).await?;
    }
    let text = match switch.on {
        true => {
            let next = next_step("set_kill_switch", &json!({ "on": false }));
            format!(
                "Price changes and pushes to shops are stopped until they are allowed again.{next}"
            )
        }
        false => {
            let next = next_step("list_proposals", &json!({ "status": "pending" }));
            format!("Price changes are allowed.{next}")
        }
    };
    Ok(JsonReply::new(json!({ "ok": true, "on": switch.on, "since": now.to_rfc3339() }), text))
}
