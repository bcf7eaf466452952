//! How often something usually comes, and after how long its silence means something.

use std::time::Duration;

use tokio::time::Instant;

/// So many times the usual wait is no accident.
const UNUSUAL: u32 = 4;
/// A newer wait counts for one in so many.
const MEMORY: u32 = 8;
/// Silences that turned out well double what is borne, this often at most.
const QUIET_MAX: u32 = 8;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Cadence {
    usual: Duration,
    last: Option<Instant>,
    /// How many silences in a row turned out well.
    quiet: u32,
}

impl Cadence {
    /// What is expected before anything was heard.
    pub(crate) fn new(usual: Duration) -> Self {
        Self { usual, last: None, quiet: 0 }
    }

    pub(crate) fn heard(&mut self, now: Instant) {
        let before = self.last.replace(now);
        self.quiet = 0;
        if let Some(before) = before {
            let wait = now.saturating_duration_since(before);
            self.usual = (self.usual * (MEMORY - 1) + wait) / MEMORY;
        }
    }

    /// What comes after an interruption says nothing about how often it usually comes.
    pub(crate) fn interrupted(&mut self) {
        self.last = None;
    }

    /// The silence had a good reason; the next one may be longer.
    pub(crate) fn excused(&mut self) {
        self.quiet = (self.quiet + 1).min(QUIET_MAX);
    }

    /// The silence that is borne: never less than `min`, never more than `max`.
    pub(crate) fn patience(&self, min: Duration, max: Duration) -> Duration {
        let usual = self.usual.saturating_mul(UNUSUAL).max(min);
        usual.saturating_mul(1 << self.quiet).min(max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN: Duration = Duration::from_secs(3);
    const MAX: Duration = Duration::from_mins(1);

    /// The patience after so many frames, this many milliseconds apart.
    #[track_caller]
    fn check(apart_ms: u64, count: u32, least_s: u64, most_s: u64) {
        let mut cadence = Cadence::new(Duration::from_secs(2));
        let start = Instant::now();
        for at in 0..count {
            cadence.heard(start + Duration::from_millis(apart_ms) * at);
        }
        let patience = cadence.patience(MIN, MAX);
        let bounds = Duration::from_secs(least_s)..=Duration::from_secs(most_s);
        assert!(bounds.contains(&patience), "{apart_ms} ms: {patience:?}");
    }

    #[test]
    fn patience_follows_what_is_usual() {
        check(0, 0, 8, 8);
        check(1_000, 50, 3, 5);
        check(2_000, 50, 8, 8);
        check(10, 100, 3, 3);
        check(10_000, 50, 39, 40);
        check(60_000, 50, 60, 60);
    }

    #[test]
    fn silences_that_turned_out_well_are_borne_longer_until_something_is_heard() {
        let mut cadence = Cadence::new(Duration::from_secs(1));
        for expected in [4, 8, 16, 32, 60, 60] {
            assert_eq!(cadence.patience(MIN, MAX), Duration::from_secs(expected));
            cadence.excused();
        }
        let now = Instant::now();
        cadence.heard(now);
        assert_eq!(cadence.patience(MIN, MAX), Duration::from_secs(4));
        // A break does not count as a wait.
        cadence.interrupted();
        cadence.heard(now + Duration::from_hours(1));
        assert_eq!(cadence.patience(MIN, MAX), Duration::from_secs(4));
    }
}
