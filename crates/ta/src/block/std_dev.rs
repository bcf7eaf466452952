//! Mean and population standard deviation of the last n numbers, from sums of distances to an
//! anchor inside the window, which avoids cancellation of large terms.

use super::doubling::{Pair, WINDOW_MAX, WindowBuffers, fits, in_safe_range};
use super::moments::{BLOCK, RunningMoments};
use super::next_slot;
use crate::indicator::{OutputSink, finite_or_nan};

/// Steps before a new anchor is chosen.
const REFRESH: usize = 256;

#[derive(Clone, Debug)]
pub struct StdDev {
    ring: Box<[f64]>,
    at: usize,
    /// Observations since the last missing one, at most n.
    run: usize,
    /// How many of the last numbers are equal, at most n.
    same: usize,
    last: f64,
    sums: AnchoredSums,
    /// 1 / n.
    share: f64,
}

#[derive(Clone, Copy, Debug)]
struct AnchoredSums {
    anchor: f64,
    /// The sum of distances to the anchor.
    first: f64,
    /// The sum of squared distances to the anchor.
    second: f64,
    /// Steps until a new anchor; 0 before the first.
    left: usize,
}

#[derive(Clone, Copy)]
pub struct StdDevUpdate {
    x: f64,
    run: usize,
    same: usize,
    sums: AnchoredSums,
}

impl StdDev {
    pub(crate) fn new(period: usize) -> StdDev {
        let sums = AnchoredSums { anchor: 0.0, first: 0.0, second: 0.0, left: 0 };
        let ring = vec![0.0; period].into_boxed_slice();
        StdDev { ring, at: 0, run: 0, same: 0, last: f64::NAN, sums, share: 1.0 / period as f64 }
    }

    /// The mean and the deviation with `x` as the newest number.
    #[inline(always)]
    pub(crate) fn step(&self, x: f64) -> ((f64, f64), StdDevUpdate) {
        let period = self.ring.len();
        let mut next =
            StdDevUpdate { x, run: 0, same: 0, sums: AnchoredSums { left: 0, ..self.sums } };
        if !x.is_finite() {
            next.x = 0.0;
            return ((f64::NAN, f64::NAN), next);
        }
        next.run = (self.run + 1).min(period);
        next.same = if x == self.last { (self.same + 1).min(period) } else { 1 };
        if next.run < period {
            return ((f64::NAN, f64::NAN), next);
        }
        let AnchoredSums { anchor, first, second, left } = self.sums;
        let (new, old) = (x - anchor, self.ring[self.at] - anchor);
        let first = first + (new - old);
        let second = second + (new - old) * (new + old);
        let distance = first * self.share;
        let (square, variance) = (second * self.share, second * self.share - distance * distance);
        next.sums = AnchoredSums { anchor, first, second, left: left.wrapping_sub(1) };
        // Recompute when the variance is below 1e-4 of the mean square, where the subtraction
        // cancels, or when the square of the number that left is above 1,024 times the mean square.
        let sound = variance > square * 1e-4 && old * old < square * 1024.0;
        if left <= 1 || !sound {
            next.sums = self.recompute(x);
        } else {
            return ((anchor + distance, variance.sqrt()), next);
        }
        if next.same >= period {
            return ((x, 0.0), next);
        }
        let AnchoredSums { anchor, first, second, .. } = next.sums;
        let distance = first * self.share;
        let variance = second * self.share - distance * distance;
        ((anchor + distance, if variance < 0.0 { 0.0 } else { variance.sqrt() }), next)
    }

    #[inline(always)]
    pub(crate) fn commit(&mut self, next: StdDevUpdate) {
        self.ring[self.at] = next.x;
        self.at = next_slot(self.at, self.ring.len());
        self.run = next.run;
        self.same = next.same;
        self.last = if next.run == 0 { f64::NAN } else { next.x };
        self.sums = next.sums;
    }

