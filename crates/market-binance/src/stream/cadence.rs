//! The usual time between frames, and the silence after which a stream is suspicious.

use std::time::Duration;

use tokio::time::Instant;

/// A silence of this many average gaps is suspicious.
const LIMIT_FACTOR: u32 = 4;
/// A new gap counts for 1 in this many in the average.
const SMOOTHING: u32 = 8;
/// Each harmless silence doubles the limit, at most this many times.
const EXTENSIONS_MAX: u32 = 8;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Cadence {
    average_gap: Duration,
    last: Option<Instant>,
    /// Harmless silences in a row.
    extensions: u32,
}

impl Cadence {
    /// `average_gap` is the assumption before the first frame.
    pub(crate) fn new(average_gap: Duration) -> Self {
        Self { average_gap, last: None, extensions: 0 }
    }

    pub(crate) fn record(&mut self, now: Instant) {
        let before = self.last.replace(now);
        self.extensions = 0;
        if let Some(before) = before {
            let wait = now.saturating_duration_since(before);
            self.average_gap = (self.average_gap * (SMOOTHING - 1) + wait) / SMOOTHING;
        }
    }

    /// The time across an interruption does not count as a gap.
    pub(crate) fn restart(&mut self) {
        self.last = None;
    }

    /// The silence was harmless; the next one may last twice as long.
    pub(crate) fn silence_was_harmless(&mut self) {
        self.extensions = (self.extensions + 1).min(EXTENSIONS_MAX);
    }

    /// The longest silence that is not suspicious: at least `min`, at most `max`.
    pub(crate) fn silence_limit(&self, min: Duration, max: Duration) -> Duration {
        let average_gap = self.average_gap.saturating_mul(LIMIT_FACTOR).max(min);
        average_gap.saturating_mul(1 << self.extensions).min(max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN: Duration = Duration::from_secs(3);
    const MAX: Duration = Duration::from_mins(1);

    /// The limit after `count` frames that are `apart_ms` apart.
    #[track_caller]
    fn check(apart_ms: u64, count: u32, least_s: u64, most_s: u64) {
        let mut cadence = Cadence::new(Duration::from_secs(2));
        let start = Instant::now();
        for at in 0..count {
            cadence.record(start + Duration::from_millis(apart_ms) * at);
        }
        let silence_limit = cadence.silence_limit(MIN, MAX);
        let bounds = Duration::from_secs(least_s)..=Duration::from_secs(most_s);
        assert!(bounds.contains(&silence_limit), "{apart_ms} ms: {silence_limit:?}");
    }

    #[test]
    fn the_stall_timeout_follows_the_usual_frame_gap() {
        check(0, 0, 8, 8);
        check(1_000, 50, 3, 5);
        check(2_000, 50, 8, 8);
        check(10, 100, 3, 3);
        check(10_000, 50, 39, 40);
        check(60_000, 50, 60, 60);
    }

    #[test]
    fn harmless_silences_extend_the_timeout_until_the_next_frame() {
        let mut cadence = Cadence::new(Duration::from_secs(1));
        for expected in [4, 8, 16, 32, 60, 60] {
            assert_eq!(cadence.silence_limit(MIN, MAX), Duration::from_secs(expected));
            cadence.silence_was_harmless();
        }
        let now = Instant::now();
        cadence.record(now);
        assert_eq!(cadence.silence_limit(MIN, MAX), Duration::from_secs(4));
        // An interruption does not count as a gap.
        cadence.restart();
        cadence.record(now + Duration::from_hours(1));
        assert_eq!(cadence.silence_limit(MIN, MAX), Duration::from_secs(4));
    }
}
