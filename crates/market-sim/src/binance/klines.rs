//! `GET /api/v3/klines`: rows of twelve, selected by opening time, the forming one unmarked.

use clock::{Millis, TimeRange};
use market::Interval;

use super::damage::RowFault;
use super::errors::ApiError;
use super::params::{Params, legal_symbol};
use super::text::{push_i64, push_scaled};
use crate::instruments::{Instrument, Instruments};
use crate::keyed_rng::{key, unit};
use crate::price_tree::{Candle, Walker};

const LIMIT_DEFAULT: i64 = 500;
const LIMIT_MAX: i64 = 1_000;

/// The rows of one request.
#[derive(Debug, Clone, Copy)]
struct Selection {
    interval: Interval,
    /// Both bounds act on the opening time, and both are inclusive.
    start: Option<Millis>,
    end: Option<Millis>,
    limit: usize,
}

pub(crate) fn answer(
    instruments: &Instruments,
    seed: u64,
    now: Millis,
    params: &Params,
    fault: Option<RowFault>,
) -> Result<String, ApiError> {
    let symbol = legal_symbol(params.mandatory("symbol")?)?;
    let interval = params.mandatory("interval")?;
    let (start, end) = (params.time("startTime")?, params.time("endTime")?);
    let limit = params.number("limit")?.unwrap_or(LIMIT_DEFAULT);
    let time_zone = params.optional("timeZone")?;
    params.all_read()?;
    let interval = Interval::parse(interval).ok_or_else(ApiError::invalid_interval)?;
    if limit == 0 {
        return Err(ApiError::invalid_data("limit"));
    }
    if time_zone.is_some_and(|zone| zone != "0" && zone != "0:00") {
        return Err(ApiError::invalid_data("timeZone"));
    }
    let pair = instruments.find(symbol, now).ok_or_else(ApiError::invalid_symbol)?;
    let limit = limit.min(LIMIT_MAX) as usize;
    let mut walker = Walker::new(seed, pair, now);
    let selection = Selection { interval, start, end, limit };
    let mut rows = select(&mut walker, selection);
    if let Some(fault) = fault {
        fault.apply(&mut rows, |open| interval.next_open(open), now);
    }
    Ok(render(pair, interval, &rows))
}

/// A row and when it opened.
pub(crate) type Row = (Millis, Candle);

fn select(walker: &mut Walker<'_>, selection: Selection) -> Vec<Row> {
    let Selection { interval, start, end, limit } = selection;
    let record = walker.record();
    if record.is_empty() {
        return Vec::new();
    }
    let earliest = interval.open_of(record.from);
    let latest = interval.open_of(Millis(record.to.0 - 1)).min(end.unwrap_or(Millis(i64::MAX)));
    let mut rows = Vec::with_capacity(limit.min(LIMIT_MAX as usize));
    let row = |walker: &mut Walker<'_>, open: Millis| {
        walker.fold(TimeRange::new(open, interval.next_open(open))).map(|candle| (open, candle))
    };
    if let Some(start) = start {
        // Compared before rounding up: the far end of time has no next bar.
        if start > latest {
            return rows;
        }
        let mut open = interval.open_at_or_after(start.max(earliest));
        while open <= latest && rows.len() < limit {
            rows.extend(row(walker, open));
            open = interval.next_open(open);
        }
    } else {
        let mut open = interval.open_of(latest);
        while open >= earliest && rows.len() < limit {
            rows.extend(row(walker, open));
            open = interval.open_of(Millis(open.0 - 1));
        }
        rows.reverse();
    }
    rows
}

fn render(pair: &Instrument, interval: Interval, rows: &[Row]) -> String {
    let mut text = String::with_capacity(2 + rows.len() * 180);
    text.push('[');
    for (at, (open, candle)) in rows.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        render_row(&mut text, pair, *open, interval.next_open(*open), candle);
    }
    text.push(']');
    text
}

/// The part of the volume and of the turnover that takers bought: about half.
pub(crate) fn taken(open: Millis, candle: &Candle) -> (i64, i128) {
    let bar = candle.bar;
    let share = 0.4 + 0.2 * unit(key(&[open.0 as u64, bar.close as u64]));
    let taken = (bar.volume as f64 * share) as i64;
    if bar.volume == 0 {
        return (taken, 0);
    }
    (taken, candle.turnover * i128::from(taken) / i128::from(bar.volume))
}

fn render_row(text: &mut String, pair: &Instrument, open: Millis, next: Millis, candle: &Candle) {
    let bar = candle.bar;
    let both = pair.price_scale + pair.volume_scale;
    let (taken, taken_turnover) = taken(open, candle);
    text.push('[');
    push_i64(text, open.0);
    for price in [bar.open, bar.high, bar.low, bar.close] {
        text.push(',');
        push_scaled(text, i128::from(price), pair.price_scale);
    }
    text.push(',');
    push_scaled(text, i128::from(bar.volume), pair.volume_scale);
    text.push(',');
    push_i64(text, next.0 - 1);
    text.push(',');
    push_scaled(text, candle.turnover, both);
    text.push(',');
    push_i64(text, bar.trades);
    text.push(',');
    push_scaled(text, i128::from(taken), pair.volume_scale);
    text.push(',');
    push_scaled(text, taken_turnover, both);
    text.push_str(",\"0\"]");
}
