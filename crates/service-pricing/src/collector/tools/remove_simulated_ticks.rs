//! `remove_simulated_ticks`: deletes simulated ticks of a market, of one product or of all.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::collector::Collector;
use crate::collector::names::{invalid, market_problem, require_sku_and_market};
use crate::storage::audit::{self, AuditEntry};
use crate::storage::ticks;

/// Ticks that one transaction removes; other writers get their turn between two of them.
const TICKS_PER_COMMIT: u32 = 5_000;

#[derive(Deserialize)]
pub(crate) struct Args {
    sku: Option<String>,
    market: String,
}

pub(crate) async fn call(cx: Cx<Collector>, args: Args) -> Result<JsonReply, Fault> {
    let Args { sku, market } = &args;
    match sku {
        Some(sku) => require_sku_and_market(&cx.caller, sku, market)?,
        None => {
            cx.caller.require_market(market)?;
            let problem = market_problem(market).map(|expected| ("market".to_owned(), expected));
            invalid("", problem.into_iter().collect())?;
        }
    }
    let mut removed = 0;
    loop {
        let count = remove_some(&cx, &args).await?;
        removed += count;
        cx.progress.report(removed as f64, None, "simulated ticks removed");
        if count < u64::from(TICKS_PER_COMMIT) {
            break;
        }
    }
    let of = sku.as_deref().unwrap_or("every product");
    let mut text = format!(
        "{removed} simulated ticks of {of} in {market} were removed. Proposals made from them stay, \
         marked simulated."
    );
    if let Some(sku) = sku {
        let args = json!({ "sku": sku, "market": market });
        text.push_str(&next_step("fetch_market_features", &args));
    }
    Ok(JsonReply::new(
        json!({ "ok": true, "removed": removed, "sku": sku, "market": market }),
        text,
    ))
}

/// Removes one batch and records it in the audit log, in one transaction.
async fn remove_some(cx: &Cx<Collector>, args: &Args) -> Result<u64, Fault> {
    let of = (args.sku.as_deref(), args.market.as_str());
    let mut tx = cx.service.db.begin().await?;
    let prefixes = cx.caller.sku_prefixes();
    let count = ticks::remove_simulated(&mut tx, of, prefixes, TICKS_PER_COMMIT).await?;
    if count > 0 {
        let sku = args.sku.as_deref().unwrap_or_default();
        let note = Some(format!("{count} simulated ticks of market {}", args.market));
        let (now, by) = (cx.service.now(), &*cx.caller.subject);
        let entry = AuditEntry::new(now, "simulated_ticks_removed", sku, by);
        audit::write(&mut tx, &AuditEntry { note, ..entry }).await?;
    }
    tx.commit().await?;
    Ok(count)
}
