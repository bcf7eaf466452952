//! The pieces that indicators are made of: averages, sums, extremes and delays over a moving
//! window. Each reads in `step` and writes in `commit`, as indicators do.
//!
//! All share one rule for what is missing: a number that is not finite is no observation. A window
//! that holds one has no value; an exponential average keeps its value across it.

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

/// Something that takes one number at a time.
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

/// What a number changes in a block.
pub type UpdateOf<B> = <B as Block>::Update;

/// A period that can be worked with.
pub(crate) fn check_period(name: &'static str, value: usize) -> Result<usize, Error> {
    if (1..=PERIOD_MAX).contains(&value) {
        return Ok(value);
    }
    Err(Error::parameter(name, format!("must be from 1 to {PERIOD_MAX}, not {value}")))
}

/// A period within which something can move: over one candle alone a range is nothing, and so is
/// whatever is divided by it.
pub(crate) fn check_window(name: &'static str, value: usize) -> Result<usize, Error> {
    match check_period(name, value)? {
        1 => Err(Error::parameter(name, "must be at least 2: one value has no range".to_owned())),
        more => Ok(more),
    }
}

/// A factor that can be worked with: finite and above zero.
pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<f64, Error> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(Error::parameter(name, format!("must be a number above 0, not {value}")))
}

/// A fast and a slow period, in that order.
pub(crate) fn check_fast_slow(fast: usize, slow: usize) -> Result<(), Error> {
    check_period("fast", fast)?;
    check_period("slow", slow)?;
    if fast < slow {
        return Ok(());
    }
    Err(Error::parameter("fast", format!("must be below slow, but {fast} is not below {slow}")))
}

/// Moves a position in a ring of `len` on by one.
#[inline(always)]
fn next_slot(at: usize, len: usize) -> usize {
    if at + 1 >= len { 0 } else { at + 1 }
}
