//! The upload rate of an owner in two sliding windows. Pure: the times come from the table.

use std::time::Duration;

use clock::Millis;

pub(crate) const MINUTE_MS: i64 = 60_000;
pub(crate) const HOUR_MS: i64 = 3_600_000;

/// How long until another upload is allowed; `None` if it is allowed now. Each limit is given by the
/// time of the upload that uses it up: with ten a minute, that of the tenth newest. It must have left
/// its window before one more is allowed.
///
/// Not `limits::Bucket`: the windows slide over times in the database, so a restart forgets
/// nothing.
pub(crate) fn wait(minute: Option<Millis>, hour: Option<Millis>, now: Millis) -> Option<Duration> {
    let within = |last: Option<Millis>, window: i64| {
        let left = last?.0.saturating_add(window).saturating_sub(now.0);
        // After the clock was set back, the wait is at most the window.
        (left > 0).then_some(left.min(window))
    };
    let left = within(minute, MINUTE_MS).max(within(hour, HOUR_MS))?;
    Some(Duration::from_millis(left.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The wait after uploads at these times, newest first; a limit of 0 means that there is no
    /// limit.
    fn wait_after(sent: &[Millis], now: Millis, limits: (u32, u32)) -> Option<Duration> {
        let nth = |limit: u32| sent.get((limit as usize).checked_sub(1)?).copied();
        wait(nth(limits.0), nth(limits.1), now)
    }

    #[track_caller]
    fn check(sent: &[i64], now: i64, limits: (u32, u32), expected: Option<u64>) {
        let sent: Vec<Millis> = sent.iter().copied().map(Millis).collect();
        let wait = wait_after(&sent, Millis(now), limits);
        assert_eq!(wait, expected.map(Duration::from_millis));
    }

    #[test]
    fn the_oldest_counted_upload_decides_the_wait() {
        check(&[], 0, (2, 3), None);
        check(&[500], 1_000, (2, 3), None);
        check(&[900, 500], 1_000, (2, 3), Some(59_500));
        check(&[900, 500], 60_499, (2, 3), Some(1));
        check(&[900, 500], 60_500, (2, 3), None);
        check(&[200_000, 100_000, 0], 300_000, (2, 3), Some(3_300_000));
        check(&[299_999, 299_998, 0], 300_000, (2, 3), Some(3_300_000));
        check(&[900_000, 900_000], 1_000, (2, 3), Some(60_000));
        check(&[4, 3, 2, 1], 5, (0, 0), None);
        check(&[4, 3, 2, 1], 5, (0, 3), Some(3_599_997));
    }

    proptest! {
        /// After the returned wait the upload is allowed, and no window exceeds its limit.
        #[test]
        fn waiting_the_given_time_is_enough(
            steps in prop::collection::vec(0_i64..100_000, 1..80),
            per_minute in 1_u32..5,
            per_hour in 1_u32..20,
        ) {
            let (mut now, mut sent) = (0, Vec::<Millis>::new());
            for step in steps {
                now += step;
                if let Some(left) = wait_after(&sent, Millis(now), (per_minute, per_hour)) {
                    now += left.as_millis() as i64;
                    prop_assert_eq!(wait_after(&sent, Millis(now), (per_minute, per_hour)), None);
                }
                sent.insert(0, Millis(now));
                let since = |window| sent.iter().filter(|at| at.0 > now - window).count();
                prop_assert!(since(MINUTE_MS) <= per_minute as usize);
                prop_assert!(since(HOUR_MS) <= per_hour as usize);
            }
        }
    }
}
