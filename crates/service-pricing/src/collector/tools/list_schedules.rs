//! `list_schedules`: the schedules that the caller's credential reaches.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde_json::json;

use crate::collector::Collector;
use crate::collector::schedule_reply::{line, require_or_hide, schedule_json};
use crate::storage::schedules::{self, Schedule};
use crate::tools::NoArgs;

pub(crate) async fn call(cx: Cx<Collector>, _: NoArgs) -> Result<JsonReply, Fault> {
    let mut found = schedules::all(&cx.service.db).await?;
    found.retain(|it: &Schedule| require_or_hide(&cx.caller, it).is_ok());
    let lines: Vec<String> = found.iter().take(100).map(line).collect();
    let text = if lines.is_empty() { "none".to_owned() } else { lines.join("\n") };
    let list: Vec<_> = found.iter().map(schedule_json).collect();
    Ok(JsonReply::new(json!({ "ok": true, "count": list.len(), "schedules": list }), text))
}
