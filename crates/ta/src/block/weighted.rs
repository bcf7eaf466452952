//! Linearly weighted mean of the last n numbers: the newest has weight n, the oldest 1.

use super::doubling::{Pair, WindowBuffers, fits, in_safe_range};
use super::{Block, next_slot};
use crate::indicator::finite_or_nan;

/// Steps before the sums are recomputed, which bounds the accumulated rounding.
const REFRESH: usize = 256;

/// Up to this period each window is weighted directly: merging windows costs more.
const SHORT: usize = 20;

/// Windows computed at a time.
const LANES: usize = 16;

#[derive(Clone, Debug)]
pub struct WeightedMean {
    ring: Box<[f64]>,
    at: usize,
    sum: f64,
    weighted: f64,
    run: usize,
    left: usize,
    /// The largest absolute value that left the window since the sums were recomputed.
    largest: f64,
}

#[derive(Clone, Copy)]
pub struct WeightedMeanUpdate {
    x: f64,
    sum: f64,
    weighted: f64,
    run: usize,
    left: usize,
    largest: f64,
}

impl WeightedMean {
    pub(crate) fn new(period: usize) -> WeightedMean {
        let ring = vec![0.0; period].into_boxed_slice();
        let left = REFRESH.max(period);
        WeightedMean { ring, at: 0, sum: 0.0, weighted: 0.0, run: 0, left, largest: 0.0 }
    }

    /// Writes weighted means at each of `xs` into `out`, of the same length; they equal those of
    /// `step` up to rounding.
    #[inline(always)]
    pub(crate) fn scan(&mut self, xs: &[f64], out: &mut [f64], buffers: &mut WindowBuffers<2>) {
        let period = self.ring.len();
        let len = xs.len().min(out.len());
        if !fits(period, &xs[..len]) || !in_safe_range(&self.ring) {
            return self.each(&xs[..len], &mut out[..len]);
        }
        // The numbers that complete the first window go one by one.
        let head = (period - self.run).min(len);
        self.each(&xs[..head], &mut out[..head]);
        let (xs, out) = (&xs[head..len], &mut out[head..len]);
        if xs.is_empty() {
            return;
        }
        let (newer, older) = self.ring.split_at(self.at);
        let row = buffers.fill_first_row(&older[1..], newer, xs);
        let n = period as f64;
        let share = 2.0 / (n * (n + 1.0));
        let [values, weighted] = &mut buffers.rows;
        if period <= SHORT {
            weighted_means(&values[..row], period, share, out);
        } else {
            weighted[..row].copy_from_slice(&values[..row]);
            buffers.slide(period, 0..row, [out], join, |[_, weighted]| [weighted * share]);
        }
        self.ring.copy_from_slice(&buffers.rows[0][row - period..row]);
        (self.at, self.left) = (0, 1);
    }

    #[inline(never)]
    fn each(&mut self, xs: &[f64], out: &mut [f64]) {
        for (x, slot) in xs.iter().zip(out) {
            *slot = finite_or_nan(self.push(*x));
        }
    }

    #[cold]
    fn recompute(&self, x: f64) -> (f64, f64) {
        let (newer, older) = self.ring.split_at(self.at);
        let older = older.get(1..).unwrap_or_default();
        let window = older.iter().chain(newer).copied().chain([x]);
        window.zip(1..).fold((0.0, 0.0), |(sum, weighted), (x, weight)| {
            (sum + x, weighted + x * f64::from(weight))
        })
    }
}

/// Merges sum and weighted sum of two adjacent windows: the weights of the newer grow by the width
/// of the older.
#[inline(always)]
fn join(Pair { older, newer, widths }: Pair<2>) -> [f64; 2] {
    [older[0] + newer[0], older[1] + (newer[1] + widths.0 * newer[0])]
}

/// The weighted mean of each window of the row.
#[inline(always)]
fn weighted_means(row: &[f64], period: usize, share: f64, out: &mut [f64]) {
    let (lanes, rest) = out.as_chunks_mut::<LANES>();
    let stretch = &row[lanes.len() * LANES..];
    for (index, out) in lanes.iter_mut().enumerate() {
        let stretch = &row[index * LANES..][..period - 1 + LANES];
        let mut sums = [0.0; LANES];
        let mut weight = 0.0;
        for xs in stretch.array_windows::<LANES>() {
            weight += share;
            for (sum, x) in sums.iter_mut().zip(xs) {
                *sum += weight * x;
            }
        }
        *out = sums;
    }
    for (window, out) in stretch.windows(period).zip(rest) {
        *out = share * window.iter().zip(1..).map(|(x, weight)| x * f64::from(weight)).sum::<f64>();
    }
}

impl Block for WeightedMean {
    type Update = WeightedMeanUpdate;

    #[inline(always)]
    fn step(&self, x: f64) -> (f64, WeightedMeanUpdate) {
        let period = self.ring.len();
        let n = period as f64;
        let here = x.is_finite();
        let x = if here { x } else { 0.0 };
        let run = if here { (self.run + 1).min(period) } else { 0 };
        let old = self.ring[self.at];
        let mut sum = self.sum + (x - old);
        let mut weighted = self.weighted + (n * x - self.sum);
        let mut left = self.left.wrapping_sub(1);
        let mut largest = if old.abs() > self.largest { old.abs() } else { self.largest };
        // The factor is 32 instead of 1,024 as for a plain sum: the error of that sum is added here
        // at every step.
        let sound = largest <= finite_or_nan(sum).abs() * 32.0;
        if left == 0 || !sound {
            (sum, weighted) = self.recompute(x);
            largest = 0.0;
            left = REFRESH.max(period);
        }
        let value = if run >= period { weighted / (n * (n + 1.0) * 0.5) } else { f64::NAN };
        (value, WeightedMeanUpdate { x, sum, weighted, run, left, largest })
    }

    #[inline(always)]
    fn commit(&mut self, next: WeightedMeanUpdate) {
        self.ring[self.at] = next.x;
        self.at = next_slot(self.at, self.ring.len());
        self.sum = next.sum;
        self.weighted = next.weighted;
        self.run = next.run;
        self.left = next.left;
        self.largest = next.largest;
    }
}
