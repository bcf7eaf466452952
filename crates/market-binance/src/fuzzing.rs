//! The entry points of the fuzz targets: the parsers of what the exchange sends.

use market::Kline;

use crate::klines::read_row;
use crate::stream::wire::{self, StreamMessage};
use crate::wire::KlineRow;

/// Parses one WebSocket message; the candle of a valid one that has a candle.
#[must_use]
pub fn read_frame(bytes: &[u8]) -> Option<Kline> {
    match wire::read(std::str::from_utf8(bytes).ok()?) {
        Ok(StreamMessage::Kline { update, .. }) => Some(update.kline),
        _ => None,
    }
}

/// Parses one klines response; the rows that are valid.
#[must_use]
pub fn read_klines(bytes: &[u8]) -> Vec<Kline> {
    let rows: Vec<KlineRow<'_>> = serde_json::from_slice(bytes).unwrap_or_default();
    rows.iter().filter_map(|row| read_row(row).ok()).collect()
}
