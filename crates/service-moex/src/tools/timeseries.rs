//! `get_ohlcv_timeseries`: candles between two dates, with figures over them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use contract::Cx;
use fault::Fault;
use market::{Candle, CandleRequest, CandleStep, Decimal, Split, Told};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{Answer, figure, known, number};
use crate::{Moex, ask, figures, prices};

/// Candles that the text shows; all of them are in the structured content.
const SHOWN_MAX: usize = 30;

#[derive(Debug, Deserialize)]
pub(crate) struct Args {
    ticker: String,
    board: String,
    from_date: String,
    to_date: String,
    interval: String,
}

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<Answer, Fault> {
    let (ticker, board) =
        (ask::ticker("ticker", &args.ticker)?, ask::ticker("board", &args.board)?);
    let (step, days_max) = match args.interval.as_str() {
        "1h" => (CandleStep::Hour, ask::DAYS_MAX_HOURLY),
        _ => (CandleStep::Day, ask::DAYS_MAX_DAILY),
    };
    let (from, to) = ask::period(&args.from_date, &args.to_date, days_max)?;
    let request =
        CandleRequest { code: ticker.clone(), board: Some(board.clone()), step, from, to };
    let Told { value, freshness } = cx.service.exchange.candles(&request).await?;
    let splits = prices::splits(&cx.service.exchange, &ticker, from, to).await;
    let candles = &value.candles;
    Ok(Answer {
        metadata: json!({
            "source": "moex-iss",
            "ticker": value.security.code,
            "board": value.security.board,
            "interval": step.as_str(),
            "from_date": from.to_string(),
            "to_date": to.to_string(),
        }),
        data: candles.iter().map(row).collect(),
        metrics: metrics(candles, &splits, step),
        text: text(&ticker, step, candles),
        freshness: Some(freshness),
    })
}

fn row(candle: &Candle) -> Value {
    known([
        ("ts", Some(candle.begins_rfc3339().into())),
        ("open", Some(number(candle.open))),
        ("high", Some(number(candle.high))),
        ("low", Some(number(candle.low))),
        ("close", Some(number(candle.close))),
        ("volume", candle.volume.map(number)),
        ("value", candle.value.map(number)),
        // Said of the one that still forms alone, because it is the exception.
        ("is_forming", (!candle.closed).then_some(Value::Bool(true))),
    ])
}

fn metrics(candles: &[Candle], splits: &[Split], step: CandleStep) -> Value {
    let over: Vec<&Candle> = candles.iter().filter(|candle| candle.closed).collect();
    let close =
        |candle: &&Candle| candle.close.to_f64() / prices::factor(splits, candle.begins.date());
    let closes: Vec<f64> = over.iter().map(close).collect();
    let days: BTreeSet<_> = over.iter().map(|candle| candle.begins.date()).collect();
    let count = days.len() as f64;
    let of_day = if count > 0.0 { over.len() as f64 / count } else { 0.0 };
    let volume: f64 = over.iter().filter_map(|candle| candle.volume).map(Decimal::to_f64).sum();
    let candles_of_year = match step {
        CandleStep::Hour => figures::DAYS_OF_YEAR * of_day,
        _ => figures::DAYS_OF_YEAR,
    };
    known([
        ("total_return_pct", figure(figures::total_return_pct(&closes))),
        ("annualized_volatility", figure(figures::annualized_volatility(&closes, candles_of_year))),
        ("avg_daily_volume", figure((count > 0.0).then(|| volume / count))),
        ("num_candles", Some(over.len().into())),
        ("num_days", Some(days.len().into())),
        ("splits", (!splits.is_empty()).then(|| splits.iter().map(told).collect())),
        ("method", Some(method(step, of_day).into())),
    ])
}

fn told(split: &Split) -> Value {
    json!({ "date": split.date.to_string(), "before": split.before, "after": split.after })
}

fn method(step: CandleStep, of_day: f64) -> String {
    let year = match step {
        CandleStep::Hour => format!("252 days of {of_day:.2} candles each"),
        _ => "252 days".to_owned(),
    };
    format!(
        "over closed candles, splits taken out; volatility: sample deviation of log returns times \
         the root of {year}, percent; volume: pieces a day"
    )
}

fn text(ticker: &str, step: CandleStep, candles: &[Candle]) -> String {
    let mut text = format!("{ticker} {}: {} candles\n", step.as_str(), candles.len());
    let skipped = candles.len().saturating_sub(SHOWN_MAX);
    if skipped > 0 {
        _ = writeln!(text, "(the last {SHOWN_MAX}; all are in the structured content)");
    }
    text.push_str("time open high low close volume\n");
    for it in candles.iter().skip(skipped) {
        let volume = it.volume.map_or_else(|| "-".to_owned(), |volume| volume.to_string());
        let forming = if it.closed { "" } else { " (forming)" };
        _ = writeln!(
            text,
            "{} {} {} {} {} {volume}{forming}",
            it.begins, it.open, it.high, it.low, it.close
        );
    }
    text
}
