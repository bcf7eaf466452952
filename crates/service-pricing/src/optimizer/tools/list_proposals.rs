//! `list_proposals`: the proposals that the caller's credential reaches, newest first, by pages.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::optimizer::paging::{within_reach, wrong_cursor};
use crate::optimizer::{Optimizer, wire};
use crate::storage::proposals::{self, ProposalQuery, Status};

#[derive(Deserialize)]
pub(crate) struct Args {
    sku: Option<String>,
    status: Option<String>,
    limit: u32,
    cursor: Option<String>,
}

pub(crate) async fn call(cx: Cx<Optimizer>, args: Args) -> Result<JsonReply, Fault> {
    within_reach(&cx, args.sku.as_deref())?;
    if args.cursor.as_deref().is_some_and(|it| !proposals::is_id(it)) {
        return Err(wrong_cursor());
    }
    let now = cx.service.now();
    let search = ProposalQuery {
        sku: args.sku.as_deref(),
        status: args.status.as_deref().and_then(Status::parse),
        prefixes: cx.caller.sku_prefixes(),
        before: args.cursor.as_deref(),
        now,
    };
    // One proposal more than the page has, which shows whether there is a next page.
    let mut shown = proposals::page(&cx.service.db, search, args.limit + 1).await?;
    let more = shown.len() > args.limit as usize;
    shown.truncate(args.limit as usize);
    let lines: Vec<String> = shown
        .iter()
        .map(|stored| {
            format!("{} {} {}", stored.id, stored.status_at(now).word(), wire::line(&stored.body))
        })
        .collect();
    let list: Vec<Value> = shown.iter().map(|stored| wire::stored(stored, now)).collect();
    let next = shown.last().filter(|_| more).map(|stored| stored.id.as_str());
    let json = json!({ "ok": true, "count": list.len(), "proposals": list, "next_cursor": next });
    let mut text = if lines.is_empty() { "none".to_owned() } else { lines.join("\n") };
    if let Some(next) = next {
        let call = json!({ "sku": args.sku, "status": args.status, "limit": args.limit,
            "cursor": next });
        text.push_str(&next_step("list_proposals", &call));
    }
    Ok(JsonReply::new(json, text))
}
