//! Turns times into figures and verdicts.

use std::fmt::{self, Display};
use std::time::Duration;

pub(crate) fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

/// The percentile of the times, in seconds.
pub(crate) fn percentile(times: &[Duration], hundredths: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    let at = (times.len() * hundredths).div_ceil(100).saturating_sub(1);
    times.get(at).copied().map_or(0.0, seconds)
}

pub(crate) fn best(times: &[Duration]) -> f64 {
    times.iter().min().copied().map_or(0.0, seconds)
}

/// A target with the measured value, which must not exceed the limit.
pub(crate) struct Target {
    name: String,
    measured: f64,
    limit: f64,
}

impl Target {
    pub(crate) fn at_most(name: impl Into<String>, measured: f64, limit: f64) -> Self {
        Self { name: name.into(), measured, limit }
    }

    pub(crate) fn is_met(&self) -> bool {
        self.measured <= self.limit
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_met() { "met   " } else { "MISSED" };
        let Self { name, measured, limit } = self;
        write!(f, "{verdict} {name}: {measured:.2}, at most {limit} promised")
    }
}
