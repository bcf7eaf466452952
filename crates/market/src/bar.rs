//! Closed bars and the series they belong to.

use crate::decimal::Decimal;
use crate::interval::Interval;
use crate::symbol::Symbol;
use clock::{Millis, TimeRange};

/// One closed bar. A bar that is still forming is never a `Bar`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// When the bar opens.
    pub open_time: Millis,
    /// The first price.
    pub open: Decimal,
    /// The highest price.
    pub high: Decimal,
    /// The lowest price.
    pub low: Decimal,
    /// The last price.
    pub close: Decimal,
    /// Units traded; `None` when the source does not give it.
    pub volume: Option<Decimal>,
}

/// The key of a series of bars in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BarSeries {
    /// Where the bars come from. It is not the venue: bars of the simulated exchange must never mix
    /// with bars of the exchange it simulates.
    pub source: String,
    /// The instrument.
    pub symbol: Symbol,
    /// The length of the bars.
    pub interval: Interval,
}

/// The bars a venue returned for a time range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarBatch {
    /// Ascending by `open_time`, without duplicates.
    pub bars: Vec<Bar>,
    /// The range that is known completely: every closed bar the venue has in it is in `bars`. It
    /// ends before the requested range when bars are still forming.
    pub covered: TimeRange,
    /// When the venue answered.
    pub received_at: Millis,
}
