//! The rules of a site's `robots.txt` for this program, as RFC 9309 defines them.

use std::time::Duration;

/// Our name in the `User-agent` lines of robots.txt.
pub(crate) const AGENT: &str = "stoa";
const RULES_MAX: usize = 1_000;
const DELAY_MAX: Duration = Duration::from_secs(30);

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Robots {
    /// Patterns of paths, each with whether it allows them.
    rules: Vec<(String, bool)>,
    pub(crate) delay: Option<Duration>,
}

impl Robots {
    /// Disallows every path, as RFC 9309 requires when robots.txt cannot be reached.
    pub(crate) fn disallow_all() -> Self {
        Self { rules: vec![("/".to_owned(), false)], delay: None }
    }

    /// The rules of the groups that name this program, or else of the groups for `*`.
    pub(crate) fn parse(text: &str) -> Self {
        let (mut ours, mut for_all) = (None::<Self>, Self::default());
        // Whether the current group names us or `*`; consecutive names belong to one group.
        let (mut names_us, mut names_all, mut in_rules) = (false, false, true);
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            if key == "user-agent" {
                if in_rules {
                    (names_us, names_all, in_rules) = (false, false, false);
                }
                names_us |= value.eq_ignore_ascii_case(AGENT);
                names_all |= value == "*";
                if names_us {
                    ours.get_or_insert_default();
                }
                continue;
            }
            in_rules = true;
            if names_us {
                ours.get_or_insert_default().add(&key, value);
            }
            if names_all {
                for_all.add(&key, value);
            }
        }
        ours.unwrap_or(for_all)
    }

    fn add(&mut self, key: &str, value: &str) {
        match key {
            "allow" | "disallow" if !value.is_empty() && self.rules.len() < RULES_MAX => {
                self.rules.push((value.to_owned(), key == "allow"));
            }
            "crawl-delay" => {
                let seconds = value.parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
                let seconds = seconds.map(|it| it.min(DELAY_MAX.as_secs_f64()));
                self.delay = seconds.map(Duration::from_secs_f64);
            }
            _ => {}
        }
    }

    /// The longest matching pattern decides; of two with equal length, the one that allows.
    pub(crate) fn allows(&self, path: &str) -> bool {
        let fitting = self.rules.iter().filter(|(pattern, _)| fits(pattern, path));
        fitting
            .max_by_key(|(pattern, allow)| (pattern.len(), *allow))
            .is_none_or(|(_, allow)| *allow)
    }
}

/// `*` matches any text, a final `$` the end of the path; without `$` a pattern matches a prefix.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, to_end) = match pattern.strip_suffix('$') {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return !to_end || rest.is_empty() };
    // The first match of each part leaves the longest rest for the following parts.
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    if to_end { rest.ends_with(last) } else { rest.contains(last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, path: &str, allowed: bool) {
        assert_eq!(Robots::parse(text).allows(path), allowed, "{path} under {text:?}");
    }

    #[test]
    fn the_longest_rule_of_our_group_decides() {
        check("", "/a", true);
        check("User-agent: *\nDisallow: /\n", "/a", false);
        check("User-agent: *\nDisallow:\n", "/a", true);
        check("User-agent: *\nDisallow: /p\nAllow: /p/open", "/p/open/1", true);
        check("User-agent: *\nDisallow: /p\nAllow: /p/open", "/p/shut", false);
        check("User-agent: *\nDisallow: /p\nAllow: /p", "/p", true);
        check("User-agent: STOA # us\nDisallow: /x\n\nUser-agent: *\nDisallow: /", "/a", true);
        check("User-agent: *\nDisallow: /\nUser-agent: stoa\nAllow: /", "/a", true);
        check("User-agent: other\nUser-agent: stoa\nDisallow: /a", "/a", false);
        check("User-agent: other\nDisallow: /", "/a", true);
        check("User-agent: stoa\nUser-agent: *\n", "/a", true);
        check("nonsense\nDisallow: /\n", "/a", true);
        check("User-agent: *\nDisallow: /*.json$", "/a/b.json", false);
        check("User-agent: *\nDisallow: /*.json$", "/a/b.json?x", true);
        check("User-agent: *\nDisallow: /a*b*c", "/a1b2c3", false);
        check("User-agent: *\nDisallow: /a*b*c", "/a1c2b3", true);
        check("User-agent: *\nDisallow: /a$", "/a", false);
        check("User-agent: *\nDisallow: /a$", "/ab", true);
    }

    #[test]
    fn a_delay_is_taken_within_reason() {
        let delay =
            |value: &str| Robots::parse(&format!("User-agent: *\nCrawl-delay: {value}")).delay;
        assert_eq!(delay("2.5"), Some(Duration::from_millis(2_500)));
        assert_eq!(delay("1e300"), Some(DELAY_MAX));
        assert_eq!(delay("-1"), None);
        assert_eq!(delay("soon"), None);
        assert!(!Robots::disallow_all().allows("/"));
    }
}
