//! `get_dividends`: the dividends of a security in a period, and the dividend yield of the twelve months
//! up to the end of the period.

use std::fmt::Write as _;
use std::sync::Arc;

use contract::Cx;
use fault::Fault;
use jiff::ToSpan as _;
use jiff::civil::Date;
use market::{CandleRequest, CandleStep, Dividend, StockExchange, WithFreshness};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::prices::Splits;
use crate::reply::{MoexReply, figure, known_fields, number, source};
use crate::{Moex, arguments};

/// How many days before a date a close is searched; longer than any holiday.
const DAYS_BACK: i64 = 14;

#[derive(Debug, Deserialize)]
pub(crate) struct Args {
    ticker: String,
    from_date: Option<String>,
    to_date: Option<String>,
}

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<MoexReply, Fault> {
    let ticker = arguments::ticker("ticker", &args.ticker)?;
    let bound = |field, text: &Option<String>| {
        text.as_deref().map(|it| arguments::date(field, it)).transpose()
    };
    let (from, to) = (bound("from_date", &args.from_date)?, bound("to_date", &args.to_date)?);
    if let (Some(from), Some(to)) = (&args.from_date, &args.to_date) {
        arguments::period(from, to, i64::MAX)?;
    }
    let exchange = &cx.service.exchange;
    let WithFreshness { value: all, freshness } = exchange.dividends(&ticker).await?;
    let within = |it: &&Dividend| {
        from.is_none_or(|from| it.record_date >= from) && to.is_none_or(|to| it.record_date <= to)
    };
    let paid: Vec<&Dividend> = all.iter().filter(within).collect();
    let today = cx.service.today();
    // Announced dividends of later days count in a period without an end, but not in the trailing year.
    let last = to.map_or(today, |to| to.min(today));
    let first = paid.first().map_or(last, |it| it.record_date);
    let splits = Splits::of(exchange, &ticker, first, last).await;
    let price = price_on(exchange, &ticker, last, today).await;
    let mut text = format!("{ticker}: {} dividends", paid.len());
    _ = writeln!(text, "{}\nregistry date, on one share", period_text(from, to));
    for it in &paid {
        _ = writeln!(text, "{} {} {}", it.record_date, it.value, it.currency);
    }
    Ok(MoexReply {
        metadata: known_fields([
            ("source", Some(source(Some(&freshness)).into())),
            ("ticker", Some(ticker.into())),
            ("from_date", from.map(|from| from.to_string().into())),
            ("to_date", to.map(|to| to.to_string().into())),
        ]),
        data: paid.iter().map(|it| row(it)).collect(),
        metrics: metrics(&paid, from, last, price, &splits),
        text,
        freshness: Some(freshness),
        ..MoexReply::default()
    })
}

fn period_text(from: Option<Date>, to: Option<Date>) -> String {
    let from = from.map_or_else(String::new, |from| format!(" from {from}"));
    let to = to.map_or_else(String::new, |to| format!(" to {to}"));
    format!("{from}{to}")
}

/// The price at the end of a day, and its currency. `None` if it cannot be fetched; the reply then has
/// no yield.
async fn price_on(
    exchange: &Arc<dyn StockExchange>,
    ticker: &str,
    date: Date,
    today: Date,
) -> Option<(f64, String)> {
    if date >= today {
        let shot = exchange.snapshot(ticker, None).await.ok()?.value;
        return Some((shot.last.to_f64(), shot.security.currency.clone()));
    }
    let request = CandleRequest {
        code: ticker.to_owned(),
        board: None,
        step: CandleStep::Day,
        from: date.saturating_sub(DAYS_BACK.days()),
        to: date,
    };
    let fetched = exchange.candles(&request).await.ok()?.value;
    let close = fetched.candles.last()?.close.to_f64();
    Some((close, fetched.security.currency.clone()))
}

