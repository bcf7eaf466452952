//! The batch form of indicators made of window sums: running sums over the windows that end in a
//! chunk, in four independent lanes. Chunks where rounding makes the sums unreliable go to the
//! indicator itself.

use std::array;

use super::CHUNK;
use super::doubling::WINDOW_MAX;
use crate::Candles;
use crate::indicator::{OutputSink, finite};

/// Independent running sums.
const LANES: usize = 4;

/// The last numbers of `K` series, each with its own window length.
struct RollingSums<const K: usize> {
    periods: [usize; K],
    /// The last 128 numbers before the chunk, and the chunk.
    rows: [[f64; WINDOW_MAX + CHUNK]; K],
    sums: [[f64; CHUNK]; K],
    /// How many numbers before the chunk are known, at most 128.
    known: usize,
    len: usize,
}

/// How many times larger or smaller than its first sum the reference series may become.
const RATIO_MAX: f64 = 16.0;

/// Lower bound of the reference sum, which is a divisor.
const REFERENCE_MIN: f64 = 1e-200;

impl<const K: usize> RollingSums<K> {
    fn new(periods: [usize; K]) -> RollingSums<K> {
        RollingSums {
            periods,
            rows: [[0.0; WINDOW_MAX + CHUNK]; K],
            sums: [[0.0; CHUNK]; K],
            known: 0,
            len: 0,
        }
    }

    /// The slots for the numbers of the next chunk.
    #[inline(always)]
    fn next(&mut self, len: usize) -> [&mut [f64]; K] {
        let (before, len) = (self.len, len.min(CHUNK));
        for (row, period) in self.rows.iter_mut().zip(self.periods) {
            let from = WINDOW_MAX - period.min(WINDOW_MAX);
            row.copy_within(before + from..before + WINDOW_MAX, from);
        }
        (self.known, self.len) = ((self.known + before).min(WINDOW_MAX), len);
        self.rows.each_mut().map(|row| &mut row[WINDOW_MAX..WINDOW_MAX + len])
    }

    /// The numbers of the chunk.
    #[inline(always)]
    fn part(&self) -> [&[f64]; K] {
        self.rows.each_ref().map(|row| &row[WINDOW_MAX..WINDOW_MAX + self.len])
    }

    /// The windows before the chunk; shorter at the start of the series.
    fn windows(&self) -> [&[f64]; K] {
        let mut periods = self.periods.iter().map(|period| (*period).min(self.known));
        self.rows.each_ref().map(|row| &row[WINDOW_MAX - periods.next().unwrap_or(0)..WINDOW_MAX])
    }

    /// Computes the sums at each number of a full chunk. Returns false when they may be wrong: a
    /// number is missing, a window is longer than 128 or not yet full, or rounding is visible. The
    /// last series is the reference for that: its sums must be positive and within a factor of 16
    /// of the first, and those of the other series at most 16 times the first.
    #[inline(always)]
    fn add_up(&mut self) -> bool {
        if self.len != CHUNK || self.periods.iter().any(|period| *period > self.known) {
            return false;
        }
        let mut firsts = [0.0; K];
        for (k, sums) in self.sums.iter_mut().enumerate() {
            let (row, period) = (&self.rows[k], self.periods[k]);
            firsts[k] = total(&row[WINDOW_MAX - period..WINDOW_MAX]);
            let mut lanes = [firsts[k]; LANES];
            let (new, old) = (&row[WINDOW_MAX..], &row[WINDOW_MAX - period..][..CHUNK]);
            let (mut change_before, mut pairs_before) = ([0.0; LANES], [0.0; LANES]);
            let steps = new.as_chunks::<LANES>().0.iter().zip(old.as_chunks::<LANES>().0);
            for (slot, (new, old)) in sums.as_chunks_mut::<LANES>().0.iter_mut().zip(steps) {
                let change: [f64; LANES] = array::from_fn(|j| new[j] - old[j]);
                let [a, b, c, _] = change;
                let behind = [change_before[3], a, b, c];
                let pairs: [f64; LANES] = array::from_fn(|j| change[j] + behind[j]);
                let [a, b, ..] = pairs;
                let behind = [pairs_before[2], pairs_before[3], a, b];
                // Each lane continues from its value four windows ago.
                for j in 0..LANES {
                    lanes[j] += pairs[j] + behind[j];
                }
                (change_before, pairs_before) = (change, pairs);
                *slot = lanes;
            }
        }
        let first = firsts[K - 1];
        let limit = first * RATIO_MAX;
        let odd: u64 = (0..K)
            .map(|k| {
                outside(&self.sums[k], if k + 1 < K { -limit } else { first / RATIO_MAX }, limit)
            })
            .sum();
        // The windows before the chunk count too: a number that leaves one leaves its rounding.
        let near = firsts.iter().all(|sum| sum.abs() <= limit);
        // NaN and infinity are outside every range.
        odd == 0 && near && finite(limit) && first >= REFERENCE_MIN
    }
}