    /// Writes `show(mean, deviation)` at each of `xs`; the values equal those of `step` up to
    /// rounding, and NaN replaces values that are not finite.
    #[inline(always)]
    pub(crate) fn run_batch<const M: usize>(
        &mut self,
        xs: &[f64],
        out: &mut impl OutputSink<M>,
        show: impl Fn(f64, f64) -> [f64; M] + Copy,
    ) {
        let (mut buffers, mut block, period) =
            (WindowBuffers::new(), RunningMoments::new(), self.ring.len());
        // The index up to which the ring holds the numbers.
        let mut known = 0;
        for from in (0..xs.len()).step_by(BLOCK) {
            let part = &xs[from..xs.len().min(from + BLOCK)];
            let near = part.len() == BLOCK && from >= period && period <= WINDOW_MAX;
            // Before the output slots are requested: otherwise these stores would wait for the
            // zeroing of the slots.
            if near {
                block.fill(&xs[from - period..from + BLOCK]);
            }
            let mut out = out.next(part.len());
            if near && block.show(period, out.each_mut().map(|row| &mut **row), show) {
                continue;
            }
            if known < from {
                self.restart(&xs[from - period..from]);
            }
            self.scan(part, out, &mut buffers, |mean, deviation| {
                show(finite_or_nan(mean), finite_or_nan(deviation)).map(finite_or_nan)
            });
            known = from + part.len();
        }
        if known < xs.len() {
            self.restart(&xs[xs.len() - period..]);
        }
    }

    /// Like `run_batch`, into outputs as long as `xs`, at most a chunk.
    #[inline(always)]
    pub(super) fn scan<const M: usize>(
        &mut self,
        xs: &[f64],
        out: [&mut [f64]; M],
        buffers: &mut WindowBuffers<2>,
        show: impl Fn(f64, f64) -> [f64; M] + Copy,
    ) {
        let (period, share) = (self.ring.len(), self.share);
        // The numbers that complete the first window go one by one.
        let steady = fits(period, xs) && in_safe_range(&self.ring);
        let head = if steady { (period - self.run).min(xs.len()) } else { xs.len() };
        for (index, x) in xs[..head].iter().enumerate() {
            let (mean, deviation) = self.push(*x);
            let values = show(mean, deviation);
            (0..M).for_each(|m| out[m][index] = values[m]);
        }
        let (xs, out) = (&xs[head..], out.map(|row| &mut row[head..]));
        if xs.is_empty() {
            return;
        }
        let (newer, older) = self.ring.split_at(self.at);
        let row = buffers.fill_first_row(&older[1..], newer, xs);
        let done = |[mean, squares]: [f64; 2]| show(mean, (squares * share).sqrt());
        buffers.slide(period, 0..row, out, join, done);
        self.restart(&buffers.rows[0][row - period..row]);
    }

    /// Continues from a full window; the next step recomputes the sums.
    #[inline(always)]
    fn restart(&mut self, window: &[f64]) {
        let last = window.last().copied().unwrap_or(f64::NAN);
        self.ring.copy_from_slice(window);
        (self.at, self.run, self.last) = (0, window.len(), last);
        self.same = window.iter().rev().take_while(|x| **x == last).count();
        self.sums.left = 0;
    }

    #[inline(never)]
    fn push(&mut self, x: f64) -> (f64, f64) {
        let (values, next) = self.step(x);
        self.commit(next);
        values
    }

    /// Sums around the mean of the window that ends with `x`.
    #[inline(never)]
    fn recompute(&self, x: f64) -> AnchoredSums {
        let (newer, older) = self.ring.split_at(self.at);
        let older = older.get(1..).unwrap_or_default();
        around(|| older.iter().chain(newer).copied().chain([x]), self.ring.len())
    }
}

/// Merges mean and sum of squared distances of two adjacent windows. For a constant series both are
/// exact.
#[inline(always)]
fn join(Pair { older, newer, widths: (a, b) }: Pair<2>) -> [f64; 2] {
    let apart = newer[0] - older[0];
    let squares = older[1] + newer[1];
    [older[0] + apart * (b / (a + b)), squares + apart * apart * (a * b / (a + b))]
}

/// Sums around the mean of the numbers of a window.
fn around<I: Iterator<Item = f64>>(window: impl Fn() -> I, period: usize) -> AnchoredSums {
    let anchor = window().sum::<f64>() / period as f64;
    let (first, second) = window().fold((0.0, 0.0), |(first, second), x| {
        let distance = x - anchor;
        (first + distance, second + distance * distance)
    });
    AnchoredSums { anchor, first, second, left: REFRESH.max(period) }
}
