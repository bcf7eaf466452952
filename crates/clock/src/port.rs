//! The wall clock as a port, so that tests and replays set the time.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::time::Millis;

/// Reads the current time.
pub trait Clock: Send + Sync {
    /// The current instant.
    fn now(&self) -> Millis;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the implementation of the Clock port that reads the machine's clock"
    )]
    fn now(&self) -> Millis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
