//! When a venue trades, as far as it is needed to count the bars a time range should hold.

use crate::interval::Interval;
use clock::TimeRange;

/// When a venue trades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TradingHours {
    /// Always, as crypto venues do: every bar of every day is expected.
    AlwaysOpen,
    /// The sessions are not known, so the number of bars cannot be told.
    Unknown,
}

impl TradingHours {
    /// How many bars should open within the range; `None` when the hours are not known.
    pub fn expected_bars(self, interval: Interval, range: TimeRange) -> Option<u64> {
        match self {
            Self::AlwaysOpen => Some(interval.count_in(range)),
            Self::Unknown => None,
        }
    }
}
