//! How many files the system lets us open, against how many connections we would take.

use super::Finding;

const WHAT: &str = "open files";
/// The store, the exchange, the logs and what the runtime keeps open.
const OURS: u64 = 128;

pub(super) fn check(connections_max: usize) -> Finding {
    // Only Linux tells it in a file.
    match std::fs::read_to_string("/proc/self/limits") {
        Ok(limits) => judge(soft_limit(&limits), connections_max as u64),
        Err(_) => Finding::ok(WHAT, "the limit is not known on this system"),
    }
}

fn judge(limit: Option<u64>, connections_max: u64) -> Finding {
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
        None => Finding::ok(WHAT, "without a limit"),
    }
}

/// `Max open files            1024                 524288               files`
fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[track_caller]
    fn check(limit: &str, connections_max: u64, expected: Level) {
        let limits = format!(
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max processes             63000                63000                processes \n\
             Max open files            {limit:<20} 524288               files     \n"
        );
        assert_eq!(judge(soft_limit(&limits), connections_max).level, expected, "{limit}");
    }

    #[test]
    fn the_limit_is_held_against_the_connections() {
        check("1024", 4096, Level::Warn);
        check("4223", 4096, Level::Warn);
        check("4224", 4096, Level::Ok);
        check("unlimited", 4096, Level::Ok);
        check("10", u64::MAX, Level::Warn);
        assert_eq!(judge(soft_limit(""), 1).level, Level::Ok);
    }
}
