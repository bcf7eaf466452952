//! `GET /api/v3/ticker/24hr` and `ticker/price`: one symbol is an object, several are an array.

use clock::{DAY_MS, Millis, TimeRange};
use serde_json::{Map, Value, json};

use super::errors::ApiError;
use super::params::{Params, legal_symbol};
use super::text::scaled;
use crate::instruments::{Instrument, Instruments};
use crate::price_tree::{Candle, Walker};

/// The values of one symbol.
struct Day {
    candle: Candle,
    span: TimeRange,
}

pub(crate) fn day(
    instruments: &Instruments,
    seed: u64,
    now: Millis,
    params: &Params,
) -> Result<String, ApiError> {
    let mini = match params.optional("type")? {
        None | Some("FULL") => false,
        Some("MINI") => true,
        Some(_) => return Err(ApiError::invalid_data("type")),
    };
    for_each_asked(instruments, now, params, |pair| {
        let day = last_day(seed, pair, now)?;
        let mut fields = Map::new();
        if mini {
            mini_fields(&mut fields, pair, &day)
        } else {
            full_fields(&mut fields, pair, &day)
        }
        Some(Value::Object(fields))
    })
}

pub(crate) fn price(
    instruments: &Instruments,
    seed: u64,
    now: Millis,
    params: &Params,
) -> Result<String, ApiError> {
    for_each_asked(instruments, now, params, |pair| {
        let last = last_day(seed, pair, now)?.candle.bar.close;
        Some(json!({"symbol": pair.symbol, "price": scaled(last.into(), pair.price_scale)}))
    })
}

/// One unknown symbol fails the whole request.
fn for_each_asked(
    instruments: &Instruments,
    now: Millis,
    params: &Params,
    answer: impl Fn(&Instrument) -> Option<Value>,
) -> Result<String, ApiError> {
    let (one, many) = (params.optional("symbol")?, params.symbols()?);
    params.all_read()?;
    let find = |symbol: &str| instruments.find(symbol, now).ok_or_else(ApiError::invalid_symbol);
    let values: Vec<Value> = match (one, many) {
        (Some(_), Some(_)) => return Err(ApiError::combination()),
        (Some(symbol), None) => {
            let pair = find(legal_symbol(symbol)?)?;
            let value = answer(pair).ok_or_else(ApiError::invalid_symbol)?;
            return Ok(value.to_string());
        }
        (None, Some(symbols)) => {
            let pairs: Result<Vec<_>, _> = symbols.iter().map(|symbol| find(symbol)).collect();
            pairs?.into_iter().filter_map(answer).collect()
        }
        (None, None) => instruments.listed_at(now).filter_map(answer).collect(),
    };
    Ok(Value::Array(values).to_string())
}

/// The 24 hours up to now, or up to the end of trading where that is past.
fn last_day(seed: u64, pair: &Instrument, now: Millis) -> Option<Day> {
    let mut walker = Walker::new(seed, pair, now);
    let end = walker.record().to;
    let candle = walker.fold(TimeRange::new(Millis(end.0 - DAY_MS), end))?;
    let close = pair.stopped.map_or(now, |(since, _)| since.min(now));
    Some(Day { candle, span: TimeRange::new(Millis(close.0 - DAY_MS), close) })
}

/// Quote asset per unit of base, at the price's own scale plus what division can add.
fn average(pair: &Instrument, candle: &Candle) -> String {
    let volume = i128::from(candle.bar.volume);
    if volume == 0 {
        return scaled(0, 0);
    }
    let lift = 8 - pair.price_scale.min(8);
    scaled(candle.turnover * 10_i128.pow(lift) / volume, pair.price_scale + lift)
}

/// Trades are numbered from the listing on.
fn trade_ids(pair: &Instrument, day: &Day) -> (i64, i64) {
    let days = (day.span.from.0 - pair.listed.0).max(0) as f64 / DAY_MS as f64;
    let first = (days * pair.trades_per_day) as i64;
    (first, first + day.candle.bar.trades - 1)
}

fn mini_fields(fields: &mut Map<String, Value>, pair: &Instrument, day: &Day) {
    let bar = day.candle.bar;
    let price = |ticks: i64| Value::from(scaled(ticks.into(), pair.price_scale));
    let (first, last) = trade_ids(pair, day);
    fields.insert("symbol".to_owned(), pair.symbol.into());
    fields.insert("openPrice".to_owned(), price(bar.open));
    fields.insert("highPrice".to_owned(), price(bar.high));
    fields.insert("lowPrice".to_owned(), price(bar.low));
    fields.insert("lastPrice".to_owned(), price(bar.close));
    fields.insert("volume".to_owned(), scaled(bar.volume.into(), pair.volume_scale).into());
    let turnover = scaled(day.candle.turnover, pair.price_scale + pair.volume_scale);
    fields.insert("quoteVolume".to_owned(), turnover.into());
    fields.insert("openTime".to_owned(), day.span.from.0.into());
    fields.insert("closeTime".to_owned(), day.span.to.0.into());
    fields.insert("firstId".to_owned(), first.into());
    fields.insert("lastId".to_owned(), last.into());
    fields.insert("count".to_owned(), bar.trades.into());
}

fn full_fields(fields: &mut Map<String, Value>, pair: &Instrument, day: &Day) {
    let bar = day.candle.bar;
    let price = |ticks: i64| Value::from(scaled(ticks.into(), pair.price_scale));
    let size = |steps: i64| Value::from(scaled(steps.max(1).into(), pair.volume_scale));
    let percent = (bar.close - bar.open) as f64 / bar.open as f64 * 100.0;
    let per_trade = bar.volume / bar.trades.max(1);
    fields.insert("symbol".to_owned(), pair.symbol.into());
    fields.insert("priceChange".to_owned(), price(bar.close - bar.open));
    fields.insert("priceChangePercent".to_owned(), format!("{percent:.3}").into());
    fields.insert("weightedAvgPrice".to_owned(), average(pair, &day.candle).into());
    fields.insert("prevClosePrice".to_owned(), price(bar.open));
    fields.insert("lastPrice".to_owned(), price(bar.close));
    fields.insert("lastQty".to_owned(), size(per_trade));
    fields.insert("bidPrice".to_owned(), price(bar.close - 1));
    fields.insert("bidQty".to_owned(), size(per_trade * 3));
    fields.insert("askPrice".to_owned(), price(bar.close));
    fields.insert("askQty".to_owned(), size(per_trade * 2));
    // The rest is the short form, of which the fields already written keep their place.
    mini_fields(fields, pair, day);
}
