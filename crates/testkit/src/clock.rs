//! A clock that stands still until it is moved.

use std::sync::atomic::{AtomicI64, Ordering};

use clock::{Clock, Millis};
use tokio::time::Instant;

#[derive(Debug, Default)]
pub struct FakeClock(AtomicI64);

impl FakeClock {
    pub fn new(now: Millis) -> Self {
        Self(AtomicI64::new(now.0))
    }

    pub fn set(&self, now: Millis) {
        self.0.store(now.0, Ordering::SeqCst);
    }

    pub fn advance(&self, by: std::time::Duration) {
        let by = i64::try_from(by.as_millis()).expect("a step that fits the calendar");
        self.0.fetch_add(by, Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}

/// A clock that runs with tokio's time, which `#[tokio::test(start_paused = true)]` pauses: it jumps to
/// the next timer as soon as every task waits.
#[derive(Debug)]
pub struct TokioClock {
    start: Millis,
    began: Instant,
}

impl TokioClock {
    /// Shows `start` now.
    pub fn new(start: Millis) -> Self {
        Self { start, began: Instant::now() }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Millis {
        let passed = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        Millis(self.start.0.saturating_add(passed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_moves_only_when_it_is_advanced() {
        let clock = FakeClock::new(Millis(5));
        assert_eq!(clock.now(), Millis(5));
        clock.advance(std::time::Duration::from_secs(2));
        assert_eq!(clock.now(), Millis(2_005));
        clock.set(Millis(1));
        assert_eq!(clock.now(), Millis(1));
    }
}
