//! Where a handler that follows a stream by itself has it counted as one, like those that transports
//! open.

use std::sync::Arc;

use crate::pipeline::Meter;

/// The counting of streams, for one call.
#[derive(Clone)]
pub struct Ledger {
    pub(crate) meter: Arc<dyn Meter>,
    pub(crate) service: Arc<str>,
    pub(crate) transport: &'static str,
}

impl Ledger {
    /// Counts a stream as opened, and as open until what is returned is dropped.
    pub fn opened(&self, stream: &str) -> Box<dyn Send + Sync> {
        self.meter.opened(&self.service, stream, self.transport)
    }

    /// Counts one that ended before its reader wanted it to.
    pub fn lost(&self, code: &'static str) {
        self.meter.lost(&self.service, code);
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("transport", &self.transport).finish_non_exhaustive()
    }
}
