//! The batch form of indicators that are made of sums: the sums of the windows that end in a part go
//! on from one window to the next, in lanes that do not wait for one another. Says where that cannot
//! be relied on; those parts are left to the indicators.

use std::array;

use super::CHUNK;
use super::doubling::WINDOW_MAX;
use crate::Candles;
use crate::indicator::{OutputSink, finite};

/// How many sums run beside one another.
const LANES: usize = 4;

/// The last numbers of `K` series, each with a window of its own.
struct RollingSums<const K: usize> {
    periods: [usize; K],
    /// The numbers before the part, and the part.
    rows: [[f64; WINDOW_MAX + CHUNK]; K],
    sums: [[f64; CHUNK]; K],
    /// How many numbers are known before the part, no further than there is room.
    known: usize,
    len: usize,
}

/// How many times as large or small as the first sum of the measure the others may be.
const FAR: f64 = 16.0;

/// The least that the measure may be, so that it can be divided by.
const LEAST: f64 = 1e-200;

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

    /// Room for the numbers of the next part, which is no longer than a chunk.
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

    /// The numbers of the part.
    #[inline(always)]
    fn part(&self) -> [&[f64]; K] {
        self.rows.each_ref().map(|row| &row[WINDOW_MAX..WINDOW_MAX + self.len])
    }

    /// The windows before the part; shorter where not as much is known.
    fn windows(&self) -> [&[f64]; K] {
        let mut periods = self.periods.iter().map(|period| (*period).min(self.known));
        self.rows.each_ref().map(|row| &row[WINDOW_MAX - periods.next().unwrap_or(0)..WINDOW_MAX])
    }

    /// The sums at each number of a whole chunk. False where they may be wrong: something is
    /// missing, windows are too long or not yet full, or rounding is not small. The last series is
    /// the measure of that: its sums are above zero and like one another, and those of the others
    /// are not much larger.
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
                // Each lane goes on from what it was four windows ago.
                for j in 0..LANES {
                    lanes[j] += pairs[j] + behind[j];
                }
                (change_before, pairs_before) = (change, pairs);
                *slot = lanes;
            }
        }
        let first = firsts[K - 1];
        let limit = first * FAR;
        let odd: u64 = (0..K)
            .map(|k| outside(&self.sums[k], if k + 1 < K { -limit } else { first / FAR }, limit))
            .sum();
        // The windows before the part count too: what leaves them at once leaves its rounding.
        let near = firsts.iter().all(|sum| sum.abs() <= limit);
        // What was missing or infinite is outside of everything.
        odd == 0 && near && finite(limit) && first >= LEAST
    }
}

/// How many are not from `least` to `most`. Counted, because that is what is done to many at once.
#[inline(always)]
fn outside(xs: &[f64; CHUNK], least: f64, most: f64) -> u64 {
    xs.iter().map(|x| u64::from(!(*x >= least && *x <= most))).sum()
}

/// An indicator that is made of sums.
pub(crate) trait SumIndicator<const K: usize, const N: usize> {
    /// Room for what is only needed on the way.
    type Buffers;

    fn buffers(&self) -> Self::Buffers;

    fn periods(&self) -> [usize; K];

    /// Writes the numbers that are summed up for the candles from `from` on into `rows`, as many as
    /// there is room for, and takes from the candles what is not a window.
    fn fill(
        &mut self,
        candles: &Candles<'_>,
        from: usize,
        rows: [&mut [f64]; K],
        buffers: &mut Self::Buffers,
    );

    /// What is made of sums that can be relied on.
    fn show(&self) -> impl Fn([f64; K]) -> [f64; N];

    /// Goes on from windows that are known.
    fn restart(&mut self, windows: [&[f64]; K]);

    /// Writes what steps would give at the numbers of `part`, which `fill` gave, into `out`.
    fn scan(&mut self, part: [&[f64]; K], out: [&mut [f64]; N], buffers: &mut Self::Buffers);
}

/// Goes through the candles part by part: sums that go on where they can be relied on, and what
/// steps would give elsewhere.
#[inline(always)]
pub(crate) fn run_batch<const K: usize, const N: usize>(
    it: &mut impl SumIndicator<K, N>,
    candles: &Candles<'_>,
    out: &mut impl OutputSink<N>,
) {
    let mut rolling = RollingSums::new(it.periods());
    let mut buffers = it.buffers();
    // Whether the indicator knows the last window.
    let mut known = true;
    for from in (0..candles.len()).step_by(CHUNK) {
        let len = CHUNK.min(candles.len() - from);
        it.fill(candles, from, rolling.next(len), &mut buffers);
        // Before there is room for the outputs: what is written here would wait until memory has
        // taken that.
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

    /// What is added up for a chunk after a window before it, and the sums of each window by
    /// adding them up.
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
    fn sums_are_those_of_the_windows() {
        for period in [1, 2, 3, 5, 20, 34, 127, WINDOW_MAX] {
            let (sound, out, sums) = both(period, &waves(WINDOW_MAX + CHUNK));
            assert!(sound, "{period}");
            for (a, b) in out.iter().zip(&sums) {
                assert!((a - b).abs() <= b * 1e-13, "{period}: {a} and {b}");
            }
        }
    }

    /// What is not a plain run of similar numbers is left to others.
    #[test]
    fn says_where_it_cannot_be_relied_on() {
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
