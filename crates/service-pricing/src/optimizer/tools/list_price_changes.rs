//! `list_price_changes`: the audit log of price changes, newest first, by pages, limited to the
//! products that the caller's credential reaches.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::optimizer::paging::{within_reach, wrong_cursor};
use crate::optimizer::{Optimizer, wire};
use crate::storage::audit;

#[derive(Deserialize)]
pub(crate) struct Args {
    sku: Option<String>,
    limit: u32,
    cursor: Option<String>,
}

pub(crate) async fn call(cx: Cx<Optimizer>, args: Args) -> Result<JsonReply, Fault> {
    within_reach(&cx, args.sku.as_deref())?;
    let start = args.cursor.as_deref().map(str::parse::<i64>).transpose();
    let start = start.map_err(|_| wrong_cursor())?.unwrap_or(i64::MAX);
    let of = (args.sku.as_deref(), cx.caller.sku_prefixes());
    let mut shown = audit::page(&cx.service.db, of, start, args.limit + 1).await?;
    let more = shown.len() > args.limit as usize;
    shown.truncate(args.limit as usize);
    let next = shown.last().filter(|_| more).map(|(number, _)| number.to_string());
    let list: Vec<Value> = shown.iter().map(|(_, entry)| change(entry)).collect();
    let text: Vec<String> = shown.iter().map(|(_, entry)| line(entry)).collect();
    let mut text = if text.is_empty() { "none".to_owned() } else { text.join("\n") };
    if let Some(next) = &next {
        let call = json!({ "sku": args.sku, "limit": args.limit, "cursor": next });
        text.push_str(&next_step("list_price_changes", &call));
    }
    Ok(JsonReply::new(json!({ "ok": true, "changes": list, "next_cursor": next }), text))
}

fn line(entry: &audit::AuditEntry) -> String {
    let mut line = format!("{} {}", entry.at.to_rfc3339(), entry.action);
    if !entry.sku.is_empty() {
        line.push_str(&format!(" {}", entry.sku));
    }
    if let (Some(from), Some(to)) = (entry.from, entry.to) {
        line.push_str(&format!(" {from} → {to}"));
    }
    line.push_str(&format!(" by {}", entry.by));
    if let Some(note) = &entry.note {
        line.push_str(&format!(" ({note})"));
    }
    line + wire::simulated_mark(entry.simulated)
}

fn change(entry: &audit::AuditEntry) -> Value {
    json!({
        "at": entry.at.to_rfc3339(),
        "action": entry.action,
        "sku": entry.sku,
        "proposal_id": entry.proposal,
        "by": entry.by,
        "from_price": entry.from,
        "to_price": entry.to,
        "note": entry.note,
        "simulated": entry.simulated,
    })
}
