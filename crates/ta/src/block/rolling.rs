//! Sums over the windows that end in a part, kept by adding what comes and taking away what goes,
//! in lanes that do not wait for one another. Says whether they can be relied on; what to do where they
//! cannot is decided elsewhere.

use super::CHUNK;
use super::slide::NEAR;
use crate::indicator::finite;

/// How many sums run beside one another.
const LANES: usize = 4;

/// The last numbers of `K` series, each with a window of its own.
pub(crate) struct Rolling<const K: usize> {
    periods: [usize; K],
    /// The numbers before the part, and the part.
    rows: [[f64; NEAR + CHUNK]; K],
    /// How the sums change at each number of the part.
    changes: [[f64; LANES + CHUNK]; K],
    sums: [[f64; CHUNK]; K],
    /// How many numbers are known before the part, no further than there is room.
    known: usize,
    len: usize,
}

/// How many times as large or small as the first sum of the measure the others may be.
const FAR: f64 = 16.0;

/// The least that the measure may be, so that it can be divided by.
const LEAST: f64 = 1e-200;

impl<const K: usize> Rolling<K> {
    pub(crate) fn new(periods: [usize; K]) -> Rolling<K> {
        Rolling {
            periods,
            rows: [[0.0; NEAR + CHUNK]; K],
            changes: [[0.0; LANES + CHUNK]; K],
            sums: [[0.0; CHUNK]; K],
            known: 0,
            len: 0,
        }
    }

    /// Room for the numbers of the next part, which is no longer than a chunk.
    #[inline(always)]
    pub(crate) fn next(&mut self, len: usize) -> [&mut [f64]; K] {
        let (before, len) = (self.len, len.min(CHUNK));
        for (row, period) in self.rows.iter_mut().zip(self.periods) {
            let from = NEAR - period.min(NEAR);
            row.copy_within(before + from..before + NEAR, from);
        }
        (self.known, self.len) = ((self.known + before).min(NEAR), len);
        self.rows.each_mut().map(|row| &mut row[NEAR..NEAR + len])
    }

    /// The numbers of the part.
    #[inline(always)]
    pub(crate) fn part(&self) -> [&[f64]; K] {
        self.rows.each_ref().map(|row| &row[NEAR..NEAR + self.len])
    }

    /// The windows before the part; shorter where not as much is known.
    pub(crate) fn windows(&self) -> [&[f64]; K] {
        let mut periods = self.periods.iter().map(|period| (*period).min(self.known));
        self.rows.each_ref().map(|row| &row[NEAR - periods.next().unwrap_or(0)..NEAR])
    }

    /// What `show` makes of the sums at each number of a whole chunk, into `out`, which is as long.
    /// False where the values may be wrong: something is missing, windows are too long or not yet
    /// full, or rounding is not small. The last series is the measure of that: its sums are above
    /// zero, and like one another and no less than the others in size.
    ///
    /// Several short loops: in one, the compiler does not keep the lanes together.
    #[inline(always)]
    pub(crate) fn show<const M: usize>(
        &mut self,
        out: [&mut [f64]; M],
        show: impl Fn([f64; K]) -> [f64; M],
    ) -> bool {
        if self.len != CHUNK || self.periods.iter().any(|period| *period > self.known) {
            return false;
        }
        let mut lanes = [[0.0; LANES]; K];
        for (k, lanes) in lanes.iter_mut().enumerate() {
            let (row, period) = (&self.rows[k], self.periods[k]);
            *lanes = [total(&row[NEAR - period..NEAR]); LANES];
            let (new, old) = (&row[NEAR..], &row[NEAR - period..][..CHUNK]);
            for (slot, (new, old)) in self.changes[k][LANES..].iter_mut().zip(new.iter().zip(old)) {
                *slot = new - old;
            }
        }
        let first = lanes[K - 1][0];
        for from in (0..CHUNK).step_by(LANES) {
            for (k, lanes) in lanes.iter_mut().enumerate() {
                let it = &self.changes[k][from + 1..from + 2 * LANES];
                for j in 0..LANES {
                    // Each lane goes on from what it was four windows ago.
                    lanes[j] += (it[j] + it[j + 1]) + (it[j + 2] + it[j + 3]);
                }
                self.sums[k][from..from + LANES].copy_from_slice(lanes);
            }
        }
        let limit = first * FAR;
        let odd: u64 = (0..K)
            .map(|k| outside(&self.sums[k], if k + 1 < K { -limit } else { first / FAR }, limit))
            .sum();
        // What was missing or infinite is outside of everything.
        if odd > 0 || !finite(limit) || first < LEAST {
            return false;
        }
        let out = out.map(|row| &mut row[..CHUNK]);
        for index in 0..CHUNK {
            let values = show(self.sums.each_ref().map(|row| row[index]));
            (0..M).for_each(|m| out[m][index] = values[m]);
        }
        true
    }
}

/// How many are not from `least` to `most`. Counted, because that is what is done to many at once.
#[inline(always)]
fn outside(xs: &[f64; CHUNK], least: f64, most: f64) -> u64 {
    xs.iter().map(|x| u64::from(!(*x >= least && *x <= most))).sum()
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

    /// What `show` gives for a chunk after a window before it, and the sums of each window by
    /// adding them up.
    fn both(period: usize, xs: &[f64]) -> (bool, Vec<f64>, Vec<f64>) {
        let (window, part) = xs.split_at(xs.len() - CHUNK);
        let mut rolling = Rolling::new([period]);
        for part in window.chunks(CHUNK).chain([part]) {
            rolling.next(part.len())[0].copy_from_slice(part);
        }
        let mut out = vec![0.0; CHUNK];
        let sound = rolling.show([&mut out], |sums| sums);
        let ends = xs.len() - CHUNK..xs.len();
        let sums = ends.map(|end| xs[(end + 1).saturating_sub(period)..=end].iter().sum());
        (sound, out, sums.collect())
    }

    fn waves(len: usize) -> Vec<f64> {
        (0..len).map(|i| 100.0 + (i * 7919 % 1013) as f64 / 50.0).collect()
    }

    #[test]
    fn sums_are_those_of_the_windows() {
        for period in [1, 2, 3, 5, 20, 34, 127, NEAR] {
            let (sound, out, sums) = both(period, &waves(NEAR + CHUNK));
            assert!(sound, "{period}");
            for (a, b) in out.iter().zip(&sums) {
                assert!((a - b).abs() <= b * 1e-13, "{period}: {a} and {b}");
            }
        }
    }

    /// What is not a plain run of similar numbers is left to others.
    #[test]
    fn says_where_it_cannot_be_relied_on() {
        let len = NEAR + CHUNK;
        for at in [len - CHUNK - 3, len - CHUNK, len - 1] {
            for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, 1e9, -1e9] {
                let mut xs = waves(len);
                xs[at] = odd;
                assert!(!both(20, &xs).0, "{odd} at {at}");
            }
        }
        assert!(!both(NEAR + 1, &waves(3 * len)).0, "too long a window");
        assert!(!both(20, &waves(CHUNK + 19)).0, "not yet full");
        assert!(!both(20, &vec![0.0; len]).0, "nothing to divide by");
        assert!(!both(20, &vec![1e-305; len]).0, "next to nothing");
    }
}
