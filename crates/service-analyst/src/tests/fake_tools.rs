//! Fake tools that answer like the real ones. A formula computes each figure from a ticker and a
//! day. A test can make the tools fail or return hostile text.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::Millis;
use contract::{Caller, Progress};
use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday, date};
use serde_json::{Map, Value, json};
use testkit::FakeClock;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    Analyst, AnalystAnswer, Finding, Question, ToolAnswer, ToolCaller, ToolFailure, ToolSession,
};

/// A Friday.
pub(super) const TODAY: Date = date(2024, 6, 14);

/// Ticker, short name, name, and name in Latin letters; the first twenty are in the index.
pub(super) const SECURITIES: &str = include_str!("securities.txt");

#[derive(Debug, Default)]
pub(super) struct FakeTools {
    /// Tools that fail.
    pub(super) broken: Vec<&'static str>,
    /// Text that replaces every name.
    pub(super) hostile: Option<&'static str>,
    /// A tool that never answers.
    pub(super) hangs: Option<&'static str>,
    /// The day of a split and the numbers of shares before and after it.
    pub(super) split: Option<(Date, u64, u64)>,
    /// Whether trading has not begun today.
    pub(super) morning: bool,
    /// Whether the candle of today is of a day that is not over.
    pub(super) forming: bool,
    /// A ticker whose earlier prices in the index are before a split of one share into ten.
    pub(super) split_in_index: Option<&'static str>,
    /// The name of the figure that is missing from every result; `*` removes all figures.
    pub(super) missing: Option<String>,
    /// Figures that replace the computed ones in every result.
    pub(super) given: Vec<(&'static str, f64)>,
}

fn seed(text: &str) -> u64 {
    text.bytes().fold(1_469_598_103_934_665_603, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211)
    })
}

fn day_number(day: Date) -> f64 {
    (Millis::start_of(day).0 / clock::DAY_MS) as f64
}

/// Computes the close from a smooth wave per ticker with a small daily noise.
fn close(ticker: &str, day: Date) -> f64 {
    let own = (seed(ticker) % 1_000) as f64;
    let at = day_number(day);
    let dust = (seed(&format!("{ticker}{day}")) % 2_000) as f64 / 1_000.0 - 1.0;
    let level = 20.0 + own * 3.0;
    let value = level * (1.0 + 0.2 * (at / (40.0 + own / 10.0)).sin() + 0.012 * dust);
    (value * 100.0).round() / 100.0
}

fn days(from: Date, to: Date) -> Vec<Date> {
    let weekend = |day: &Date| matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
    let mut all = Vec::new();
    let mut day = from;
    while day <= to {
        if !weekend(&day) {
            all.push(day);
        }
        day = day.saturating_add(1.day());
    }
    all
}

fn trading_day(mut day: Date) -> Date {
    while days(day, day).is_empty() {
        day = day.saturating_sub(1.day());
    }
    day
}

fn returns(closes: &[f64]) -> Vec<f64> {
    closes.windows(2).map(|it| it[1] / it[0] - 1.0).collect()
}

fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |it: &[f64]| it.iter().sum::<f64>() / it.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let sum: f64 = a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum();
    sum / (a.len() as f64 - 1.0) / deviation(a) / deviation(b)
}

fn text<'a>(args: &'a Map<String, Value>, name: &str) -> &'a str {
    args.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn invalid(code: &str, message: &str) -> ToolFailure {
    ToolFailure { code: code.to_owned(), message: message.to_owned() }
}

fn period(args: &Map<String, Value>) -> Result<(Date, Date), ToolFailure> {
    let read = |name| clock::parse_date(text(args, name)).ok_or(invalid("invalid_date", "a date"));
    let (from, to) = (read("from_date")?, read("to_date")?);
    if from > to { Err(invalid("reversed_dates", "reversed")) } else { Ok((from, to)) }
}

fn listed(ticker: &str) -> Result<Vec<&'static str>, ToolFailure> {
    if ["IMOEX", "RTSI"].contains(&ticker) {
        return Ok(vec!["IMOEX", "Индекс", "Индекс", "Index"]);
    }
    let mut rows = SECURITIES.lines().map(|row| row.split('|').collect::<Vec<_>>());
    rows.find(|row| row[0] == ticker).ok_or_else(|| invalid("unknown_symbol", "no such ticker 404"))
}

