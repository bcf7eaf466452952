//! The sum of one series over the sum of another, in several windows at once.

use super::doubling::{CHUNK, Pair, Row, WINDOW_MAX, WindowBuffers, fits, in_safe_range};
use super::{Block, UpdateOf, WindowSum};

/// Buffers of the batch form: for each window the sums of numerator and denominator.
pub(crate) struct RatioBuffers<const R: usize> {
    buffers: WindowBuffers<2>,
    sums: [[Row; 2]; R],
}

impl<const R: usize> RatioBuffers<R> {
    pub(crate) fn new() -> RatioBuffers<R> {
        RatioBuffers { buffers: WindowBuffers::new(), sums: [[[0.0; CHUNK + WINDOW_MAX]; 2]; R] }
    }
}

#[derive(Clone, Debug)]
pub struct Ratios<const R: usize> {
    above: [WindowSum; R],
    below: [WindowSum; R],
}

#[derive(Clone, Copy)]
pub struct RatiosUpdate<const R: usize> {
    above: [UpdateOf<WindowSum>; R],
    below: [UpdateOf<WindowSum>; R],
}

impl<const R: usize> Ratios<R> {
    pub(crate) fn new(periods: [usize; R]) -> Ratios<R> {
        Ratios { above: periods.map(WindowSum::new), below: periods.map(WindowSum::new) }
    }

    #[inline(always)]
    pub(crate) fn step(&self, above: f64, below: f64) -> ([f64; R], RatiosUpdate<R>) {
        let above = self.above.each_ref().map(|sum| sum.step(above));
        let below = self.below.each_ref().map(|sum| sum.step(below));
        let ratios = std::array::from_fn(|r| above[r].0 / below[r].0);
        (
            ratios,
            RatiosUpdate { above: above.map(|(_, next)| next), below: below.map(|(_, next)| next) },
        )
    }

    #[inline(always)]
    pub(crate) fn commit(&mut self, next: RatiosUpdate<R>) {
        self.above.iter_mut().zip(next.above).for_each(|(sum, next)| sum.commit(next));
        self.below.iter_mut().zip(next.below).for_each(|(sum, next)| sum.commit(next));
    }

    /// Writes `show(ratios)` at each pair of numbers into `out`, of the same length and at most a
    /// chunk; the values equal those of `step` up to rounding.
    #[inline(always)]
    pub(crate) fn scan(
        &mut self,
        (above, below): (&[f64], &[f64]),
        out: &mut [f64],
        buffers: &mut RatioBuffers<R>,
        show: impl Fn([f64; R]) -> f64,
    ) {
        let len = above.len().min(below.len()).min(out.len()).min(CHUNK);
        let (above, below, out) = (&above[..len], &below[..len], &mut out[..len]);
        let longest = (0..R).max_by_key(|r| self.above[*r].period()).unwrap_or(0);
        let period = self.above[longest].period();
        let steady = fits(period, above)
            && fits(period, below)
            && in_safe_range(self.above[longest].ring())
            && in_safe_range(self.below[longest].ring())
            && self.above.iter().chain(&self.below).all(|sum| sum.missing() == 0);
        if !steady {
            for (slot, (above, below)) in out.iter_mut().zip(above.iter().zip(below)) {
                *slot = show(self.push(*above, *below));
            }
            return;
        }
        let RatioBuffers { buffers, sums } = buffers;
        self.above[longest].fill_first_row(0, above, buffers);
        let row = self.below[longest].fill_first_row(1, below, buffers);
        for r in 0..R {
            let shorter = self.above[r].period();
            self.above[r].restart(&buffers.rows[0][row - shorter..row]);
            self.below[r].restart(&buffers.rows[1][row - shorter..row]);
            let (known, rest) = sums.split_at_mut(r);
            let Some(out) = rest.first_mut() else { continue };
            let out = out.each_mut().map(|sums| &mut sums[..=row - shorter]);
            // A window twice as wide as the previous one is the sum of two such.
            match known.last() {
                Some(half) if 2 * self.above[r - 1].period() == shorter => {
                    let half = half.each_ref().map(|row| &row[..]);
                    double(half, shorter / 2, out);
                }
                _ => buffers.slide(shorter, 0..row, out, add, |sums| sums),
            }
        }
        let mut ends = [&[][..]; R];
        for ((end, [above, below]), sum) in ends.iter_mut().zip(sums).zip(&self.above) {
            let from = period - sum.period();
            let above = &mut above[from..from + len];
            for (above, below) in above.iter_mut().zip(&below[from..from + len]) {
                *above /= *below;
            }
            *end = above;
        }
        let ends = ends.map(|end| &end[..len]);
        for index in 0..len {
            out[index] = show(ends.map(|end| end[index]));
        }
    }

    /// Continues from the last windows, all of the same width.
    pub(crate) fn restart(&mut self, [above, below]: [&[f64]; 2]) {
        self.above.iter_mut().for_each(|sum| sum.restart(above));
        self.below.iter_mut().for_each(|sum| sum.restart(below));
    }

    #[inline(never)]
    fn push(&mut self, above: f64, below: f64) -> [f64; R] {
        let (ratios, next) = self.step(above, below);
        self.commit(next);
        ratios
    }
}

#[inline(always)]
fn add(Pair { older, newer, .. }: Pair<2>) -> [f64; 2] {
    [older[0] + newer[0], older[1] + newer[1]]
}

/// Sums over windows twice as wide.
#[inline(always)]
fn double(windows: [&[f64]; 2], width: usize, out: [&mut [f64]; 2]) {
    for (windows, out) in windows.into_iter().zip(out) {
        let len = out.len();
        let (older, newer) = (&windows[..len], &windows[width..width + len]);
        for index in 0..len {
            out[index] = older[index] + newer[index];
        }
    }
}
