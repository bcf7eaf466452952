//! `remove_schedule`: ends a schedule; a collection that it started goes on.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::collector::Collector;
use crate::collector::schedule_reply::require_or_hide;
use crate::storage::schedules::{self, unknown_schedule};

#[derive(Deserialize)]
pub(crate) struct Args {
    schedule_id: String,
}

pub(crate) async fn call(cx: Cx<Collector>, args: Args) -> Result<JsonReply, Fault> {
    let db = &cx.service.db;
    require_or_hide(&cx.caller, &schedules::find(db, &args.schedule_id).await?)?;
    if !schedules::remove(db, &args.schedule_id).await? {
        return Err(unknown_schedule(&args.schedule_id));
    }
    let text = format!("The schedule {} was removed.", args.schedule_id)
        + &next_step("list_schedules", &json!({}));
    Ok(JsonReply::new(json!({ "ok": true, "schedule_id": args.schedule_id }), text))
}