fn on_board(ticker: &str, args: &Map<String, Value>) -> Result<(), ToolFailure> {
    let board = args.get("board").and_then(Value::as_str).unwrap_or("TQBR");
    let expected = match ticker {
        "IMOEX" => "SNDX",
        "RTSI" => "RTSI",
        _ => "TQBR",
    };
    if board == expected { Ok(()) } else { Err(invalid("unknown_symbol", "not on this board")) }
}

fn sector(ticker: &str) -> &'static str {
    match ticker {
        "GAZP" | "SIBN" | "LKOH" | "ROSN" | "NVTK" | "TATN" | "TATNP" => "Oil and gas",
        "SBER" | "SBERP" | "T" | "VTBR" | "MOEX" => "Finance",
        "YDEX" => "Information technology",
        "MGNT" => "Consumer goods",
        "AFLT" => "Transport",
        _ => "Metals and mining",
    }
}

/// Removes figures from a result, or sets them.
fn altered(value: &mut Value, missing: Option<&str>, given: &[(&'static str, f64)]) {
    match value {
        Value::Object(map) => {
            map.retain(|name, it| {
                !(it.is_number() && (missing == Some("*") || missing == Some(name.as_str())))
            });
            for (name, it) in map.iter_mut() {
                match given.iter().find(|(given, _)| given == name) {
                    Some((_, number)) if it.is_number() => *it = json!(number),
                    _ => altered(it, missing, given),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|it| altered(it, missing, given)),
        _ => {}
    }
}

impl FakeTools {
    fn answer(&self, tool: &str, args: &Map<String, Value>) -> Result<Value, ToolFailure> {
        if self.broken.contains(&tool) {
            return Err(invalid("upstream_5xx", "the exchange answered with 503"));
        }
        match tool {
            "search_securities" => Ok(self.search(text(args, "query"))),
            "get_security_snapshot" => self.snapshot(args),
            "get_trading_calendar" => Ok(Self::calendar(args)),
            "get_ohlcv_timeseries" => self.history(args),
            "get_dividends" => Self::dividends(args),
            "get_index_constituents_metrics" => self.basket(args),
            "compute_portfolio_risk" => Self::risk(args),
            "compute_correlation_matrix" => Self::matrix(args),
            "compute_indicators" => Ok(Self::indicators(args)),
            "quotes_live" => Ok(Self::quotes(args)),
            "get_klines" => Ok(json!({ "candles": [{ "t": 1_686_700_800_000_i64, "o": 80_000.5,
                "h": 81_000.0, "l": 79_000.0, "c": 80_500.0, "v": 10.5 }], "meta": { "gaps": 0 } })),
            other => Err(invalid("unknown_tool", other)),
        }
    }

    fn indicators(args: &Map<String, Value>) -> Value {
        let windows = args["windows"].as_object().cloned().unwrap_or_default();
        let mut series = Map::new();
        for (at, name) in windows.keys().enumerate() {
            series.insert(name.clone(), json!([40.5, 44.25 + at as f64]));
        }
        json!({ "symbol": args["symbol"], "interval": args["interval"],
            "candles": [{ "t": 1_718_150_400_000_i64, "c": 1.0 }, { "t": 1_718_236_800_000_i64, "c": 1.0 }],
            "series": series, "meta": { "warmup": 0 } })
    }

    fn quotes(args: &Map<String, Value>) -> Value {
        let row = |it: &Value| {
            json!({ "ticker": it, "price": "88535.59000000", "currency": "USDT",
                "as_of": "2024-06-14T12:00:00.000Z", "volume": 22787 })
        };
        let rows: Vec<Value> = args["tickers"].as_array().into_iter().flatten().map(row).collect();
        json!({ "quotes": rows, "request_id": "local", "source_status": 200 })
    }

    fn search(&self, query: &str) -> Value {
        let query = query.to_lowercase();
        let fits = |row: &str| query.split_whitespace().all(|it| row.to_lowercase().contains(it));
        let mut found: Vec<&str> = SECURITIES.lines().filter(|row| fits(row)).collect();
        found.sort_by_key(|row| row.split('|').next() != Some(query.to_uppercase().as_str()));
        let rows = found.into_iter().take(20).map(|row| {
            let parts: Vec<&str> = row.split('|').collect();
            let name = self.hostile.unwrap_or(parts[2]);
            json!({ "ticker": parts[0], "short_name": self.hostile.unwrap_or(parts[1]), "name": name,
                "latin_name": parts[3], "board": "TQBR", "is_traded": true,
                "isin": format!("RU{:010}", seed(parts[0]) % 10_000_000_000) })
        });
        let rows: Vec<Value> = rows.collect();
        let count = rows.len();
        json!({ "metadata": { "source": "moex-iss", "query": query }, "data": rows,
            "metrics": { "num_found": count }, "error": null })
    }

    fn calendar(args: &Map<String, Value>) -> Value {
        let (from, to) = period(args).unwrap_or((TODAY, TODAY));
        let all: Vec<Date> = from.series(1.day()).take_while(|it| *it <= to).collect();
        let row = |day: &Date| {
            let basis = if *day < TODAY { "record" } else { "weekly" };
            json!({ "date": day.to_string(), "is_trading": !days(*day, *day).is_empty(), "basis": basis,
                "opens": format!("{day}T06:50:00Z"), "closes": format!("{day}T20:50:00Z") })
        };
        json!({ "metadata": { "source": "moex-iss" },
            "data": all.iter().map(row).collect::<Vec<_>>(),
            "metrics": { "num_trading_days": days(from, to).len() }, "error": null })
    }

    fn snapshot(&self, args: &Map<String, Value>) -> Result<Value, ToolFailure> {
        let ticker = text(args, "ticker");
        let row = listed(ticker)?;
        on_board(ticker, args)?;
        let (last, before) = (close(ticker, TODAY), close(ticker, TODAY.saturating_sub(1.day())));
        let change = (last - before) / before * 100.0;
        Ok(json!({
            "metadata": { "source": "moex-iss", "ticker": ticker, "board": "TQBR", "as_of": "2024-06-14T12:00:00Z" },
            "data": { "last_price": last, "price_change_abs": last - before,
                "price_change_pct": (change * 100.0).round() / 100.0, "open_price": before,
                "high_price": last.max(before) * 1.01, "low_price": last.min(before) * 0.99,
                "volume": 1000 + seed(ticker) % 9_000_000, "value": 1_000_000 + seed(row[0]) % 9_000_000_000,
                "currency": "RUB", "short_name": self.hostile.unwrap_or(row[1]), "is_stale": self.morning,
                "lot_size": 10 },
            "metrics": { "intraday_volatility_estimate": 2.0 }, "error": null }))
    }

    fn history(&self, args: &Map<String, Value>) -> Result<Value, ToolFailure> {
        let ticker = text(args, "ticker");
        listed(ticker)?;
        on_board(ticker, args)?;
        let (from, to) = period(args)?;
        let to = if self.morning { to.min(TODAY.saturating_sub(1.day())) } else { to };
        let days = days(from, to);
        let forming = self.forming && days.last() == Some(&TODAY);
        let closed = days.len() - usize::from(forming);
        let closes: Vec<f64> = days.iter().take(closed).map(|day| close(ticker, *day)).collect();
        let candle = |day: &Date| {
            let close = close(ticker, *day);
            json!({ "ts": format!("{day}T00:00:00+03:00"), "open": close * 0.995, "high": close * 1.01,
                "low": close * 0.98, "close": close, "volume": 1_000 + seed(&day.to_string()) % 100_000 })
        };
        let mut metrics = json!({ "num_days": closed, "num_candles": closed });
        if let (Some(first), Some(last)) = (closes.first(), closes.last()) {
            metrics["avg_daily_volume"] = json!(54_321.5);
            metrics["period_high"] = json!(closes.iter().copied().fold(f64::MIN, f64::max) * 1.01);
            metrics["period_low"] = json!(closes.iter().copied().fold(f64::MAX, f64::min) * 0.98);
            if closes.len() > 1 {
                metrics["total_return_pct"] = json!((last - first) / first * 100.0);
            }
            if closes.len() > 2 {
                metrics["annualized_volatility"] =
                    json!(deviation(&returns(&closes)) * 252_f64.sqrt() * 100.0);
            }
        }
        if let Some((date, before, after)) = self.split.filter(|it| from < it.0 && it.0 <= to) {
            metrics["splits"] =
                json!([{ "date": date.to_string(), "before": before, "after": after }]);
        }
        if self.split_in_index == Some(ticker) {
            metrics["splits"] = json!([{ "date": "2024-02-21", "before": 1, "after": 10 }]);
        }
        let mut rows: Vec<Value> = days.iter().map(candle).collect();
        if let Some(last) = rows.last_mut().filter(|_| forming) {
            last["is_forming"] = json!(true);
        }
        Ok(json!({ "metadata": { "source": "moex-iss", "ticker": ticker },
            "data": rows, "metrics": metrics, "error": null }))
    }

    fn dividends(args: &Map<String, Value>) -> Result<Value, ToolFailure> {
        let ticker = text(args, "ticker");
        listed(ticker)?;
        let within = |day: &Date| {
            let day = day.to_string();
            (text(args, "from_date").is_empty() || *text(args, "from_date") <= *day)
                && (text(args, "to_date").is_empty() || *day <= *text(args, "to_date"))
        };
        let value = |day: &Date| (close(ticker, *day) * 5.0).round() / 100.0;
        let all: Vec<Date> = (2019..2024).map(|year| date(year, 7, 11)).collect();
        let paid: Vec<&Date> = all.iter().filter(|it| within(it)).collect();
        let last = value(&date(2023, 7, 11));
        let sum = (!paid.is_empty()).then(|| paid.iter().map(|day| value(day)).sum::<f64>());
        Ok(json!({ "metadata": { "source": "moex-iss", "ticker": ticker },
            "data": paid.iter().map(|day| json!({ "registry_close_date": day.to_string(), "value": value(day), "currency": "RUB" })).collect::<Vec<_>>(),
            "metrics": { "num_payments": paid.len(), "period_sum": sum, "trailing_12m_sum": last,
                "trailing_12m_yield_pct": last / close(ticker, TODAY) * 100.0 }, "error": null }))
    }

    fn basket(&self, args: &Map<String, Value>) -> Result<Value, ToolFailure> {
        if !["IMOEX", "RTSI"].contains(&text(args, "index_ticker")) {
            return Err(invalid("invalid_argument", "one of IMOEX, RTSI"));
        }
        let as_of_date =
            clock::parse_date(text(args, "as_of_date")).ok_or(invalid("invalid_date", "date"))?;
        let last = if self.morning { TODAY.saturating_sub(1.day()) } else { TODAY };
        let day = trading_day(as_of_date.min(last));
        let before = trading_day(day.saturating_sub(1.day()));
        let tickers: Vec<&str> =
            SECURITIES.lines().filter_map(|it| it.split('|').next()).take(20).collect();
        let row = |(at, ticker): (usize, &&str)| {
            let (now, then) = (close(ticker, day), close(ticker, before));
            let is_before_split = self.split_in_index == Some(ticker) && day < date(2024, 2, 21);
            let shown = if is_before_split { now * 10.0 } else { now };
            json!({ "ticker": ticker, "weight_pct": 12.0 - at as f64 * 0.5, "last_price": shown,
                "price_change_pct": ((now / then - 1.0) * 10_000.0).round() / 100.0, "sector": sector(ticker) })
        };
        let rows: Vec<Value> = tickers.iter().enumerate().map(row).collect();
        Ok(
            json!({ "metadata": { "source": "moex-iss", "index_ticker": text(args, "index_ticker"), "as_of_date": as_of_date.to_string() },
            "data": rows, "metrics": { "top5_weight_pct": 55.0, "num_constituents": tickers.len(),
                "effective_date": day.to_string() }, "error": null }),
        )
    }

    fn risk(args: &Map<String, Value>) -> Result<Value, ToolFailure> {
        let (from, to) = period(args)?;
        let days = days(from, to);
        let positions = args["positions"].as_array().cloned().unwrap_or_default();
        let weight = |it: &Value| it["weight"].as_f64().unwrap_or(1.0);
        let sum: f64 = positions.iter().map(weight).sum();
        let mut whole = vec![0.0; days.len().saturating_sub(1)];
        let (mut rows, mut hhi, mut top) = (Vec::new(), 0.0, 0.0_f64);
        for it in &positions {
            let ticker = it["ticker"].as_str().unwrap_or_default();
            listed(ticker)?;
            let closes: Vec<f64> = days.iter().map(|day| close(ticker, *day)).collect();
            let own = returns(&closes);
            if own.len() < 2 {
                return Err(invalid("too_few_days", "2 trading days in common; 3 are needed"));
            }
            let share = weight(it) / sum;
            whole.iter_mut().zip(&own).for_each(|(whole, own)| *whole += share * own);
            (hhi, top) = (hhi + share * share, top.max(share));
            rows.push(json!({ "ticker": ticker, "weight": share,
                "total_return_pct": (closes[closes.len() - 1] / closes[0] - 1.0) * 100.0,
                "annualized_volatility": deviation(&own) * 252_f64.sqrt() * 100.0,
                "max_drawdown_pct": 3.0 + (seed(ticker) % 700) as f64 / 30.0,
                "risk_contribution_pct": share * 100.0 }));
        }
        let confidence = args.get("confidence").and_then(Value::as_f64).unwrap_or(0.95);
        let horizon = args.get("horizon_days").and_then(Value::as_u64).unwrap_or(1);
        let spread = deviation(&whole);
        Ok(json!({ "metadata": { "source": "moex-iss" }, "data": rows, "metrics": {
            "total_return_pct": (whole.iter().map(|it| 1.0 + it).product::<f64>() - 1.0) * 100.0,
            "annualized_volatility": spread * 252_f64.sqrt() * 100.0, "max_drawdown_pct": 17.654_321,
            "var_historical_pct": spread * 1.7 * 100.0, "var_parametric_pct": spread * 1.645 * 100.0,
            "hhi": hhi, "top1_weight_pct": top * 100.0, "num_days": whole.len(),
            "confidence": confidence, "horizon_days": horizon }, "error": null }))
    }

    fn matrix(args: &Map<String, Value>) -> Result<Value, ToolFailure> {
        let (from, to) = period(args)?;
        let days = days(from, to);
        let tickers: Vec<&str> =
            args["tickers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut each: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for ticker in &tickers {
            listed(ticker)?;
            let closes: Vec<f64> = days.iter().map(|day| close(ticker, *day)).collect();
            each.insert(ticker, returns(&closes));
        }
        let (mut rows, mut sum, mut count) = (Vec::new(), 0.0, 0.0);
        for a in &tickers {
            let mut row = Map::new();
            for b in &tickers {
                let value = correlation(&each[a], &each[b]);
                if a < b {
                    (sum, count) = (sum + value, count + 1.0);
                }
                row.insert((*b).to_owned(), json!(value));
            }
            rows.push(json!({ "ticker": a, "correlations": row }));
        }
        Ok(json!({ "metadata": { "source": "moex-iss", "tickers": tickers }, "data": rows,
            "metrics": { "num_days": days.len() - 1, "mean_correlation": sum / count }, "error": null }))
    }
}

#[async_trait]
impl ToolCaller for FakeTools {
    async fn call(
        &self,
        _: &Caller,
        tool: &str,
        args: Map<String, Value>,
        _: &CancellationToken,
        _: Instant,
    ) -> Result<ToolAnswer, ToolFailure> {
        if self.hangs == Some(tool) {
            std::future::pending::<()>().await;
        }
        let mut result = self.answer(tool, &args)?;
        altered(&mut result, self.missing.as_deref(), &self.given);
        let freshness = json!({ "source": "simulated", "delay": "delayed_15m", "stale": false });
        let meta = [("stoa/freshness".to_owned(), freshness)].into_iter().collect();
        Ok(ToolAnswer { result, meta })
    }
}

/// A clock that stands at noon UTC of [`TODAY`].
pub(super) fn noon_clock() -> FakeClock {
    FakeClock::new(Millis(Millis::start_of(TODAY).0 + clock::DAY_MS / 2))
}

/// An answer with the calls that it cites.
pub(super) struct TestAnswer {
    pub(super) answer: AnalystAnswer,
    pub(super) findings: Vec<Finding>,
}

/// Asks an analyst on the fake tools; earlier messages come first.
pub(super) fn ask(
    fake_tools: FakeTools,
    messages: &[&str],
    locale: Option<crate::Language>,
) -> TestAnswer {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let fake_tools = Arc::new(fake_tools);
        let analyst = Analyst::local(fake_tools.clone(), Arc::new(noon_clock()));
        let caller = Caller::new("reader", ["read".to_owned()]);
        let (cancel, progress) = (CancellationToken::new(), Progress::default());
        let deadline = Instant::now() + Duration::from_secs(60);
        let tool_session = ToolSession::new(&*fake_tools, &caller, &cancel, deadline, &progress);
        let messages = messages.iter().map(|it| (*it).to_owned()).collect();
        let answer = analyst.answer(&Question { messages, locale }, &tool_session).await.unwrap();
        TestAnswer { answer, findings: tool_session.findings() }
    })
}
