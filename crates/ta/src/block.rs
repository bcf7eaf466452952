//! Building blocks of indicators: averages, sums, extremes and delays over a moving window. Each
//! computes in `step` and writes in `commit`, as indicators do.
//!
//! One rule for missing values: NaN and the infinities are not observations. A window that holds
//! one has no value; an exponential average keeps its value across it.

#[cfg(all(target_arch = "x86_64", not(target_feature = "avx")))]
mod avx;
mod delay;
mod deviation;
pub(crate) mod doubling;
mod ewm;
mod extreme;
mod extreme_age;
mod lanes;
mod moments;
mod oscillator;
mod ratio;
pub(crate) mod rolling;
mod running_sum;
mod std_dev;
mod weighted;
mod window_sum;
#[cfg(test)]
mod windows;

pub use delay::Delay;
pub use deviation::{Deviation, DeviationUpdate};
pub(crate) use ewm::CHUNK;
pub use ewm::Ewm;
pub use extreme::{Extreme, Highest, Lowest};
pub use extreme_age::ExtremeAge;
pub(crate) use lanes::ewm_line;
pub use oscillator::Oscillator;
pub(crate) use ratio::RatioBuffers;
pub use ratio::{Ratios, RatiosUpdate};
pub use running_sum::RunningSum;
pub(crate) use running_sum::running;
pub use std_dev::{StdDev, StdDevUpdate};
pub use weighted::WeightedMean;
pub use window_sum::WindowSum;

use crate::{Error, PERIOD_MAX};

/// A filter that takes one number per step and gives one number.
pub trait Block: Clone {
    type Update: Copy;

    fn step(&self, x: f64) -> (f64, Self::Update);

    fn commit(&mut self, next: Self::Update);

    #[inline(always)]
    fn push(&mut self, x: f64) -> f64 {
        let (value, next) = self.step(x);
        self.commit(next);
        value
    }
}

/// The state change that one step of block `B` computes.
pub type UpdateOf<B> = <B as Block>::Update;

/// Refuses a period outside 1 to `PERIOD_MAX`.
pub(crate) fn check_period(name: &'static str, value: usize) -> Result<usize, Error> {
    if (1..=PERIOD_MAX).contains(&value) {
        return Ok(value);
    }
    Err(Error::parameter(name, format!("must be from 1 to {PERIOD_MAX}, not {value}")))
}

/// Refuses a period below 2: the range of one candle is 0, and a division by it gives NaN.
pub(crate) fn check_window(name: &'static str, value: usize) -> Result<usize, Error> {
    match check_period(name, value)? {
        1 => Err(Error::parameter(name, "must be at least 2: one value has no range".to_owned())),
        more => Ok(more),
    }
}

/// Refuses a factor that is not finite and above 0.
pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<f64, Error> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(Error::parameter(name, format!("must be a number above 0, not {value}")))
}

/// Refuses periods outside 1 to `PERIOD_MAX`, and `fast` that is not below `slow`.
pub(crate) fn check_fast_slow(fast: usize, slow: usize) -> Result<(), Error> {
    check_period("fast", fast)?;
    check_period("slow", slow)?;
    if fast < slow {
        return Ok(());
    }
    Err(Error::parameter("fast", format!("must be below slow, but {fast} is not below {slow}")))
}

/// The index after `at` in a ring of `len` slots.
#[inline(always)]
fn next_slot(at: usize, len: usize) -> usize {
    if at + 1 >= len { 0 } else { at + 1 }
}
