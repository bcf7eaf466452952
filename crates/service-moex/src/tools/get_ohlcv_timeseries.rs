//! `get_ohlcv_timeseries`: candles between two dates, with figures over them.

use std::fmt::Write as _;
use std::ops::Range;

use contract::Cx;
use fault::Fault;
use jiff::civil::Date;
use market::{CandleRequest, CandleStep, Decimal, SecurityCandle, Split, WithFreshness};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::figures::year::SessionsPerYear;
use crate::prices::Splits;
use crate::reply::{ISS, MissingDays, MoexReply, figure, known_fields, number};
use crate::{Moex, arguments, figures, prices};

/// The most candles in the text of a reply without pages.
const TEXT_CANDLES_MAX: usize = 30;
/// How many candles a page has by default.
const PAGE_SIZE: usize = 100;

#[derive(Debug, Deserialize)]
pub(crate) struct Args {
    ticker: String,
    board: String,
    from_date: String,
    to_date: String,
    interval: String,
    page: Option<usize>,
    page_size: Option<usize>,
}

/// The page of candles that the caller requested.
struct Page {
    number: usize,
    size: usize,
    rows: Range<usize>,
    /// How many pages there are.
    count: usize,
}

impl Page {
    /// `None` if the caller set neither `page` nor `page_size`.
    fn of(args: &Args, candles: usize) -> Option<Self> {
        if args.page.is_none() && args.page_size.is_none() {
            return None;
        }
        let (number, size) = (args.page.unwrap_or(1), args.page_size.unwrap_or(PAGE_SIZE));
        let from = number.saturating_sub(1).saturating_mul(size).min(candles);
        let rows = from..from.saturating_add(size).min(candles);
        Some(Self { number, size, rows, count: candles.div_ceil(size) })
    }
}

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<MoexReply, Fault> {
    let (ticker, board) =
        (arguments::ticker("ticker", &args.ticker)?, arguments::board("board", &args.board)?);
    let (step, days_max) = match args.interval.as_str() {
        "1h" => (CandleStep::Hour, arguments::DAYS_MAX_HOURLY),
        _ => (CandleStep::Day, arguments::DAYS_MAX_DAILY),
    };
    let (from, to) = arguments::period(&args.from_date, &args.to_date, days_max)?;
    let request =
        CandleRequest { code: ticker.clone(), board: Some(board.clone()), step, from, to };
    let exchange = &cx.service.exchange;
    let WithFreshness { value, freshness } = exchange.candles(&request).await?;
    let splits = Splits::of(exchange, &ticker, from, to).await;
    let candles = &value.candles;
    let closed: Vec<&SecurityCandle> = candles.iter().filter(|candle| candle.closed).collect();
    let mut days: Vec<Date> = closed.iter().map(|candle| candle.begins.date()).collect();
    days.dedup();
    // Fewer than three candles have no volatility.
    let year = match closed.len() {
        0..=2 => None,
        _ => Some(prices::sessions_per_year(exchange, &days).await),
    };
    let missing_days = MissingDays::of(&value);
    let page = Page::of(&args, candles.len());
    let rows = page.as_ref().map_or(0..candles.len(), |page| page.rows.clone());
    let mut metrics = metrics(&Series { closed, days, splits, year, step }, &missing_days);
    if let Some(page) = &page {
        metrics["page"] = page.number.into();
        metrics["page_size"] = page.size.into();
        metrics["num_pages"] = page.count.into();
    }
    let text = text(&ticker, &args, candles, page.as_ref());
    Ok(MoexReply {
        metadata: json!({
            "source": ISS,
            "ticker": value.security.code,
            "board": value.security.board,
            "interval": step.as_str(),
            "from_date": from.to_string(),
            "to_date": to.to_string(),
        }),
        data: candles[rows].iter().map(row).collect(),
        metrics,
        text,
        freshness: Some(freshness),
        missing_days: vec![(value.security.code.clone(), missing_days)],
    })
}

/// The closed candles that the figures are computed from.
struct Series<'a> {
    closed: Vec<&'a SecurityCandle>,
    days: Vec<Date>,
    splits: Splits,
    year: Option<SessionsPerYear>,
    step: CandleStep,
}

fn row(candle: &SecurityCandle) -> Value {
    known_fields([
        ("ts", Some(candle.begins_rfc3339().into())),
        ("open", Some(number(candle.open))),
        ("high", Some(number(candle.high))),
        ("low", Some(number(candle.low))),
        ("close", Some(number(candle.close))),
        ("volume", candle.volume.map(number)),
        ("value", candle.value.map(number)),
        // Only the candle that is still forming has this field.
        ("is_forming", (!candle.closed).then_some(Value::Bool(true))),
    ])
}

