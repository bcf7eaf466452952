//! `compute_correlation_matrix`: the correlations of daily returns of securities.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use contract::Cx;
use fault::Fault;
use futures_util::future::try_join_all;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::figures::mean;
use crate::figures::risk::{Returns, correlation};
use crate::prices::SecurityCloses;
use crate::reply::{MoexReply, figure, known_fields, source};
use crate::{Moex, arguments, prices};

/// The fewest common days of which correlations are computed.
const DAYS_MIN: usize = 3;

#[derive(Debug, Deserialize)]
pub(crate) struct Args {
    tickers: Vec<String>,
    from_date: String,
    to_date: String,
}

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<MoexReply, Fault> {
    let period = arguments::period(&args.from_date, &args.to_date, arguments::DAYS_MAX_DAILY)?;
    let mut tickers = Vec::new();
    for (index, text) in args.tickers.iter().enumerate() {
        let ticker = arguments::ticker(&format!("tickers.{index}"), text)?;
        if !tickers.contains(&ticker) {
            tickers.push(ticker);
        }
    }
    if tickers.len() < 2 {
        let expected = "at least two different tickers";
        return Err(Fault::invalid("one_ticker", format!("tickers: expected {expected}"))
            .problem("tickers", expected));
    }
    let exchange = &cx.service.exchange;
    let fetched = tickers.iter().map(|ticker| prices::daily_closes(exchange, ticker, None, period));
    let size = (tickers.len(), arguments::day_count(period.0, period.1));
    let closes = prices::before_deadline(cx.deadline, size, try_join_all(fetched)).await?;
    let (days, series) = align_by_day(&closes)?;
    let returns = Returns::of(&series);
    let pair = |a: usize, b: usize| match (returns.by_security.get(a), returns.by_security.get(b)) {
        (Some(a), Some(b)) => correlation(a, b),
        _ => None,
    };
    let mut text = format!("{} days; correlations of daily returns\n", days.len());
    let (mut rows, mut between) = (Vec::new(), Vec::new());
    for (a, ticker) in tickers.iter().enumerate() {
        let mut row = Map::new();
        _ = write!(text, "{ticker}");
        for (b, other) in tickers.iter().enumerate() {
            let found = pair(a, b);
            between.extend(found.filter(|_| a < b));
            row.insert(other.clone(), figure(found).unwrap_or(Value::Null));
            text.push_str(&found.map_or_else(|| " -".to_owned(), |it| format!(" {it:.3}")));
        }
        text.push('\n');
        rows.push(json!({ "ticker": ticker, "correlations": row }));
    }
    let freshness = prices::freshness(&closes);
    Ok(MoexReply {
        metadata: json!({
            "source": source(freshness.as_ref()),
            "tickers": tickers,
            "from_date": period.0.to_string(),
            "to_date": period.1.to_string(),
        }),
        data: Value::Array(rows),
        metrics: known_fields([
            ("num_days", Some(returns.days().into())),
            ("mean_correlation", figure(mean(&between))),
            ("missing", missing_data(&closes)),
            ("method", Some("Pearson, daily returns on common days, splits taken out".into())),
        ]),
        text,
        freshness,
        missing_days: closes.iter().map(|it| (it.code.clone(), it.missing_days.clone())).collect(),
    })
}

/// Sentences on missing days and unknown splits; `None` if nothing is missing.
pub(crate) fn missing_data(all: &[SecurityCloses]) -> Option<Value> {
    let mut sentences = Vec::new();
    for SecurityCloses { code, missing_days, splits, .. } in all {
        let days = missing_days.missing.len();
        if days > 0 {
            sentences
                .push(format!("{code}: no candle on {days} days on which the exchange traded"));
        }
        let unchecked = missing_days.unchecked.as_ref();
        sentences.extend(unchecked.map(|why| format!("{code}: missing days not checked: {why}")));
        let splits = splits.unknown.as_ref();
        sentences.extend(splits.map(|why| format!("{code}: splits not taken out: {why}")));
    }
    (!sentences.is_empty()).then(|| json!(sentences))
}

/// The closes of all securities on the days on which each has one.
pub(crate) fn align_by_day(all: &[SecurityCloses]) -> Result<(Vec<Date>, Vec<Vec<f64>>), Fault> {
    let mut by_date: BTreeMap<Date, Vec<f64>> = BTreeMap::new();
    for (index, closes) in all.iter().enumerate() {
        for (date, close) in closes.days.iter().filter(|(_, close)| *close > 0.0) {
            let row = by_date.entry(*date).or_default();
            if row.len() == index {
                row.push(*close);
            }
        }
    }
    by_date.retain(|_, row| row.len() == all.len());
    if by_date.len() < DAYS_MIN {
        let names: Vec<&str> = all.iter().map(|it| it.code.as_str()).collect();
        let message = format!(
            "{} days with a close of {} in this period; at least {DAYS_MIN} are needed",
            by_date.len(),
            names.join(", "),
        );
        return Err(Fault::invalid("too_few_days", message)
            .problem("from_date", "a period in which all of them were traded"));
    }
    let series = (0..all.len())
        .map(|index| by_date.values().filter_map(|row| row.get(index).copied()).collect())
        .collect();
    Ok((by_date.into_keys().collect(), series))
}
