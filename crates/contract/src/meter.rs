//! The port through which the pipeline counts calls and streams.

use std::time::Duration;

/// The result of one call, for the metrics.
#[derive(Debug)]
pub struct CallRecord<'a> {
    /// The service that was called.
    pub service: &'a str,
    /// The tool, stream, upload or download.
    pub tool: &'a str,
    /// The label of the transport; see [`crate::Call::transport`].
    pub transport: &'static str,
    /// The fault's code; `None` for success.
    pub failed: Option<&'static str>,
    /// From the first step of the pipeline to the reply.
    pub elapsed: Duration,
}

/// Counts calls and streams; the server implements it over its metrics.
pub trait Meter: Send + Sync {
    /// Counts a finished call.
    fn record(&self, record: &CallRecord<'_>);

    /// Counts an opened subscription; the guard is dropped when the subscription ends.
    fn stream_opened(
        &self,
        _service: &str,
        _stream: &str,
        _transport: &str,
    ) -> Box<dyn Send + Sync> {
        Box::new(())
    }

    /// Counts a stream that the server ended: its credential was revoked, or its reader stalled.
    fn stream_cut_off(&self, _service: &str, _code: &'static str) {}

    /// Counts a call that queues for its tool; the guard is dropped when it leaves the queue.
    fn call_queued(&self, _service: &str, _tool: &str) -> Box<dyn Send + Sync> {
        Box::new(())
    }
}
