//! Sum of the last n numbers, updated by adding the newest and subtracting the oldest.

use super::doubling::{Pair, WindowBuffers, fits, in_safe_range};
use super::{Block, next_slot};
use crate::indicator::finite_or_nan;

/// Steps before the sum is recomputed, which bounds the accumulated rounding.
const REFRESH: usize = 256;

#[derive(Clone, Debug)]
pub struct WindowSum {
    /// The last n numbers, 0 for a missing one.
    ring: Box<[f64]>,
    at: usize,
    sum: f64,
    /// Observations since the last missing one, at most n.
    run: usize,
    /// Steps until the sum is recomputed.
    left: usize,
    /// The largest absolute value that left the window since the sum was recomputed.
    largest: f64,
}

#[derive(Clone, Copy)]
pub struct WindowSumUpdate {
    x: f64,
    sum: f64,
    run: usize,
    left: usize,
    largest: f64,
}

impl WindowSumUpdate {
    /// The largest absolute value that left the window since the sum was recomputed.
    #[inline(always)]
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }
}

impl WindowSum {
    pub(crate) fn new(period: usize) -> WindowSum {
        let ring = vec![0.0; period].into_boxed_slice();
        let left = REFRESH.max(period);
        WindowSum { ring, at: 0, sum: 0.0, run: 0, left, largest: 0.0 }
    }

    /// The sum divided by n.
    #[inline(always)]
    pub(crate) fn mean(&self, x: f64) -> (f64, WindowSumUpdate) {
        let (sum, next) = self.step(x);
        (sum / self.ring.len() as f64, next)
    }

    pub(crate) fn period(&self) -> usize {
        self.ring.len()
    }

    pub(super) fn ring(&self) -> &[f64] {
        &self.ring
    }

    /// Writes means over `xs` into `out`, of the same length; they equal those of `mean` up to
    /// rounding, and NaN replaces values that are not finite.
    #[inline(always)]
    pub(crate) fn scan_means(&mut self, xs: &[f64], out: &mut [f64], buffers: &mut WindowBuffers) {
        let period = self.ring.len();
        let len = xs.len().min(out.len());
        let steady = fits(period, &xs[..len]) && in_safe_range(&self.ring);
        // The numbers that complete the first window go one by one.
        let head = if steady { self.missing().min(len) } else { len };
        for (x, slot) in xs[..head].iter().zip(&mut out[..head]) {
            *slot = finite_or_nan(self.push_mean_apart(*x));
        }
        let (xs, out) = (&xs[head..len], &mut out[head..len]);
        if xs.is_empty() {
            return;
        }
        let row = self.fill_first_row(0, xs, buffers);
        let share = 1.0 / period as f64;
        buffers.slide(
            period,
            0..row,
            [out],
            |Pair { older: [older], newer: [newer], .. }| [older + newer],
            |[sum]| [sum * share],
        );
        self.restart(&buffers.rows[0][row - period..row]);
    }

    #[inline(never)]
    fn push_mean_apart(&mut self, x: f64) -> f64 {
        self.push_mean(x)
    }

    #[inline(always)]
    pub(crate) fn push_mean(&mut self, x: f64) -> f64 {
        let (mean, next) = self.mean(x);
        self.commit(next);
        mean
    }

    /// Writes the rest of the window and the numbers after it into a row; returns the length used.
    #[inline(always)]
    pub(super) fn fill_first_row<const K: usize>(
        &self,
        which: usize,
        xs: &[f64],
        buffers: &mut WindowBuffers<K>,
    ) -> usize {
        let (newer, older) = self.ring.split_at(self.at);
        buffers.fill_row(which, &older[1..], newer, xs)
    }

    /// How many numbers are missing until there is a sum.
    #[inline(always)]
    pub(super) fn missing(&self) -> usize {
        self.ring.len() - self.run
    }

    /// Continues from a full window; the next step recomputes the sum.
    #[inline(always)]
    pub(crate) fn restart(&mut self, window: &[f64]) {
        self.ring.copy_from_slice(window);
        self.run = window.len();
        (self.at, self.left) = (0, 1);
    }

    #[cold]
    fn recompute(&self, x: f64) -> f64 {
        let (newer, older) = self.ring.split_at(self.at);
        let older = older.get(1..).unwrap_or_default();
        older.iter().sum::<f64>() + newer.iter().sum::<f64>() + x
    }
}

impl Block for WindowSum {
    type Update = WindowSumUpdate;

    #[inline(always)]
    fn step(&self, x: f64) -> (f64, WindowSumUpdate) {
        let period = self.ring.len();
        let here = x.is_finite();
        let x = if here { x } else { 0.0 };
        let run = if here { (self.run + 1).min(period) } else { 0 };
        let old = self.ring[self.at];
        let mut sum = self.sum + (x - old);
        let mut left = self.left.wrapping_sub(1);
        // Recompute when a number above 1,024 times the sum has left the window: its rounding would
        // be visible. This also keeps a sum of zeros at exactly 0. A sum that is not finite fails
        // the comparison, because it becomes NaN.
        let mut largest = if old.abs() > self.largest { old.abs() } else { self.largest };
        let sound = largest <= finite_or_nan(sum).abs() * 1024.0;
        if left == 0 || !sound {
            sum = self.recompute(x);
            largest = 0.0;
            left = REFRESH.max(period);
        }
        (if run >= period { sum } else { f64::NAN }, WindowSumUpdate { x, sum, run, left, largest })
    }

    #[inline(always)]
    fn commit(&mut self, next: WindowSumUpdate) {
        self.ring[self.at] = next.x;
        self.at = next_slot(self.at, self.ring.len());
        self.sum = next.sum;
        self.run = next.run;
        self.left = next.left;
        self.largest = next.largest;
    }
}