fn metrics(series: &Series<'_>, missing_days: &MissingDays) -> Value {
    let Series { closed, days, splits, year, .. } = series;
    let factor = |candle: &SecurityCandle| splits.factor(candle.begins.date());
    let price = |of: fn(&SecurityCandle) -> Decimal| -> Vec<f64> {
        closed.iter().map(|candle| of(candle).to_f64() / factor(candle)).collect()
    };
    let volume = |candle: &&SecurityCandle| Some(candle.volume?.to_f64() * factor(candle));
    let volume: f64 = closed.iter().filter_map(volume).sum();
    let (closes, count) = (price(|candle| candle.close), days.len() as f64);
    let candles_per_year = year.map(|year| year.sessions * candles_per_day(series));
    let volatility = candles_per_year.and_then(|it| figures::annualized_volatility(&closes, it));
    let missing = missing_days.missing.len();
    known_fields([
        ("total_return_pct", figure(figures::total_return_pct(&closes))),
        ("annualized_volatility", figure(volatility)),
        // A candle without volume means that the exchange does not report it.
        ("avg_daily_volume", figure((volume > 0.0).then(|| volume / count))),
        ("period_high", figure(price(|candle| candle.high).into_iter().reduce(f64::max))),
        ("period_low", figure(price(|candle| candle.low).into_iter().reduce(f64::min))),
        ("num_candles", Some(closed.len().into())),
        ("num_days", Some(days.len().into())),
        ("num_missing_days", (missing > 0).then(|| missing.into())),
        ("missing_days", missing_days.days()),
        ("unchecked", missing_days.unchecked.as_deref().map(Value::from)),
        (
            "splits",
            (!splits.of_period.is_empty())
                .then(|| splits.of_period.iter().map(split_json).collect()),
        ),
        ("splits_unknown", splits.unknown.as_deref().map(Value::from)),
        ("method", Some(method(series).into())),
    ])
}

fn candles_per_day(series: &Series<'_>) -> f64 {
    if series.days.is_empty() { 0.0 } else { series.closed.len() as f64 / series.days.len() as f64 }
}

fn split_json(split: &Split) -> Value {
    json!({ "date": split.date.to_string(), "before": split.before, "after": split.after })
}

fn method(series: &Series<'_>) -> String {
    let year = match (series.year.map(|year| year.description()), series.step) {
        (None, _) => "none of fewer than three candles".to_owned(),
        (Some(year), CandleStep::Day) => {
            format!("sample deviation of log returns times the root of {year}, percent")
        }
        (Some(year), _) => {
            let of_day = candles_per_day(series);
            format!(
                "sample deviation of log returns times the root of {year} of {of_day:.2} candles \
                 each, percent"
            )
        }
    };
    format!(
        "over closed candles, all figures on the scale of the last day: prices divided and volumes \
         multiplied by the splits after them, data as traded; volatility: {year}; volume: pieces a \
         day with candles"
    )
}

