//! Proposals and the trail of changes, newest first, page by page. Who may see only some products
//! sees only those.

use contract::Cx;
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::books::audit;
use crate::books::proposals::{self, Status};
use crate::optimizer::{Optimizer, wire};
use crate::said::Said;

/// How many pages are read to fill one for a caller who may see few of the rows.
const PAGES_MAX: usize = 20;

#[derive(Deserialize)]
pub(crate) struct Wanted {
    sku: Option<String>,
    status: Option<String>,
    limit: u32,
    cursor: Option<String>,
}

pub(crate) async fn proposals(cx: Cx<Optimizer>, wanted: Wanted) -> Result<Said, Fault> {
    if let Some(sku) = &wanted.sku {
        cx.caller.reaches_sku(sku)?;
    }
    let now = cx.service.now();
    let filter = (wanted.sku.as_deref(), wanted.status.as_deref().and_then(Status::parse));
    let (mut shown, mut before, mut more) = (Vec::new(), wanted.cursor, true);
    for _ in 0..PAGES_MAX {
        let page =
            proposals::page(&cx.service.db, filter, before.as_deref(), (now, wanted.limit)).await?;
        more = page.len() == wanted.limit as usize;
        for kept in page {
            if shown.len() == wanted.limit as usize {
                more = true;
                break;
            }
            before = Some(kept.id.clone());
            if cx.caller.reaches_sku(&kept.sku).is_ok() {
                shown.push(kept);
            }
        }
        if !more || shown.len() == wanted.limit as usize {
            break;
        }
    }
    let lines: Vec<String> = shown
        .iter()
        .map(|kept| {
            format!("{} {} {}", kept.id, kept.status_at(now).word(), wire::line(&kept.body))
        })
        .collect();
    let list: Vec<Value> = shown.iter().map(|kept| wire::kept(kept, now)).collect();
    let next = before.filter(|_| more);
    let json = json!({ "ok": true, "count": list.len(), "proposals": list, "next_cursor": next });
    Ok(Said::new(json, if lines.is_empty() { "none".to_owned() } else { lines.join("\n") }))
}

#[derive(Deserialize)]
pub(crate) struct Trail {
    sku: Option<String>,
    limit: u32,
    cursor: Option<String>,
}

pub(crate) async fn changes(cx: Cx<Optimizer>, trail: Trail) -> Result<Said, Fault> {
    if let Some(sku) = &trail.sku {
        cx.caller.reaches_sku(sku)?;
    }
    let start = trail.cursor.as_deref().map(str::parse::<i64>).transpose();
    let start = start.map_err(|_| {
        Fault::invalid("invalid_input", "cursor: expected the next_cursor of an earlier answer")
            .problem("cursor", "the next_cursor of an earlier answer")
    })?;
    let (mut shown, mut before, mut more) = (Vec::new(), start.unwrap_or(i64::MAX), true);
    for _ in 0..PAGES_MAX {
        let page = audit::page(&cx.service.db, trail.sku.as_deref(), before, trail.limit).await?;
        more = page.len() == trail.limit as usize;
        for (number, entry) in page {
            if shown.len() == trail.limit as usize {
                more = true;
                break;
            }
            before = number;
            if cx.caller.reaches_sku(&entry.sku).is_ok() {
                shown.push(entry);
            }
        }
        if !more || shown.len() == trail.limit as usize {
            break;
        }
    }
    let list: Vec<Value> = shown.iter().map(change).collect();
    let next = more.then(|| before.to_string());
    let text: Vec<String> = shown
        .iter()
        .map(|it| format!("{} {} {} by {}", it.at.to_rfc3339(), it.action, it.sku, it.by))
        .collect();
    let text = if text.is_empty() { "none".to_owned() } else { text.join("\n") };
    Ok(Said::new(json!({ "ok": true, "changes": list, "next_cursor": next }), text))
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
