//! The number of files that this process may open; sockets count as files.

/// Files reserved beside the connections: for the store, the exchange, the logs and the runtime.
pub(crate) const OURS: u64 = 128;

/// `None` without a limit, or on a system that does not publish it in a file as Linux does.
pub(crate) fn limit() -> Option<u64> {
    soft_limit(&std::fs::read_to_string("/proc/self/limits").ok()?)
}

/// `Max open files            1024                 524288               files`
fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_the_first_number() {
        for (value, limit) in [("1024", Some(1024)), ("unlimited", None)] {
            let text = format!("Max cpu time 9 9 s\nMax open files   {value}   524288   files\n");
            assert_eq!(soft_limit(&text), limit);
        }
        assert_eq!(soft_limit(""), None);
    }
}
