//! When a venue trades, as far as completeness needs it: how many bars a span ought to hold.

use crate::interval::Interval;
use clock::TimeRange;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TradingHours {
    /// Crypto venues: every bar of every day is expected.
    AlwaysOpen,
    /// Sessions are not known; nothing can be said about how many bars there should be.
    Unknown,
}

impl TradingHours {
    /// The number of bars that ought to open within the span, where that can be known.
    pub fn expected_bars(self, interval: Interval, span: TimeRange) -> Option<u64> {
        match self {
            Self::AlwaysOpen => Some(interval.count_in(span)),
            Self::Unknown => None,
        }
    }
}
