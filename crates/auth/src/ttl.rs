//! Parses lifetimes such as `90s`, `30m`, `1h`, `7d`.

use std::time::Duration;

use fault::Fault;

/// The longest lifetime: ten years, because a revocation is stored until its token expires.
pub(crate) const TTL_MAX: Duration = Duration::from_secs(3650 * 86_400);

pub fn parse_ttl(text: &str) -> Result<Duration, Fault> {
    parse_seconds(text)
        .map(Duration::from_secs)
        .filter(|ttl| !ttl.is_zero() && *ttl <= TTL_MAX)
        .ok_or_else(|| {
            let shown: String = text.chars().take(32).collect();
            Fault::invalid(
                "invalid_ttl",
                format!(
                    "{shown:?} is not a lifetime; write a whole number and s, m, h or d, \
                     such as 90s, 30m, 1h or 7d, up to 3650d"
                ),
            )
        })
}

fn parse_seconds(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    // `u64::from_str` would also take a leading plus sign.
    if !number.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<u64>) {
        assert_eq!(parse_ttl(text).ok().map(|ttl| ttl.as_secs()), expected, "{text:?}");
    }

    #[test]
    fn lifetimes_are_whole_numbers_with_a_unit() {
        check("90s", Some(90));
        check("30m", Some(1_800));
        check("1h", Some(3_600));
        check("7d", Some(604_800));
        check("3650d", Some(315_360_000));
        check("3651d", None);
        check("0s", None);
        check("", None);
        check("h", None);
        check("1", None);
        check("+1h", None);
        check("-1h", None);
        check("1.5h", None);
        check("1w", None);
        check("1ч", None);
        check("18446744073709551615d", None);
    }
}
