//! Mean and standard deviation of the windows that end in a block of 64 numbers, from running sums.
//! Reports when rounding makes them unreliable; the caller then recomputes.

use crate::indicator::finite;

/// Windows per block: 64, so that one block is written to memory while the next is computed.
pub(super) const BLOCK: usize = 64;

/// Independent running sums.
const LANES: usize = 4;

/// Buffers of one block.
pub(super) struct RunningMoments {
    anchor: f64,
    /// For the window before the block: the sum of distances to the anchor, and of their squares.
    sums: [f64; 2],
    /// How those sums change at each number.
    changes: [[f64; LANES + BLOCK]; 2],
}

impl RunningMoments {
    pub(super) fn new() -> RunningMoments {
        RunningMoments { anchor: 0.0, sums: [0.0; 2], changes: [[0.0; LANES + BLOCK]; 2] }
    }

    /// Takes a row that holds a window and the block after it.
    #[inline(always)]
    pub(super) fn fill(&mut self, row: &[f64]) {
        let (window, block) = row.split_at(row.len() - BLOCK);
        let anchor = block[BLOCK / 2];
        let [first, second] = self.changes.each_mut().map(|row| row[LANES..].iter_mut());
        for ((first, second), (new, old)) in first.zip(second).zip(block.iter().zip(row)) {
            *first = new - old;
            *second = (new - old) * ((new - anchor) + (old - anchor));
        }
        (self.anchor, self.sums) = (anchor, around(window, anchor));
    }

    /// Writes `show(mean, deviation)` for the window that ends at each number of the block. Returns
    /// false when the values may be wrong: a number is missing, too large, or so far from the
    /// others that its rounding is visible. `show` must be largest for the largest mean and
    /// deviation.
    #[inline(always)]
    pub(super) fn show<const M: usize>(
        &self,
        period: usize,
        out: [&mut [f64]; M],
        show: impl Fn(f64, f64) -> [f64; M],
    ) -> bool {
        let (anchor, share) = (self.anchor, 1.0 / period as f64);
        let [mut first, mut second] = self.sums.map(|sum| [sum; LANES]);
        // The window before the block counts too: a number that leaves it leaves its rounding in
        // the sums.
        let (mut least, mut most) = ([f64::INFINITY; LANES], [self.sums[1] * share; LANES]);
        let mut out = out.map(|row| row.as_chunks_mut::<LANES>().0.iter_mut());
        let [firsts, seconds] = self.changes.each_ref().map(|row| row[1..].windows(2 * LANES - 1));
        for (a, b) in firsts.step_by(LANES).zip(seconds.step_by(LANES)) {
            let mut values = [[0.0; LANES]; M];
            for j in 0..LANES {
                // Each lane continues from its value four windows ago.
                first[j] += (a[j] + a[j + 1]) + (a[j + 2] + a[j + 3]);
                second[j] += (b[j] + b[j + 1]) + (b[j + 2] + b[j + 3]);
                let (distance, square) = (first[j] * share, second[j] * share);
                let variance = square - distance * distance;
                least[j] = if variance < least[j] { variance } else { least[j] };
                most[j] = if square > most[j] { square } else { most[j] };
                let shown = show(anchor + distance, variance.sqrt());
                (0..M).for_each(|m| values[m][j] = shown[m]);
            }
            for (slots, values) in out.iter_mut().zip(values) {
                if let Some(slots) = slots.next() {
                    *slots = values;
                }
            }
        }
        let most = most.iter().copied().fold(0.0, f64::max);
        let largest = show(anchor.abs() + most.sqrt(), most.sqrt());
        // NaN and infinity stay in the sums. The rounding error is proportional to the largest sum,
        // so every variance must exceed 1e-4 of it.
        finite(second.iter().chain(&first).sum())
            && largest.into_iter().all(finite)
            && least.iter().all(|least| *least > most * 1e-4)
    }
}

/// The sum of distances to the anchor, and of their squares.
#[inline(always)]
fn around(window: &[f64], anchor: f64) -> [f64; 2] {
    let (four, rest) = window.as_chunks::<LANES>();
    let (mut first, mut second) = ([0.0; LANES], [0.0; LANES]);
    for xs in four {
        for j in 0..LANES {
            let distance = xs[j] - anchor;
            first[j] += distance;
            second[j] += distance * distance;
        }
    }
    for x in rest {
        let distance = x - anchor;
        first[0] += distance;
        second[0] += distance * distance;
    }
    [first, second].map(|sums| (sums[0] + sums[1]) + (sums[2] + sums[3]))
}