/// The candles of the page, or the last ones, and the call that gets the others.
fn text(ticker: &str, args: &Args, candles: &[SecurityCandle], page: Option<&Page>) -> String {
    let mut text = format!("{ticker} {}: {} candles\n", args.interval, candles.len());
    let rows = match page {
        Some(page) => page.rows.clone(),
        None => candles.len().saturating_sub(TEXT_CANDLES_MAX)..candles.len(),
    };
    text.push_str("time open high low close volume\n");
    for it in &candles[rows.clone()] {
        let volume = it.volume.map_or_else(|| "-".to_owned(), |volume| volume.to_string());
        let forming = if it.closed { "" } else { " (forming)" };
        _ = writeln!(
            text,
            "{} {} {} {} {} {volume}{forming}",
            it.begins, it.open, it.high, it.low, it.close
        );
    }
    let call = |number: usize, size: usize| {
        json!({
            "ticker": ticker, "board": args.board, "from_date": args.from_date,
            "to_date": args.to_date, "interval": args.interval, "page": number, "page_size": size,
        })
    };
    match page {
        Some(page) if page.number < page.count => {
            let next = call(page.number + 1, page.size);
            _ = writeln!(text, "page {} of {}", page.number, page.count);
            _ = writeln!(text, "next: get_ohlcv_timeseries {next}");
        }
        Some(page) => _ = writeln!(text, "page {} of {}", page.number, page.count),
        None if rows.start > 0 => {
            let first = call(1, PAGE_SIZE);
            _ = writeln!(
                text,
                "the last {TEXT_CANDLES_MAX}; page by page: get_ohlcv_timeseries {first}"
            );
        }
        None => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candle(begins: &str, prices: [&str; 4], volume: &str) -> SecurityCandle {
        let [open, high, low, close] = prices.map(|price| price.parse().unwrap());
        SecurityCandle {
            begins: begins.parse().unwrap(),
            offset_min: 180,
            open,
            high,
            low,
            close,
            volume: Some(volume.parse().unwrap()),
            value: None,
            closed: true,
        }
    }

    fn metrics_of(candles: &[SecurityCandle], splits: Splits, step: CandleStep) -> Value {
        let closed: Vec<&SecurityCandle> = candles.iter().collect();
        let mut days: Vec<Date> = closed.iter().map(|candle| candle.begins.date()).collect();
        days.dedup();
        let series = Series { closed, days, splits, year: Some(SessionsPerYear::CONVENTION), step };
        metrics(&series, &MissingDays::default())
    }

    #[track_caller]
    fn check(found: &Value, expected: Value) {
        for (name, value) in expected.as_object().unwrap() {
            let found = found[name].as_f64().unwrap();
            assert!((found - value.as_f64().unwrap()).abs() < 1e-5, "{name} is {found}");
        }
    }

    fn args(page: Option<usize>, page_size: Option<usize>) -> Args {
        let text = |it: &str| it.to_owned();
        Args {
            ticker: text("X"),
            board: text("TQBR"),
            from_date: text("2024-01-01"),
            to_date: text("2024-12-31"),
            interval: text("1d"),
            page,
            page_size,
        }
    }

    #[track_caller]
    fn check_page(args: &Args, shown: usize, next: Option<(usize, usize)>) {
        let day = |at: usize| {
            let day =
                jiff::civil::date(2024, 1, 1).saturating_add(jiff::Span::new().days(at as i64));
            candle(&format!("{day}T00:00:00"), ["1", "1", "1", "1"], "5")
        };
        let candles: Vec<SecurityCandle> = (0..250).map(day).collect();
        let page = Page::of(args, candles.len());
        let text = text("X", args, &candles, page.as_ref());
        let rows = text.lines().filter(|line| line.starts_with("2024-")).count();
        assert_eq!(rows, shown, "{text}");
        let call = text.lines().find_map(|line| line.split_once("get_ohlcv_timeseries "));
        let call: Option<Value> = call.map(|(_, call)| call.parse().unwrap());
        let found = call.map(|it| (it["page"].as_u64(), it["page_size"].as_u64()));
        assert_eq!(found, next.map(|(page, size)| (Some(page as u64), Some(size as u64))));
        assert!(text.len() < 24_000);
    }

    #[test]
    fn a_long_series_comes_in_pages_that_name_the_next_call() {
        check_page(&args(None, None), 30, Some((1, 100)));
        check_page(&args(Some(1), None), 100, Some((2, 100)));
        check_page(&args(Some(3), None), 50, None);
        check_page(&args(None, Some(200)), 200, Some((2, 200)));
        check_page(&args(Some(9), Some(200)), 0, None);
        check_page(&args(Some(usize::MAX), Some(200)), 0, None);
    }

    #[test]
    fn figures_are_adjusted_for_splits() {
        let candles = [
            candle("2024-02-14T00:00:00", ["1000", "1100", "900", "1000"], "5"),
            candle("2024-02-21T00:00:00", ["10", "10.5", "9.5", "10"], "500"),
            candle("2024-02-22T00:00:00", ["10", "10.5", "9.8", "11"], "800"),
        ];
        let split = Split {
            code: "X".to_owned(),
            date: jiff::civil::date(2024, 2, 21),
            before: 1,
            after: 100,
        };
        let splits = Splits { of_period: vec![split], unknown: None };
        let expected = json!({
            "total_return_pct": 10.0, "avg_daily_volume": 600.0,
            "period_high": 11.0, "period_low": 9.0, "num_days": 3,
        });
        let found = metrics_of(&candles, splits, CandleStep::Day);
        check(&found, expected);
        // The same prices on the scale after the split, without a split.
        let mut whole = candles;
        whole[0] = candle("2024-02-14T00:00:00", ["10", "11", "9", "10"], "500");
        let plain = metrics_of(&whole, Splits::default(), CandleStep::Day);
        for name in ["total_return_pct", "annualized_volatility", "avg_daily_volume"] {
            assert_eq!(found[name], plain[name], "{name}");
        }
        assert_eq!((&found["splits"][0]["after"], &plain["splits"]), (&json!(100), &Value::Null));
    }

    #[test]
    fn hourly_candles_are_scaled_by_candles_per_day() {
        let hour = |day: u32, hour: u32, close: &str| {
            let at = format!("2024-02-{day:02}T{hour:02}:00:00");
            candle(&at, [close, close, close, close], "10")
        };
        let hours =
            [hour(14, 10, "100"), hour(14, 11, "110"), hour(15, 10, "100"), hour(15, 11, "110")];
        let found = metrics_of(&hours, Splits::default(), CandleStep::Hour);
        // A year of 252 sessions with two candles each.
        let returns = [1.1_f64.ln(), -(1.1_f64.ln()), 1.1_f64.ln()];
        let volatility = figures::sample_deviation(&returns).unwrap() * 504_f64.sqrt() * 100.0;
        check(&found, json!({ "annualized_volatility": volatility, "avg_daily_volume": 20.0 }));
        let method = found["method"].as_str().unwrap();
        assert!(method.contains("252.0 sessions a year (by convention"), "{method}");
        assert!(method.contains("of 2.00 candles each"), "{method}");
    }
}
