//! The text of stream messages, as Binance formats them.

use std::fmt::Write;

use clock::Millis;
use market::Interval;

use crate::binance::klines::taken;
use crate::binance::text::{push_i64, push_scaled};
use crate::instruments::Instrument;
use crate::price_tree::Candle;

/// One message before it is wrapped for a combined connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) stream: String,
    pub(crate) data: String,
}

/// A candle and when it opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) pair: &'a Instrument,
    pub(crate) interval: Interval,
    pub(crate) open: Millis,
    pub(crate) candle: Candle,
}

/// `{"e":"kline","E":1786700000123,"s":"BTCUSDT","k":{"t":..,"T":..,"s":"BTCUSDT","i":"1m",..}}`
pub(crate) fn kline(shown: Shown<'_>, closed: bool, now: Millis) -> String {
    let Shown { pair, interval, open, candle } = shown;
    let bar = candle.bar;
    let both = pair.price_scale + pair.volume_scale;
    let (taken, taken_turnover) = taken(open, &candle);
    // Trade ids only have to grow; a candle without trades has none.
    let first = if bar.trades == 0 { -1 } else { open.0 / 1_000 * 10_000 };
    let last = if bar.trades == 0 { -1 } else { first + bar.trades - 1 };
    let mut text = String::with_capacity(400);
    text.push_str("{\"e\":\"kline\"");
    integer(&mut text, "E", now.0);
    string(&mut text, "s", pair.symbol);
    text.push_str(",\"k\":{\"t\":");
    push_i64(&mut text, open.0);
    integer(&mut text, "T", interval.next_open(open).0 - 1);
    string(&mut text, "s", pair.symbol);
    string(&mut text, "i", interval.as_str());
    integer(&mut text, "f", first);
    integer(&mut text, "L", last);
    for (name, price) in [("o", bar.open), ("c", bar.close), ("h", bar.high), ("l", bar.low)] {
        decimal(&mut text, name, i128::from(price), pair.price_scale);
    }
    decimal(&mut text, "v", i128::from(bar.volume), pair.volume_scale);
    integer(&mut text, "n", bar.trades);
    text.push_str(if closed { ",\"x\":true" } else { ",\"x\":false" });
    decimal(&mut text, "q", candle.turnover, both);
    decimal(&mut text, "V", i128::from(taken), pair.volume_scale);
    decimal(&mut text, "Q", taken_turnover, both);
    string(&mut text, "B", "0");
    text.push_str("}}");
    text
}

pub(crate) fn shutdown(now: Millis) -> Frame {
    let data = format!("{{\"e\":\"serverShutdown\",\"E\":{}}}", now.0);
    Frame { stream: "!serverShutdown".to_owned(), data }
}

/// The message as a combined connection sends it.
pub(crate) fn combined(frame: &Frame) -> String {
    let stream = serde_json::Value::from(frame.stream.as_str());
    format!("{{\"stream\":{stream},\"data\":{}}}", frame.data)
}

fn name(text: &mut String, name: &str) {
    // Writing to a string cannot fail.
    let _written = write!(text, ",\"{name}\":");
}

fn integer(text: &mut String, key: &str, value: i64) {
    name(text, key);
    push_i64(text, value);
}

fn decimal(text: &mut String, key: &str, value: i128, scale: u32) {
    name(text, key);
    push_scaled(text, value, scale);
}

fn string(text: &mut String, key: &str, value: &str) {
    name(text, key);
    let _written = write!(text, "\"{value}\"");
}
