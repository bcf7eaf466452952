//! Proposals and the trail of changes, newest first, page by page. Who may see only some products
//! sees only those.

use contract::Cx;
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::optimizer::asking::{self, MARKET};
use crate::optimizer::{Optimizer, wire};
use crate::storage::audit;
use crate::storage::proposals::{self, Search, Status};
use contract::JsonReply;

#[derive(Deserialize)]
pub(crate) struct Wanted {
    sku: Option<String>,
    status: Option<String>,
    limit: u32,
    cursor: Option<String>,
}

pub(crate) async fn proposals(cx: Cx<Optimizer>, wanted: Wanted) -> Result<JsonReply, Fault> {
    within_reach(&cx, wanted.sku.as_deref())?;
    if wanted.cursor.as_deref().is_some_and(|it| !proposals::is_id(it)) {
        return Err(wrong_cursor());
    }
    let now = cx.service.now();
    let search = Search {
        sku: wanted.sku.as_deref(),
        status: wanted.status.as_deref().and_then(Status::parse),
        prefixes: cx.caller.sku_prefixes(),
        before: wanted.cursor.as_deref(),
        now,
    };
    // One more than is shown, to know whether there are more.
    let mut shown = proposals::page(&cx.service.db, search, wanted.limit + 1).await?;
    let more = shown.len() > wanted.limit as usize;
    shown.truncate(wanted.limit as usize);
    let lines: Vec<String> = shown
        .iter()
        .map(|kept| {
            format!("{} {} {}", kept.id, kept.status_at(now).word(), wire::line(&kept.body))
        })
        .collect();
    let list: Vec<Value> = shown.iter().map(|kept| wire::kept(kept, now)).collect();
    let next = shown.last().filter(|_| more).map(|kept| kept.id.as_str());
    let json = json!({ "ok": true, "count": list.len(), "proposals": list, "next_cursor": next });
    Ok(JsonReply::new(json, if lines.is_empty() { "none".to_owned() } else { lines.join("\n") }))
}

#[derive(Deserialize)]
pub(crate) struct Trail {
    sku: Option<String>,
    limit: u32,
    cursor: Option<String>,
}

pub(crate) async fn changes(cx: Cx<Optimizer>, trail: Trail) -> Result<JsonReply, Fault> {
    within_reach(&cx, trail.sku.as_deref())?;
    let start = trail.cursor.as_deref().map(str::parse::<i64>).transpose();
    let start = start.map_err(|_| wrong_cursor())?.unwrap_or(i64::MAX);
    let of = (trail.sku.as_deref(), cx.caller.sku_prefixes());
    let mut shown = audit::page(&cx.service.db, of, start, trail.limit + 1).await?;
    let more = shown.len() > trail.limit as usize;
    shown.truncate(trail.limit as usize);
    let next = shown.last().filter(|_| more).map(|(number, _)| number.to_string());
    let list: Vec<Value> = shown.iter().map(|(_, entry)| change(entry)).collect();
    let text: Vec<String> = shown
        .iter()
        .map(|(_, it)| format!("{} {} {} by {}", it.at.to_rfc3339(), it.action, it.sku, it.by))
        .collect();
    let text = if text.is_empty() { "none".to_owned() } else { text.join("\n") };
    Ok(JsonReply::new(json!({ "ok": true, "changes": list, "next_cursor": next }), text))
}

fn change(entry: &audit::Entry) -> Value {
    json!({
        "at": entry.at.to_rfc3339(),
        "action": entry.action,
        "sku": entry.sku,
        "proposal_id": entry.proposal,
        "by": entry.by,
        "from_price": entry.from,
        "to_price": entry.to,
        "note": entry.note,
    })
}

fn within_reach(cx: &Cx<Optimizer>, sku: Option<&str>) -> Result<(), Fault> {
    match sku {
        Some(sku) => asking::within_reach(&cx.caller, sku),
        None => cx.caller.require_market(MARKET),
    }
}

fn wrong_cursor() -> Fault {
    let expected = "the next_cursor of an earlier answer";
    Fault::invalid("invalid_input", format!("cursor: expected {expected}"))
        .problem("cursor", expected)
}
