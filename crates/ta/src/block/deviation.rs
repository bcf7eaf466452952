//! Mean absolute deviation of the last n numbers from their mean.

use super::doubling::{CHUNK, Pair, WindowBuffers, fits, in_safe_range};
use super::{Block, WindowSum, next_slot};

/// Below a relative deviation of 1e-5 the rounding of the running sum becomes visible, and the
/// exact form is used.
const MIN_RELATIVE: f64 = 1e-5;

#[derive(Clone, Debug)]
pub struct Deviation {
    ring: Box<[f64]>,
    at: usize,
    sum: WindowSum,
    /// How many of the last numbers are equal, at most n.
    same: usize,
    last: f64,
}

#[derive(Clone, Copy)]
pub struct DeviationUpdate {
    x: f64,
    same: usize,
    sum: <WindowSum as Block>::Update,
}

impl Deviation {
    pub(crate) fn new(period: usize) -> Deviation {
        let ring = vec![0.0; period].into_boxed_slice();
        Deviation { ring, at: 0, sum: WindowSum::new(period), same: 0, last: f64::NAN }
    }

    /// The mean and the mean absolute deviation from it, with `x` as the newest number.
    #[inline(always)]
    pub(crate) fn step(&self, x: f64) -> ((f64, f64), DeviationUpdate) {
        let (mean, sum) = self.sum.mean(x);
        let period = self.ring.len();
        let same = if x == self.last { (self.same + 1).min(period) } else { 1 };
        let next = DeviationUpdate { x, same, sum };
        if mean.is_nan() {
            return ((f64::NAN, f64::NAN), next);
        }
        if same >= period {
            return ((x, 0.0), next);
        }
        let old = self.ring[self.at];
        // Four partial sums break the dependency chain of one; the order of addition does not
        // matter here.
        let (four, rest) = self.ring.as_chunks::<4>();
        let mut sums = [0.0; 4];
        for chunk in four {
            for (sum, x) in sums.iter_mut().zip(chunk) {
                *sum += (x - mean).abs();
            }
        }
        let rest: f64 = rest.iter().map(|x| (x - mean).abs()).sum();
        let all = (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
        let gone = (old - mean).abs();
        let all = all - gone + (x - mean).abs();
        let deviation = all / period as f64;
        // Distances show more rounding than the sum itself, so the limits are 4 times the newest
        // number and 1,024 times the sum of distances. A missing number in the window fails the
        // test as well.
        let sound = sum.largest() <= x.abs() * 4.0 && gone <= all * 1024.0;
        if !sound || deviation < x.abs() * MIN_RELATIVE {
            return (self.exact(x), next);
        }
        ((mean, deviation), next)
    }

    /// The mean and deviation from distances to `x`: slower, and exact when all numbers are close
    /// to `x`.
    #[cold]
    #[inline(never)]
    fn exact(&self, x: f64) -> (f64, f64) {
        let (newer, older) = self.ring.split_at(self.at);
        let older = older.get(1..).unwrap_or_default();
        let (others, share) = (|| newer.iter().chain(older), 1.0 / self.ring.len() as f64);
        let offset = others().map(|other| other - x).sum::<f64>() * share;
        let all = others().map(|other| (other - x - offset).abs()).sum::<f64>() + offset.abs();
        (x + offset, all * share)
    }

    #[inline(always)]
    pub(crate) fn commit(&mut self, next: DeviationUpdate) {
        self.ring[self.at] = next.x;
        self.at = next_slot(self.at, self.ring.len());
        self.same = next.same;
        self.last = next.x;
        self.sum.commit(next.sum);
    }

    /// Writes means and mean deviations at each of `xs`, at most a chunk, into the outputs; they
    /// equal those of `step` up to rounding.
    #[inline(always)]
    pub(crate) fn scan(
        &mut self,
        xs: &[f64],
        means: &mut [f64; CHUNK],
        out: &mut [f64; CHUNK],
        buffers: &mut WindowBuffers,
    ) {
        let (period, len) = (self.ring.len(), xs.len().min(CHUNK));
        let steady = fits(period, &xs[..len]) && in_safe_range(&self.ring);
        // The numbers that complete the first window go one by one.
        let head = if steady { self.sum.missing().min(len) } else { len };
        for index in 0..head {
            (means[index], out[index]) = self.push(xs[index]);
        }
        let xs = &xs[head..len];
        let Some(last) = xs.last() else { return };
        let (newer, older) = self.ring.split_at(self.at);
        let row = buffers.fill_first_row(&older[1..], newer, xs);
        let (means, out) = (&mut means[head..len], &mut out[head..len]);
        buffers.slide(period, 0..row, [&mut *means], join, |mean| mean);
        let share = 1.0 / period as f64;
        let row = &buffers.rows[0][..row];
        distances(row, means, out);
        out.iter_mut().for_each(|distance| *distance *= share);
        let window = &row[row.len() - period..];
        self.ring.copy_from_slice(window);
        self.at = 0;
        self.same = window.iter().rev().take_while(|x| *x == last).count();
        self.last = *last;
        self.sum.restart(window);
    }

    #[inline(never)]
    fn push(&mut self, x: f64) -> (f64, f64) {
        let (values, next) = self.step(x);
        self.commit(next);
        values
    }
}

/// Merges the means of two adjacent windows; for a constant series the mean is exact.
#[inline(always)]
fn join(Pair { older: [older], newer: [newer], widths: (a, b) }: Pair<1>) -> [f64; 1] {
    [older + (newer - older) * (b / (a + b))]
}

/// Windows computed at a time.
const LANES: usize = 16;

/// Writes, for each window, the sum of the distances of its numbers from its mean.
#[inline(always)]
fn distances(row: &[f64], means: &[f64], out: &mut [f64]) {
    let period = row.len() + 1 - means.len();
    let (mean_lanes, mean_rest) = means.as_chunks::<LANES>();
    let (out_lanes, out_rest) = out.as_chunks_mut::<LANES>();
    for (index, (means, out)) in mean_lanes.iter().zip(out_lanes).enumerate() {
        let stretch = &row[index * LANES..][..period - 1 + LANES];
        let mut sums = [0.0; LANES];
        for xs in stretch.array_windows::<LANES>() {
            for ((sum, mean), x) in sums.iter_mut().zip(means).zip(xs) {
                *sum += (x - mean).abs();
            }
        }
        *out = sums;
    }
    let stretch = &row[mean_lanes.len() * LANES..];
    for ((window, mean), out) in stretch.windows(period).zip(mean_rest).zip(out_rest) {
        *out = window.iter().map(|x| (x - mean).abs()).sum();
    }
}
