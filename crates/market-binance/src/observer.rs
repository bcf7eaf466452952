//! What the adapter reports for metrics.

use std::time::Duration;

pub trait Observer: Send + Sync {
    /// After each attempt. `outcome` is `ok` or the code of the fault.
    fn upstream(&self, endpoint: &'static str, outcome: &'static str, elapsed: Duration);

    /// The weight used this minute as the exchange counts it, and its limit.
    fn used_weight(&self, used: u32, limit: u32);

    /// An event of live candles: `reconnecting`, `gap_filled`, `mute` or `refused`.
    fn stream(&self, _what: &'static str) {}
}

/// Ignores every report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn upstream(&self, _endpoint: &'static str, _outcome: &'static str, _elapsed: Duration) {}

    fn used_weight(&self, _used: u32, _limit: u32) {}
}
