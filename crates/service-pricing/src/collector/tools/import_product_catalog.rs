//! `import_product_catalog`: writes rows into the catalogue and replies with the problems of the
//! rows that it refused.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::collector::Collector;
use crate::collector::catalogue::{ROWS_MAX, import};
use crate::collector::names::{MARKET, invalid};

/// The most problems that the text lists.
const PROBLEMS_SHOWN: usize = 5;

#[derive(Deserialize)]
pub(crate) struct Args {
    rows: Vec<Map<String, Value>>,
}

pub(crate) async fn call(cx: Cx<Collector>, args: Args) -> Result<JsonReply, Fault> {
    let count = args.rows.len();
    if count > ROWS_MAX {
        let problem = ("rows".to_owned(), format!("at most {ROWS_MAX} rows"));
        return invalid("", vec![problem]).map(|()| JsonReply::new(Value::Null, ""));
    }
    // One row beyond the token's limits refuses the whole import. Prices of the market DEFAULT are
    // computed from the catalogue, so the token must reach that market.
    cx.caller.require_market(MARKET)?;
    let first = args.rows.first().and_then(|row| row.get("sku")).cloned();
    for sku in args.rows.iter().filter_map(|row| row.get("sku")?.as_str()) {
        cx.caller.require_sku(sku)?;
    }
    let service = &cx.service;
    let rows = args.rows.into_iter().enumerate();
    let imported = import(&service.db, rows, service.now(), service.private, |done| {
        cx.progress.report(done as f64, Some(count as f64), "products written");
    });
    let imported = imported.await?;
    if imported.good == 0 && count > 0 {
        let each = imported.problems.into_iter().take(8);
        let fault = Fault::invalid("no_valid_products", "not one of the rows is a product");
        let add = |fault: Fault, (row, field, expected): (usize, String, String)| {
            fault.problem(format!("rows[{row}].{field}"), expected)
        };
        return Err(each.fold(fault, add));
    }
    let problems: Vec<Value> = imported
        .problems
        .iter()
        .map(|(row, field, expected)| json!({ "row": row, "field": field, "expected": expected }))
        .collect();
    let json = json!({ "ok": true, "count": imported.products, "processed": imported.good,
        "total_input": imported.rows, "rejected": imported.refused(), "problems": problems });
    let mut text = format!(
        "{} products from {} rows; {} rows refused",
        imported.products,
        imported.rows,
        imported.refused()
    );
    for (row, field, expected) in imported.problems.iter().take(PROBLEMS_SHOWN) {
        text.push_str(&format!("\nrow {row}: {field}: expected {expected}"));
    }
    if let Some(sku) = first {
        text.push_str(&next_step("start_collection", &json!({ "sku": sku })));
    }
    Ok(JsonReply::new(json, text))
}
