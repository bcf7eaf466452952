//! The pieces that indicators are made of: averages, sums, extremes and delays over a moving
//! window. Each reads in `step` and writes in `commit`, as indicators do.
//!
//! All share one rule for what is missing: a number that is not finite is no observation. A window
//! that holds one has no value; an exponential average keeps its value across it.

mod argmax;
mod delay;
mod deviation;
mod ewm;
mod extreme;
mod lanes;
mod near;
mod oscillator;
mod ratio;
pub(crate) mod rolling;
pub(crate) mod slide;
mod spread;
mod sum;
mod total;
mod weighted;
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx")))]
mod wide;
#[cfg(test)]
mod windows;

pub use argmax::Age;
pub use delay::Delay;
pub use deviation::{Deviation, Next as DeviationNext};
pub(crate) use ewm::CHUNK;
pub use ewm::Ewm;
pub use extreme::{Extreme, Highest, Lowest};
pub(crate) use lanes::between;
pub use oscillator::Oscillator;
pub(crate) use ratio::RatioWork;
pub use ratio::{Next as RatiosNext, Ratios};
pub use spread::{Next as SpreadNext, Spread};
pub use sum::Sum;
pub use total::Total;
pub(crate) use total::running;
pub use weighted::Weighted;

use crate::{Error, PERIOD_MAX};

/// Something that takes one number at a time.
pub trait Block: Clone {
    type Next: Copy;

    fn step(&self, x: f64) -> (f64, Self::Next);

    fn commit(&mut self, next: Self::Next);

    #[inline(always)]
    fn push(&mut self, x: f64) -> f64 {
        let (value, next) = self.step(x);
        self.commit(next);
        value
    }
}

/// What a number changes in a block.
pub type Of<B> = <B as Block>::Next;

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
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, Error> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(Error::parameter(name, format!("must be a number above 0, not {value}")))
}

/// A fast and a slow period, in that order.
pub(crate) fn fast_slow(fast: usize, slow: usize) -> Result<(), Error> {
    check_period("fast", fast)?;
    check_period("slow", slow)?;
    if fast < slow {
        return Ok(());
    }
    Err(Error::parameter("fast", format!("must be below slow, but {fast} is not below {slow}")))
}

/// Moves a position in a ring of `len` on by one.
#[inline(always)]
fn after(at: usize, len: usize) -> usize {
    if at + 1 >= len { 0 } else { at + 1 }
}
