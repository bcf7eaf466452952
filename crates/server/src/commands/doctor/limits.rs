//! Compares the limit of open files with the configured connections, and shows the limits of
//! streams.

use service_indicators::StreamLimits;

use super::Finding;
use crate::open_files::{self, OURS};

const WHAT: &str = "open files";

pub(super) fn check(connections_max: usize) -> Finding {
    finding(open_files::limit(), connections_max as u64)
}

/// The limits of live streams.
pub(super) fn streams(limits: StreamLimits) -> Finding {
    let StreamLimits { queue_max, replay_max, .. } = limits;
    let detail = format!(
        "{queue_max} events wait for a slow reader (stream_queue_max), {replay_max} candles are \
         sent again to a client that resumes (stream_replay_max)"
    );
    Finding::ok("streams", detail)
}

fn finding(limit: Option<u64>, connections_max: u64) -> Finding {
    let needed = connections_max.saturating_add(OURS);
    match limit {
        Some(limit) if limit < needed => Finding::warn(
            WHAT,
            format!("the limit of {limit} is too low for {connections_max} connections"),
        )
        .fix(format!(
            "ulimit -n {needed} (LimitNOFILE={needed} for systemd) before `stoa serve`, or set \
             connections_max to {}",
            limit.saturating_sub(OURS).max(1)
        )),
        Some(limit) => Finding::ok(WHAT, format!("up to {limit}")),
        None => Finding::ok(WHAT, "no known limit"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[track_caller]
    fn check(limit: Option<u64>, connections_max: u64, expected: Level) {
        assert_eq!(finding(limit, connections_max).level, expected, "{limit:?}");
    }

    #[test]
    fn the_limits_of_streams_are_shown_with_their_settings() {
        let detail =
            streams(StreamLimits { queue_max: 7, replay_max: 8, ..StreamLimits::default() }).detail;
        assert!(detail.contains("7 events wait for a slow reader (stream_queue_max)"), "{detail}");
        assert!(detail.contains("8 candles are sent again"), "{detail}");
    }

    #[test]
    fn the_limit_is_compared_with_the_connections() {
        check(Some(1024), 4096, Level::Warn);
        check(Some(4223), 4096, Level::Warn);
        check(Some(4224), 4096, Level::Ok);
        check(None, 4096, Level::Ok);
        check(Some(10), u64::MAX, Level::Warn);
    }
}
