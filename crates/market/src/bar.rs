//! Closed bars, and the series they belong to.

use crate::decimal::Decimal;
use crate::interval::Interval;
use crate::symbol::Symbol;
use clock::{Millis, TimeRange};

/// One closed bar. A bar that is still forming is never a `Bar`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    pub open_time: Millis,
    pub open: Decimal,
    pub high: Decimal,
    pub low: Decimal,
    pub close: Decimal,
    pub volume: Option<Decimal>,
}

/// The name a series of bars is kept under.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BarSeries {
    /// Who the bars come from. Not the venue: bars of the simulated exchange must never be mixed
    /// with bars of the exchange it simulates.
    pub source: String,
    pub symbol: Symbol,
    pub interval: Interval,
}

/// What a venue answered for a span of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarBatch {
    /// Ascending by `open_time`, without duplicates.
    pub bars: Vec<Bar>,
    /// What is now known completely: every closed bar the venue has in here is in `bars`. It ends
    /// before the span asked for where bars are still forming.
    pub covered: TimeRange,
    pub received_at: Millis,
}
