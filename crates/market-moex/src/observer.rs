//! The port through which the adapter reports requests and stream events for metrics.

use std::time::Duration;

/// Receives the events of the adapter.
pub trait Observer: Send + Sync {
    /// One attempt of a request ended. `outcome` is `ok` or the fault code.
    fn upstream(&self, endpoint: &'static str, outcome: &'static str, elapsed: Duration);

    /// An event of live candles: `reconnecting` or `gap_filled`.
    fn stream(&self, _what: &'static str) {}
}

/// Ignores all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn upstream(&self, _endpoint: &'static str, _outcome: &'static str, _elapsed: Duration) {}
}
