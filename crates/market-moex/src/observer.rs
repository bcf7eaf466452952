//! What the adapter tells whoever counts. It does not know how counting is done.

use std::time::Duration;

pub trait Observer: Send + Sync {
    /// After each attempt. `outcome` is `ok` or the code of the fault.
    fn upstream(&self, endpoint: &'static str, outcome: &'static str, elapsed: Duration);

    /// Something happened to live candles: `reconnecting` or `gap_filled`.
    fn stream(&self, _what: &'static str) {}
}

/// Nobody counts.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn upstream(&self, _endpoint: &'static str, _outcome: &'static str, _elapsed: Duration) {}
}