/// How many numbers are outside `least..=most`. A count instead of an early exit lets the compiler
/// vectorize the loop.
#[inline(always)]
fn outside(xs: &[f64; CHUNK], least: f64, most: f64) -> u64 {
    xs.iter().map(|x| u64::from(!(*x >= least && *x <= most))).sum()
}

/// An indicator computed from window sums.
pub(crate) trait SumIndicator<const K: usize, const N: usize> {
    /// Scratch memory of the batch form.
    type Buffers;

    fn buffers(&self) -> Self::Buffers;

    fn periods(&self) -> [usize; K];

    /// Writes the summands of the candles from `from` on into `rows`, as many as fit, and updates
    /// the state that is not a window.
    fn fill(
        &mut self,
        candles: &Candles<'_>,
        from: usize,
        rows: [&mut [f64]; K],
        buffers: &mut Self::Buffers,
    );

    /// The function from reliable sums to outputs.
    fn show(&self) -> impl Fn([f64; K]) -> [f64; N];

    /// Continues from the last windows.
    fn restart(&mut self, windows: [&[f64]; K]);

    /// Writes what `step` would give at the numbers of `part`, which `fill` wrote, into `out`.
    fn scan(&mut self, part: [&[f64]; K], out: [&mut [f64]; N], buffers: &mut Self::Buffers);
}

/// Goes through the candles chunk by chunk: running sums where they are reliable, the indicator
/// itself elsewhere.
#[inline(always)]
pub(crate) fn run_batch<const K: usize, const N: usize>(
    it: &mut impl SumIndicator<K, N>,
    candles: &Candles<'_>,
    out: &mut impl OutputSink<N>,
) {
    let mut rolling = RollingSums::new(it.periods());
    let mut buffers = it.buffers();
    // Whether the indicator holds the last window.
    let mut known = true;
    for from in (0..candles.len()).step_by(CHUNK) {
        let len = CHUNK.min(candles.len() - from);
        it.fill(candles, from, rolling.next(len), &mut buffers);
        // Before the output slots are requested: otherwise these stores would wait for the zeroing
        // of the slots.
        let sound = rolling.add_up();
        let out = out.next(len);
        if sound {
            known = false;
            let (out, show) = (out.map(|row| &mut row[..CHUNK]), it.show());
            for index in 0..CHUNK {
                let values = show(rolling.sums.each_ref().map(|row| row[index]));
                (0..N).for_each(|n| out[n][index] = values[n]);
            }
            continue;
        }
        if !known {
            it.restart(rolling.windows());
        }
        known = true;
        it.scan(rolling.part(), out, &mut buffers);
    }
    if !known {
        rolling.next(0);
        it.restart(rolling.windows());
    }
}

#[inline(always)]
fn total(xs: &[f64]) -> f64 {
    let (fours, rest) = xs.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for four in fours {
        sums.iter_mut().zip(four).for_each(|(sum, x)| *sum += x);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The running sums of a chunk after a window, and the same sums added up one by one.
    fn both(period: usize, xs: &[f64]) -> (bool, Vec<f64>, Vec<f64>) {
        let (window, part) = xs.split_at(xs.len() - CHUNK);
        let mut rolling = RollingSums::new([period]);
        for part in window.chunks(CHUNK).chain([part]) {
            rolling.next(part.len())[0].copy_from_slice(part);
        }
        let sound = rolling.add_up();
        let out = rolling.sums[0].to_vec();
        let ends = xs.len() - CHUNK..xs.len();
        let sums = ends.map(|end| xs[(end + 1).saturating_sub(period)..=end].iter().sum());
        (sound, out, sums.collect())
    }

    fn waves(len: usize) -> Vec<f64> {
        (0..len).map(|i| 100.0 + (i * 7919 % 1013) as f64 / 50.0).collect()
    }

    #[test]
    fn running_sums_equal_window_sums() {
        for period in [1, 2, 3, 5, 20, 34, 127, WINDOW_MAX] {
            let (sound, out, sums) = both(period, &waves(WINDOW_MAX + CHUNK));
            assert!(sound, "{period}");
            for (a, b) in out.iter().zip(&sums) {
                assert!((a - b).abs() <= b * 1e-13, "{period}: {a} and {b}");
            }
        }
    }

    /// Series that are not a plain run of similar numbers are refused.
    #[test]
    fn unreliable_sums_are_reported() {
        let len = WINDOW_MAX + CHUNK;
        for at in [len - CHUNK - 3, len - CHUNK, len - 1] {
            for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, 1e9, -1e9] {
                let mut xs = waves(len);
                xs[at] = odd;
                assert!(!both(20, &xs).0, "{odd} at {at}");
            }
        }
        assert!(!both(WINDOW_MAX + 1, &waves(3 * len)).0, "too long a window");
        assert!(!both(20, &waves(CHUNK + 19)).0, "not yet full");
        assert!(!both(20, &vec![0.0; len]).0, "nothing to divide by");
        assert!(!both(20, &vec![1e-305; len]).0, "next to nothing");
    }
}
