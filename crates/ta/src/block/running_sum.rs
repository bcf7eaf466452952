//! Sum of all numbers so far. A number that makes the sum not finite is shown and then ignored.

use super::Block;
use crate::indicator::{finite, finite_or_nan};

#[derive(Clone, Debug, Default)]
pub struct RunningSum {
    sum: f64,
}

impl RunningSum {
    /// Writes running sums of `xs` into `out`, of the same length; they equal those of `step` up to
    /// rounding, and NaN replaces values that are not finite.
    #[inline(always)]
    pub(crate) fn scan(&mut self, xs: &[f64], out: &mut [f64]) {
        let sum = running(self.sum, xs, out);
        // A number that is not finite makes every later sum not finite, so one test of the last is
        // enough.
        if finite(sum) {
            self.sum = sum;
            return;
        }
        for (x, slot) in xs.iter().zip(out) {
            *slot = finite_or_nan(self.push(*x));
        }
    }
}

impl Block for RunningSum {
    type Update = f64;

    #[inline(always)]
    fn step(&self, x: f64) -> (f64, f64) {
        let sum = self.sum + x;
        (sum, if finite(sum) { sum } else { self.sum })
    }

    #[inline(always)]
    fn commit(&mut self, sum: f64) {
        self.sum = sum;
    }
}

/// Writes running sums of `steps` from `start` into `out`, of the same length, four steps per
/// iteration to shorten the dependency chain; returns the last sum.
#[inline(always)]
pub(crate) fn running(start: f64, steps: &[f64], out: &mut [f64]) -> f64 {
    let mut sum = start;
    let (steps_four, steps_rest) = steps.as_chunks::<4>();
    let (out_four, out_rest) = out.as_chunks_mut::<4>();
    for (step, slot) in steps_four.iter().zip(out_four) {
        let d1 = step[0] + step[1];
        let (d2, d3) = (d1 + step[2], d1 + (step[2] + step[3]));
        *slot = [sum + step[0], sum + d1, sum + d2, sum + d3];
        sum = slot[3];
    }
    for (step, slot) in steps_rest.iter().zip(out_rest) {
        sum += step;
        *slot = sum;
    }
    sum
}
