//! `get_dividends`: what a security paid, and how much of its price that was in the last year.

use std::fmt::Write as _;

use contract::Cx;
use fault::Fault;
use jiff::ToSpan as _;
use market::{Dividend, Told};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{Answer, figure, known, number};
use crate::{Moex, ask};

#[derive(Debug, Deserialize)]
pub(crate) struct Args {
    ticker: String,
    from_date: Option<String>,
    to_date: Option<String>,
}

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<Answer, Fault> {
    let ticker = ask::ticker("ticker", &args.ticker)?;
    let bound =
        |field, text: &Option<String>| text.as_deref().map(|it| ask::date(field, it)).transpose();
    let (from, to) = (bound("from_date", &args.from_date)?, bound("to_date", &args.to_date)?);
    if let (Some(_), Some(_)) = (from, to) {
        let (from, to) = (args.from_date.as_deref(), args.to_date.as_deref());
        ask::period(from.unwrap_or_default(), to.unwrap_or_default(), i64::MAX)?;
    }
    let Told { value: all, freshness } = cx.service.exchange.dividends(&ticker).await?;
    let today = cx.service.clock.now().date();
    let year_ago = today.saturating_sub(1.year());
    let within = |it: &&Dividend| {
        from.is_none_or(|from| it.record_date >= from) && to.is_none_or(|to| it.record_date <= to)
    };
    let paid: Vec<&Dividend> = all.iter().filter(within).collect();
    let trailing = |it: &&Dividend| it.record_date > year_ago && it.record_date <= today;
    let year: Vec<&Dividend> = all.iter().filter(trailing).collect();
    let sum: f64 = year.iter().map(|it| it.value.to_f64()).sum();
    // The yield is an extra: without a price there is none, and the dividends are still right.
    let price = cx.service.exchange.snapshot(&ticker, None).await.ok();
    let price = price.map(|told| (told.value.last.to_f64(), told.value.security.currency.clone()));
    let same = |currency: &str| year.iter().all(|it| it.currency == currency);
    let part = price.filter(|(price, currency)| *price > 0.0 && same(currency));
    let metrics = known([
        ("num_payments", Some(paid.len().into())),
        ("trailing_12m_sum", figure((!year.is_empty()).then_some(sum))),
        (
            "trailing_12m_yield_pct",
            figure(part.filter(|_| !year.is_empty()).map(|(price, _)| sum / price * 100.0)),
        ),
    ]);
    let mut text = format!("{ticker}: {} dividends\nregistry date, on one share\n", paid.len());
    for it in &paid {
        _ = writeln!(text, "{} {} {}", it.record_date, it.value, it.currency);
    }
    Ok(Answer {
        metadata: json!({ "source": "moex-iss", "ticker": ticker }),
        data: paid.iter().map(|it| row(it)).collect(),
        metrics,
        text,
        freshness: Some(freshness),
    })
}

fn row(it: &Dividend) -> Value {
    json!({
        "registry_close_date": it.record_date.to_string(),
        "value": number(it.value),
        "currency": it.currency,
    })
}