fn metrics(
    paid: &[&Dividend],
    from: Option<Date>,
    last: Date,
    price: Option<(f64, String)>,
    splits: &Splits,
) -> Value {
    let year_ago = last.saturating_sub(1.year());
    let year: Vec<&Dividend> = paid
        .iter()
        .copied()
        .filter(|it| it.record_date > year_ago && it.record_date <= last)
        .collect();
    let sum = |paid: &[&Dividend]| -> Option<f64> {
        let same = paid.windows(2).all(|pair| pair[0].currency == pair[1].currency);
        let value = |it: &&Dividend| it.value.to_f64() / splits.factor(it.record_date);
        (same && !paid.is_empty()).then(|| paid.iter().map(value).sum())
    };
    // A period shorter than a year has no trailing year.
    let has_year = from.is_none_or(|from| from <= year_ago.saturating_add(1.day()));
    let of_year = sum(&year).filter(|_| has_year);
    let price = price
        .filter(|(price, currency)| *price > 0.0 && year.iter().all(|it| it.currency == *currency));
    let yield_pct = of_year.zip(price.as_ref()).map(|(sum, (price, _))| sum / price * 100.0);
    let method = format!(
        "sums of the payments listed, on one share of {last}: earlier ones divided by the splits \
         after them; the trailing year ends on {last}, lies within the period or is left out, and \
         its yield is of the price then; no sum over different currencies"
    );
    known_fields([
        ("num_payments", Some(paid.len().into())),
        ("period_sum", figure(sum(paid))),
        ("trailing_12m_sum", figure(of_year)),
        ("trailing_12m_yield_pct", figure(yield_pct)),
        ("trailing_12m_to", has_year.then(|| last.to_string().into())),
        ("price", figure(price.map(|(price, _)| price))),
        ("splits_unknown", splits.unknown.as_deref().map(Value::from)),
        ("method", Some(method.into())),
    ])
}

fn row(it: &Dividend) -> Value {
    json!({
        "registry_close_date": it.record_date.to_string(),
        "value": number(it.value),
        "currency": it.currency,
    })
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use market::Split;

    use super::*;

    fn dividend(day: Date, value: &str, currency: &str) -> Dividend {
        let (value, currency) = (value.parse().unwrap(), currency.to_owned());
        Dividend { record_date: day, value, currency }
    }

    #[track_caller]
    fn check(paid: &[Dividend], splits: &Splits, expected: Value) {
        let paid: Vec<&Dividend> = paid.iter().collect();
        let price = Some((200.0, "RUB".to_owned()));
        let found = metrics(&paid, Some(date(2023, 1, 1)), date(2024, 6, 14), price, splits);
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(found.get(name).unwrap_or(&Value::Null), value, "{name}");
        }
    }

    #[test]
    fn a_period_shorter_than_a_year_has_no_trailing_year() {
        let paid = [dividend(date(2024, 1, 20), "50", "RUB")];
        let paid: Vec<&Dividend> = paid.iter().collect();
        for (from, whole) in [("2023-06-15", true), ("2023-06-16", false)] {
            let from = clock::parse_date(from);
            let found = metrics(&paid, from, date(2024, 6, 14), None, &Splits::default());
            assert_eq!(found["period_sum"], json!(50.0));
            assert_eq!(found.get("trailing_12m_sum").is_some(), whole, "{from:?}");
            assert_eq!(found.get("trailing_12m_to").is_some(), whole, "{from:?}");
        }
    }

    #[test]
    fn sums_are_adjusted_for_splits_and_only_of_one_currency() {
        let (old, new) = (date(2023, 1, 20), date(2024, 1, 20));
        let paid = [dividend(old, "100", "RUB"), dividend(new, "50", "RUB")];
        let none = Splits::default();
        let sums = |period: Value, year: Value, part: Value| json!({ "period_sum": period, "trailing_12m_sum": year, "trailing_12m_yield_pct": part });
        check(&paid, &none, sums(json!(150.0), json!(50.0), json!(25.0)));
        check(&[], &none, sums(Value::Null, Value::Null, Value::Null));
        let split = Split { code: "X".into(), date: date(2024, 2, 21), before: 1, after: 100 };
        let splits = Splits { of_period: vec![split], unknown: None };
        check(&paid, &splits, sums(json!(1.5), json!(0.5), json!(0.25)));
        // An announced payment is in the period and not in the trailing year.
        let later = [dividend(new, "50", "RUB"), dividend(date(2024, 7, 1), "10", "RUB")];
        check(&later, &none, sums(json!(60.0), json!(50.0), json!(25.0)));
        let mixed = [dividend(old, "1", "USD"), dividend(new, "50", "RUB")];
        check(&mixed, &none, sums(Value::Null, json!(50.0), json!(25.0)));
        let dollars = [dividend(new, "1", "USD")];
        check(&dollars, &none, sums(json!(1.0), json!(1.0), Value::Null));
    }
}
