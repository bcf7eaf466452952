//! Whether a new connection may take the place of the old one: that the exchange has confirmed its
//! streams proves nothing, that it is heard on them does.
//!
//! Pure: it is told what was heard and when. What follows from its verdict is for `lines`.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::time::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Open,
    /// The new one says what the old one says.
    Passed,
    /// The old one is heard where the new one is mute.
    Failed,
}

#[derive(Debug, Default)]
pub(crate) struct Trial {
    /// Since when all streams are confirmed or refused.
    since: Option<Instant>,
    /// The streams on which the new connection was heard.
    heard: HashSet<String>,
    /// The streams on which only the old one was heard since then, and since when.
    owed: HashMap<String, Instant>,
}

impl Trial {
    pub(crate) fn begin(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    pub(crate) fn heard_new(&mut self, stream: &str) {
        self.owed.remove(stream);
        if !self.heard.contains(stream) {
            self.heard.insert(stream.to_owned());
        }
    }

    pub(crate) fn heard_old(&mut self, stream: &str, now: Instant) {
        if self.since.is_some() && !self.heard.contains(stream) && !self.owed.contains_key(stream) {
            self.owed.insert(stream.to_owned(), now);
        }
    }

    /// Nobody wants this stream any more.
    pub(crate) fn forget(&mut self, stream: &str) {
        self.heard.remove(stream);
        self.owed.remove(stream);
    }

    /// `carried` are the streams that either connection has confirmed. Those on which nothing comes
    /// are not waited for longer than `within`: where the old connection is silent as well, nothing
    /// is traded, or nothing can be lost.
    pub(crate) fn verdict(
        &self,
        carried: [&HashSet<String>; 2],
        now: Instant,
        within: Duration,
    ) -> Verdict {
        let over = |since: &Instant| now.saturating_duration_since(*since) >= within;
        let Some(since) = self.since else { return Verdict::Open };
        if carried.iter().all(|names| names.is_subset(&self.heard)) {
            return Verdict::Passed;
        }
        match (self.owed.values().any(over), self.owed.is_empty() && over(&since)) {
            (true, _) => Verdict::Failed,
            (_, true) => Verdict::Passed,
            _ => Verdict::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN: Duration = Duration::from_secs(5);

    /// The new connection has confirmed stream `a`, the old one `a` and `b`. `r` is that the new one
    /// is ready, `oa` a frame of stream `a` on the old one, `na` on the new one, `-a` that it is
    /// given up, `3` three seconds.
    #[track_caller]
    fn check(story: &str, expected: Verdict) {
        let mut new: HashSet<String> = ["a"].map(str::to_owned).into();
        let mut old: HashSet<String> = ["a", "b"].map(str::to_owned).into();
        let (mut trial, mut now) = (Trial::default(), Instant::now());
        for word in story.split(' ') {
            match word.split_at(1) {
                ("r", _) => trial.begin(now),
                ("o", stream) => trial.heard_old(stream, now),
                ("n", stream) => trial.heard_new(stream),
                ("-", stream) => {
                    new.remove(stream);
                    old.remove(stream);
                    trial.forget(stream);
                }
                _ => now += Duration::from_secs(word.parse().unwrap()),
            }
        }
        assert_eq!(trial.verdict([&new, &old], now, WITHIN), expected, "{story}");
    }

    #[test]
    fn a_connection_is_trusted_when_it_is_heard_where_the_old_one_is() {
        check("na nb 9", Verdict::Open);
        check("r", Verdict::Open);
        check("r na", Verdict::Open);
        check("na r nb", Verdict::Passed);
        check("r na 5", Verdict::Passed);
        check("r na oa 5", Verdict::Passed);
        // Where the old one is silent, too, there is nothing to wait for.
        check("r 4", Verdict::Open);
        check("r 5", Verdict::Passed);
        check("r ob 4", Verdict::Open);
        check("r ob 5", Verdict::Failed);
        check("r na ob 5", Verdict::Failed);
        check("r na ob 4 nb", Verdict::Passed);
        // What the old one said late gives the new one time, and what it said before proves nothing.
        check("r na 4 ob 2", Verdict::Open);
        check("r na 4 ob 5", Verdict::Failed);
        check("oa ob r 5", Verdict::Passed);
        check("r na ob 5 -b", Verdict::Passed);
    }
}
