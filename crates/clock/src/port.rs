//! The wall clock as a port, so that tests and replays decide what time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::time::Millis;

pub trait Clock: Send + Sync {
    fn now(&self) -> Millis;
}

/// The machine's own clock. The only place in the house that reads it.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the Clock port's real side")]
    fn now(&self) -> Millis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
