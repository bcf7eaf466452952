//! `price_feed`: the prices that proposals have set, as CSV, by pages of the audit log.

use std::io;

use bytes::Bytes;
use clock::Millis;
use contract::{Cx, Download};
use fault::Fault;
use futures_util::stream;
use pricing_engine::Amount;
use serde::Deserialize;
use store::Db;

use crate::optimizer::Optimizer;
use crate::optimizer::pricing_input::MARKET;
use crate::storage::audit::{self, LastChange};

/// One chunk of the feed has this many products.
const PRODUCTS_PER_CHUNK: u32 = 500;
const COLUMNS: [&str; 8] = [
    "sku",
    "price",
    "currency",
    "previous_price",
    "changed_at",
    "action",
    "proposal_id",
    "simulated",
];

#[derive(Deserialize)]
pub(crate) struct Args {
    since: Option<String>,
}

/// The position of the feed: before the first product, or after the last SKU that was sent.
struct FeedCursor {
    db: Db,
    prefixes: Option<Vec<String>>,
    since: Millis,
    /// `None` after the last page.
    after: Option<String>,
    is_first: bool,
}

pub(crate) async fn call(cx: Cx<Optimizer>, args: Args) -> Result<Download, Fault> {
    cx.caller.require_market(MARKET)?;
    // The schema has checked the form of the time.
    let since = args.since.and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let cursor = FeedCursor {
        db: cx.service.db.clone(),
        prefixes: cx.caller.sku_prefixes().map(<[String]>::to_vec),
        since: Millis(since.map_or(i64::MIN, |it| it.as_millisecond())),
        after: Some(String::new()),
        is_first: true,
    };
    let body = stream::try_unfold(cursor, |cursor| async move {
        next_page(cursor).await.map_err(io::Error::other)
    });
    Ok(Download::new("text/csv; charset=utf-8", body).named("prices.csv"))
}

async fn next_page(mut cursor: FeedCursor) -> Result<Option<(Bytes, FeedCursor)>, Fault> {
    let Some(after) = cursor.after.take() else { return Ok(None) };
    let prefixes = cursor.prefixes.as_deref();
    let changes = audit::last_changes(&cursor.db, &after, prefixes, PRODUCTS_PER_CHUNK).await?;
    let last = changes.last().filter(|_| changes.len() == PRODUCTS_PER_CHUNK as usize);
    cursor.after = last.map(|it| it.sku.clone());
    let mut writer = csv::Writer::from_writer(Vec::new());
    if std::mem::take(&mut cursor.is_first) {
        writer.write_record(COLUMNS).map_err(Fault::internal)?;
    }
    for change in changes.iter().filter(|it| it.at >= cursor.since) {
        writer.write_record(record(change)).map_err(Fault::internal)?;
    }
    let chunk = writer.into_inner().map_err(|error| Fault::internal(error.to_string()))?;
    Ok(Some((Bytes::from(chunk), cursor)))
}

fn record(it: &LastChange) -> [String; 8] {
    let money = |amount: Option<Amount>| amount.map(|it| it.to_string()).unwrap_or_default();
    [
        it.sku.clone(),
        money(it.price),
        it.currency.clone().unwrap_or_default(),
        money(it.previous),
        it.at.to_rfc3339(),
        it.action.clone(),
        it.proposal.clone().unwrap_or_default(),
        it.simulated.to_string(),
    ]
}
