//! Counts the streams that a handler reads itself; transports count their own.

use std::sync::Arc;

use crate::meter::Meter;

/// Counts the streams that one call opens.
#[derive(Clone)]
pub struct StreamMetrics {
    pub(crate) meter: Arc<dyn Meter>,
    pub(crate) service: Arc<str>,
    pub(crate) transport: &'static str,
}

impl StreamMetrics {
    /// Counts a stream as opened, and as open until the returned guard is dropped.
    pub fn count_opened(&self, stream: &str) -> Box<dyn Send + Sync> {
        self.meter.stream_opened(&self.service, stream, self.transport)
    }

    /// Counts a stream that the server ended, by the fault code of the reason.
    pub fn count_cut_off(&self, code: &'static str) {
        self.meter.stream_cut_off(&self.service, code);
    }
}

impl std::fmt::Debug for StreamMetrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamMetrics").field("transport", &self.transport).finish_non_exhaustive()
    }
}
