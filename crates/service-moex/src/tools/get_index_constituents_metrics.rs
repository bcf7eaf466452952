//! `get_index_constituents_metrics`: the constituents of an index with weights, prices and sectors.

use std::fmt::Write as _;

use contract::Cx;
use fault::Fault;
use market::{Constituent, Decimal, IndexConstituents, WithFreshness};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::reply::{ISS, MoexReply, figure, known_fields, number};
use crate::{Moex, arguments};

#[derive(Debug, Deserialize)]
pub(crate) struct Args {
    index_ticker: String,
    as_of_date: String,
}

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<MoexReply, Fault> {
    let date = arguments::date("as_of_date", &args.as_of_date)?;
    let WithFreshness { value: basket, freshness } = cx
        .service
        .exchange
        .constituents(&args.index_ticker, date)
        .await
        .map_err(name_date_argument)?;
    Ok(MoexReply {
        metadata: json!({
            "source": ISS,
            "index_ticker": basket.index,
            "as_of_date": date.to_string(),
        }),
        data: basket.constituents.iter().map(row).collect(),
        metrics: metrics(&basket),
        text: text(&basket),
        freshness: Some(freshness),
        ..MoexReply::default()
    })
}

/// Names the argument `as_of_date` in the venue's fault about a date without a basket.
fn name_date_argument(fault: Fault) -> Fault {
    let Some(problem) = fault.problems().first().filter(|_| fault.code() == "no_basket") else {
        return fault;
    };
    Fault::invalid("no_basket", fault.message()).problem("as_of_date", problem.expected.as_str())
}

fn row(it: &Constituent) -> Value {
    known_fields([
        ("ticker", Some(it.code.as_str().into())),
        ("name", it.name.as_deref().map(Value::from)),
        ("weight_pct", Some(number(it.weight_pct))),
        ("last_price", it.price.map(number)),
        ("price_change_pct", it.change_pct.map(number)),
        ("sector", it.sector.map(Value::from)),
    ])
}

fn metrics(basket: &IndexConstituents) -> Value {
    let mut weights: Vec<f64> =
        basket.constituents.iter().map(|it| it.weight_pct.to_f64()).collect();
    weights.sort_by(|a, b| b.total_cmp(a));
    known_fields([
        ("top5_weight_pct", figure(Some(weights.iter().take(5).sum()))),
        ("num_constituents", Some(basket.constituents.len().into())),
        ("effective_date", Some(basket.effective.to_string().into())),
        ("missing", (!basket.missing.is_empty()).then(|| json!(basket.missing))),
    ])
}

fn text(basket: &IndexConstituents) -> String {
    let mut text = format!(
        "{} on {}: {} constituents\n",
        basket.index,
        basket.effective,
        basket.constituents.len()
    );
    if basket.effective != basket.requested {
        _ = writeln!(
            text,
            "{} was no trading day; this is the last one before it",
            basket.requested
        );
    }
    text.push_str("ticker weight% price change% sector\n");
    let mut sorted: Vec<&Constituent> = basket.constituents.iter().collect();
    sorted.sort_by(|a, b| b.weight_pct.to_f64().total_cmp(&a.weight_pct.to_f64()));
    let or_dash =
        |value: Option<Decimal>| value.map_or_else(|| "-".to_owned(), |it| it.to_string());
    for it in sorted {
        let (price, change) = (or_dash(it.price), or_dash(it.change_pct));
        let sector = it.sector.unwrap_or("-");
        _ = writeln!(text, "{} {} {price} {change} {sector}", it.code, it.weight_pct);
    }
    text
}
