//! Whether a standby connection may replace the current one. Confirmed subscriptions prove nothing;
//! frames on them do.
//!
//! Pure: it gets frames with their times. `connection_pair` acts on the result.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::time::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProbeResult {
    Pending,
    /// The standby connection sends what the current one sends.
    Passed,
    /// The current connection sends on a stream on which the standby one is mute.
    Failed,
}

#[derive(Debug, Default)]
pub(crate) struct StandbyProbe {
    /// When all streams of the standby connection were confirmed or refused.
    started_at: Option<Instant>,
    /// The streams with frames on the standby connection.
    received: HashSet<String>,
    /// The streams with frames on the current connection only, and the time of the first one.
    missing: HashMap<String, Instant>,
}

impl StandbyProbe {
    pub(crate) fn start(&mut self, now: Instant) {
        self.started_at.get_or_insert(now);
    }

    pub(crate) fn on_standby_frame(&mut self, stream: &str) {
        self.missing.remove(stream);
        if !self.received.contains(stream) {
            self.received.insert(stream.to_owned());
        }
    }

    pub(crate) fn on_current_frame(&mut self, stream: &str, now: Instant) {
        if self.started_at.is_some()
            && !self.received.contains(stream)
            && !self.missing.contains_key(stream)
        {
            self.missing.insert(stream.to_owned(), now);
        }
    }

    /// The stream was unsubscribed.
    pub(crate) fn forget(&mut self, stream: &str) {
        self.received.remove(stream);
        self.missing.remove(stream);
    }

    /// `confirmed` are the streams that either connection has confirmed. Streams without frames are
    /// waited for no longer than `timeout`: if the current connection is silent as well, nothing is
    /// traded or nothing can be lost.
    pub(crate) fn result(
        &self,
        confirmed: [&HashSet<String>; 2],
        now: Instant,
        timeout: Duration,
    ) -> ProbeResult {
        let over = |started_at: &Instant| now.saturating_duration_since(*started_at) >= timeout;
        let Some(started_at) = self.started_at else { return ProbeResult::Pending };
        if confirmed.iter().all(|names| names.is_subset(&self.received)) {
            return ProbeResult::Passed;
        }
        match (self.missing.values().any(over), self.missing.is_empty() && over(&started_at)) {
            (true, _) => ProbeResult::Failed,
            (_, true) => ProbeResult::Passed,
            _ => ProbeResult::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(5);

    /// The standby connection has confirmed stream `a`, the current one `a` and `b`. `r`: the
    /// standby connection is ready; `oa`: a frame of `a` on the current one; `na`: on the standby
    /// one; `-a`: `a` was unsubscribed; `3`: three seconds pass.
    #[track_caller]
    fn check(story: &str, expected: ProbeResult) {
        let mut new: HashSet<String> = ["a"].map(str::to_owned).into();
        let mut old: HashSet<String> = ["a", "b"].map(str::to_owned).into();
        let (mut probe, mut now) = (StandbyProbe::default(), Instant::now());
        for word in story.split(' ') {
            match word.split_at(1) {
                ("r", _) => probe.start(now),
                ("o", stream) => probe.on_current_frame(stream, now),
                ("n", stream) => probe.on_standby_frame(stream),
                ("-", stream) => {
                    new.remove(stream);
                    old.remove(stream);
                    probe.forget(stream);
                }
                _ => now += Duration::from_secs(word.parse().unwrap()),
            }
        }
        assert_eq!(probe.result([&new, &old], now, TIMEOUT), expected, "{story}");
    }

    #[test]
    fn a_standby_takes_over_when_it_has_every_live_stream() {
        check("na nb 9", ProbeResult::Pending);
        check("r", ProbeResult::Pending);
        check("r na", ProbeResult::Pending);
        check("na r nb", ProbeResult::Passed);
        check("r na 5", ProbeResult::Passed);
        check("r na oa 5", ProbeResult::Passed);
        // If the current connection is silent as well, there is nothing to wait for.
        check("r 4", ProbeResult::Pending);
        check("r 5", ProbeResult::Passed);
        check("r ob 4", ProbeResult::Pending);
        check("r ob 5", ProbeResult::Failed);
        check("r na ob 5", ProbeResult::Failed);
        check("r na ob 4 nb", ProbeResult::Passed);
        // A late frame of the current connection starts a new wait; frames before the start prove
        // nothing.
        check("r na 4 ob 2", ProbeResult::Pending);
        check("r na 4 ob 5", ProbeResult::Failed);
        check("oa ob r 5", ProbeResult::Passed);
        check("r na ob 5 -b", ProbeResult::Passed);
    }
}
