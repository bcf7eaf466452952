//! Sum over the last n numbers, kept by adding the new and taking away the old.

use super::slide::{Pair, Work, fits};
use super::{Block, after};
use crate::indicator::available;

/// How many steps rounding errors may gather before the sum is made anew.
const REFRESH: usize = 256;

#[derive(Clone, Debug)]
pub struct Sum {
    /// The last n numbers, 0 for what is missing.
    ring: Box<[f64]>,
    at: usize,
    sum: f64,
    /// Observations since the last that was missing, no further than n.
    run: usize,
    /// Steps until the sum is made anew.
    left: usize,
}

#[derive(Clone, Copy)]
pub struct Next {
    x: f64,
    sum: f64,
    run: usize,
    left: usize,
}

impl Sum {
    pub(crate) fn new(period: usize) -> Sum {
        let ring = vec![0.0; period].into_boxed_slice();
        let left = REFRESH.max(period);
        Sum { ring, at: 0, sum: 0.0, run: 0, left }
    }

    /// The sum divided by n.
    #[inline(always)]
    pub(crate) fn mean(&self, x: f64) -> (f64, Next) {
        let (sum, next) = self.step(x);
        (sum / self.ring.len() as f64, next)
    }

    /// Sums over `xs` into `out`, which is as long; the values are those of `step` up to rounding.
    #[inline(always)]
    pub(crate) fn scan(&mut self, xs: &[f64], out: &mut [f64], work: &mut Work) {
        self.scan_times(xs, out, work, 1.0);
    }

    /// The means of the windows instead of their sums.
    #[inline(always)]
    pub(crate) fn scan_means(&mut self, xs: &[f64], out: &mut [f64], work: &mut Work) {
        self.scan_times(xs, out, work, 1.0 / self.ring.len() as f64);
    }

    #[inline(always)]
    fn scan_times(&mut self, xs: &[f64], out: &mut [f64], work: &mut Work, factor: f64) {
        let period = self.ring.len();
        let len = xs.len().min(out.len());
        if !fits(period, &xs[..len]) {
            return self.each(&xs[..len], &mut out[..len], factor);
        }
        // What is missing of the first window comes one by one.
        let head = self.missing().min(len);
        self.each(&xs[..head], &mut out[..head], factor);
        let (xs, out) = (&xs[head..len], &mut out[head..len]);
        if xs.is_empty() {
            return;
        }
        let (newer, older) = self.ring.split_at(self.at);
        let row = work.line_up(&older[1..], newer, xs);
        work.slide(
            period,
            row,
            [out],
            |Pair { older: [older], newer: [newer], .. }| [older + newer],
            |[sum]| [sum * factor],
        );
        self.restart(&work.rows[0][row - period..row]);
    }

    /// How many numbers are missing until there is a sum.
    #[inline(always)]
    pub(super) fn missing(&self) -> usize {
        self.ring.len() - self.run
    }

    /// Goes on from a window that is known; the next step makes its sum.
    #[inline(always)]
    pub(super) fn restart(&mut self, window: &[f64]) {
        self.ring.copy_from_slice(window);
        self.run = window.len();
        (self.at, self.left) = (0, 1);
    }

    #[inline(never)]
    fn each(&mut self, xs: &[f64], out: &mut [f64], factor: f64) {
        for (x, slot) in xs.iter().zip(out) {
            *slot = available(self.push(*x) * factor);
        }
    }

    #[cold]
    fn anew(&self, x: f64) -> f64 {
        let (newer, older) = self.ring.split_at(self.at);
        let older = older.get(1..).unwrap_or_default();
        older.iter().sum::<f64>() + newer.iter().sum::<f64>() + x
    }
}

impl Block for Sum {
    type Next = Next;

    #[inline(always)]
    fn step(&self, x: f64) -> (f64, Next) {
        let period = self.ring.len();
        let here = x.is_finite();
        let x = if here { x } else { 0.0 };
        let run = if here { (self.run + 1).min(period) } else { 0 };
        let old = self.ring[self.at];
        let mut sum = self.sum + (x - old);
        let mut left = self.left.wrapping_sub(1);
        // What left the window was so much larger than what stays that its rounding is all that
        // can be seen; this also keeps a sum of zeros at zero. A sum that is not finite is never
        // above anything, and so is not sound.
        let sound = old.abs() <= available(sum).abs() * 1024.0;
        if left == 0 || !sound {
            sum = self.anew(x);
            left = REFRESH.max(period);
        }
        (if run >= period { sum } else { f64::NAN }, Next { x, sum, run, left })
    }

    #[inline(always)]
    fn commit(&mut self, next: Next) {
        self.ring[self.at] = next.x;
        self.at = after(self.at, self.ring.len());
        self.sum = next.sum;
        self.run = next.run;
        self.left = next.left;
    }
}
