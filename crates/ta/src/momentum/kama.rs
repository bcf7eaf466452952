//! Kaufman's adaptive moving average: K = K' + s (C - K'), where s is the square of a constant
//! between 2 / (slow + 1) and 2 / (fast + 1), selected by the efficiency ratio of the last `period`
//! changes: the net change over the sum of absolute changes (the path).
//!
//! Both libraries start at a close. `ta` shows it; the first value of TA-Lib is the average after
//! it. For a path of 0 the efficiency is 0 in `ta` and 1 in TA-Lib.

use std::array;

use crate::block::doubling::WindowBuffers;
use crate::block::{Block, Delay, UpdateOf, WindowSum, check_period};
use crate::indicator::{OutputSink, erase, finite, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "kama",
    params: &[
        Param::period("period", 10),
        Param::period("fast", 2),
        Param::period("slow", 30),
        Param::parity(),
    ],
    outputs: &["kama"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Kama::new(v.period(0), v.period(1), v.period(2), v.parity(3))?)),
};

/// Kaufman's adaptive moving average.
#[derive(Clone, Debug)]
pub struct Kama {
    path: WindowSum,
    start: Delay,
    close: f64,
    average: f64,
    /// Candles seen, at most `start_after` + 1.
    seen: usize,
    /// How many candles pass before the average starts.
    start_after: usize,
    parity: Parity,
    fastest: f64,
    slowest: f64,
}

impl Kama {
    /// An efficiency ratio over `period` changes, and smoothing between the periods `fast` and
    /// `slow`.
    pub fn new(period: usize, fast: usize, slow: usize, parity: Parity) -> Result<Kama, Error> {
        check_period("period", period)?;
        check_period("fast", fast)?;
        check_period("slow", slow)?;
        Ok(Kama {
            path: WindowSum::new(period),
            start: Delay::new(period),
            close: f64::NAN,
            average: f64::NAN,
            seen: 0,
            start_after: period - 1,
            parity,
            fastest: 2.0 / (fast as f64 + 1.0),
            slowest: 2.0 / (slow as f64 + 1.0),
        })
    }

    /// The output at a close before the average runs, and the average after it: the close once
    /// `start_after` candles have passed.
    #[inline(always)]
    fn begin(&self, close: f64, seen: usize) -> (f64, f64) {
        match self.parity {
            _ if seen <= self.start_after => (f64::NAN, f64::NAN),
            Parity::Ta => (close, close),
            Parity::TaLib => (f64::NAN, close),
        }
    }

    /// The smoothing factor s: the part of the distance to the close that the average moves.
    #[inline(always)]
    fn factor(&self, distance: f64, path: f64) -> f64 {
        // A path that overflows to infinity gives NaN.
        let flat = if self.parity == Parity::TaLib { 1.0 } else { 0.0 };
        let efficiency = if path == 0.0 { flat } else { distance / finite_or_nan(path) };
        let speed = efficiency * (self.fastest - self.slowest) + self.slowest;
        speed * speed
    }

    /// Applies the smoothing factors to the closes. Returns false, with only `out` changed, when a
    /// value is not finite.
    ///
    /// Four steps k = p k + q are combined before the average is needed, which shortens the
    /// dependency chain to one step in four.
    #[inline(always)]
    fn follow(&mut self, closes: &[f64], factors: &[f64], out: &mut [f64]) -> bool {
        let mut k = self.average;
        let (closes_four, closes_rest) = closes.as_chunks::<4>();
        let (factors_four, factors_rest) = factors.as_chunks::<4>();
        let (out_four, out_rest) = out.as_chunks_mut::<4>();
        for ((c, s), slot) in closes_four.iter().zip(factors_four).zip(out_four) {
            let [q0, mut q1, mut q2, mut q3] = array::from_fn(|i| s[i] * c[i]);
            let [p0, p1, p2, p3] = s.map(|s| 1.0 - s);
            q1 += p1 * q0;
            let p01 = p1 * p0;
            q3 += p3 * q2;
            let p23 = p3 * p2;
            q2 += p2 * q1;
            q3 += p23 * q1;
            *slot = [p0 * k + q0, p01 * k + q1, (p2 * p01) * k + q2, (p23 * p01) * k + q3];
            k = slot[3];
        }
        for ((c, s), slot) in closes_rest.iter().zip(factors_rest).zip(out_rest) {
            k += s * (c - k);
            *slot = k;
        }
        if finite(k) {
            self.average = k;
        }
        finite(k)
    }
}

/// Closes per block: 64, so that one block is written to memory while the next is computed.
const BLOCK: usize = 64;

/// Independent running sums of the path.
const LANES: usize = 4;

/// Buffers of one block: the changes of the path and the smoothing factors.
struct KamaBuffers {
    changes: [f64; LANES + BLOCK],
    factors: [f64; BLOCK],
}

impl KamaBuffers {
    /// Computes the smoothing factors of the last 64 closes of a row that starts `period + 1`
    /// closes earlier, from a running path. Returns false when rounding is visible or a value is
    /// missing.
    #[inline(always)]
    fn fill(&mut self, kama: &Kama, row: &[f64]) -> bool {
        let period = row.len() - BLOCK - 1;
        let (new, old) = (&row[period..], &row[..=BLOCK]);
        let steps = new.windows(2).zip(old.windows(2));
        for (slot, (new, old)) in self.changes[LANES..].iter_mut().zip(steps) {
            *slot = step(new) - step(old);
        }
        let mut path = [row[..=period].windows(2).map(step).sum(); LANES];
        // The path before the block counts too: a step that leaves it leaves its rounding.
        let (mut least, mut most) = ([f64::INFINITY; LANES], path);
        let range = kama.fastest - kama.slowest;
        let windows = self.changes[1..].windows(2 * LANES - 1).step_by(LANES);
        let distances = new[1..].as_chunks::<LANES>().0.iter().zip(old[1..].as_chunks().0);
        let slots = self.factors.as_chunks_mut::<LANES>().0.iter_mut();
        for ((factor, a), (close, start)) in slots.zip(windows).zip(distances) {
            let (start, mut factors): (&[f64; LANES], _) = (start, [0.0; LANES]);
            for j in 0..LANES {
                // Each lane continues from its value four windows ago.
                path[j] += (a[j] + a[j + 1]) + (a[j + 2] + a[j + 3]);
                least[j] = if path[j] < least[j] { path[j] } else { least[j] };
                most[j] = if path[j] > most[j] { path[j] } else { most[j] };
                let speed = (close[j] - start[j]).abs() / path[j] * range + kama.slowest;
                factors[j] = speed * speed;
            }
            *factor = factors;
        }
        let most = most.iter().copied().fold(0.0, f64::max);
        // NaN and infinity stay in the path. Every path must exceed 1e-4 of the largest.
        finite(path.iter().sum()) && least.iter().all(|least| *least > most * 1e-4)
    }
}

/// The absolute change from one close to the next.
#[inline(always)]
fn step(pair: &[f64]) -> f64 {
    (pair[1] - pair[0]).abs()
}

impl Kama {
    /// Continues from the last `period + 1` closes.
    fn restart(&mut self, closes: &[f64]) {
        let steps: Vec<_> = closes.windows(2).map(step).collect();
        self.path.restart(&steps);
        self.start.restart(&closes[1..]);
        self.close = closes[closes.len() - 1];
        self.seen = self.start_after + 1;
    }

    /// Writes the averages at up to a chunk of arbitrary closes.
    #[inline(always)]
    fn scan(&mut self, closes: &[f64], out: &mut [f64], buffers: &mut WindowBuffers) {
        let (mut steps, mut factors) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (period, len) = (self.start.period(), closes.len());
        let (steps, factors) = (&mut steps[..len], &mut factors[..len]);
        steps[0] = (closes[0] - self.close).abs();
        for (slot, pair) in steps[1..].iter_mut().zip(closes.windows(2)) {
            *slot = (pair[1] - pair[0]).abs();
        }
        self.close = closes[len - 1];
        self.path.scan_means(steps, factors, buffers);
        // The net change over the window; `scan_means` gave the path divided by n.
        for (slot, c) in steps.iter_mut().zip(closes).take(period) {
            *slot = (c - self.start.push(*c)).abs();
        }
        if len > period {
            let pairs = closes[period..].iter().zip(closes);
            for (slot, (c, start)) in steps[period..].iter_mut().zip(pairs) {
                *slot = (c - start).abs();
            }
            self.start.restart(&closes[len - period..]);
        }
        for (slot, distance) in factors.iter_mut().zip(&*steps) {
            *slot = self.factor(*distance, *slot * period as f64);
        }
        // A NaN factor makes every later average NaN.
        if self.follow(closes, factors, out) {
            return;
        }
        for ((slot, c), factor) in out.iter_mut().zip(closes).zip(&*factors) {
            self.seen = (self.seen + 1).min(self.start_after + 1);
            let next = if self.average.is_nan() {
                let (shown, next) = self.begin(*c, self.seen);
                *slot = finite_or_nan(shown);
                next
            } else {
                *slot = finite_or_nan(self.average + factor * (c - self.average));
                *slot
            };
            if finite(next) {
                self.average = next;
            }
        }
    }
}

impl Indicator<1> for Kama {
    type Update = (UpdateOf<WindowSum>, UpdateOf<Delay>, f64, f64, usize);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (start, start_next) = self.start.step(candle.c);
        let (path, way_next) = self.path.step((candle.c - self.close).abs());
        let seen_next = (self.seen + 1).min(self.start_after + 1);
        let close_next = candle.c;
        let (kama, next) = if self.average.is_nan() {
            self.begin(candle.c, seen_next)
        } else {
            let factor = self.factor((candle.c - start).abs(), path);
            let kama = self.average + factor * (candle.c - self.average);
            (kama, kama)
        };
        let average_next = if next.is_finite() { next } else { self.average };
        ([kama], (way_next, start_next, close_next, average_next, seen_next))
    }

    #[inline(always)]
    fn commit(&mut self, (path, start, close, average, seen): Self::Update) {
        self.path.commit(path);
        self.start.commit(start);
        self.close = close;
        self.average = average;
        self.seen = seen;
    }

    fn warmup(&self) -> usize {
        self.start_after + usize::from(self.parity == Parity::TaLib)
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let (closes, mut buffers) = (candles.closes(), WindowBuffers::new());
        let mut scratch = KamaBuffers { changes: [0.0; LANES + BLOCK], factors: [0.0; BLOCK] };
        let kept = self.start.period() + 1;
        // The index up to which the windows hold the closes.
        let mut known = 0;
        for from in (0..closes.len()).step_by(BLOCK) {
            let part = &closes[from..closes.len().min(from + BLOCK)];
            // Before the output slots are requested: otherwise these stores would wait for the
            // zeroing of the slots.
            let sound = from >= kept
                && part.len() == BLOCK
                && scratch.fill(self, &closes[from - kept..from + BLOCK]);
            let [out] = out.next(part.len());
            if sound && self.follow(part, &scratch.factors, out) {
                continue;
            }
            if known < from {
                self.restart(&closes[from - kept..from]);
            }
            self.scan(part, out, &mut buffers);
            known = from + part.len();
        }
        if known < closes.len() {
            self.restart(&closes[closes.len() - kept..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::Owned;

    #[test]
    fn a_large_step_that_left_the_window_leaves_no_rounding() {
        let close = |i: u32| match i {
            200 | 333 => 1e9,
            _ => 100.0 + f64::from(i * 7919 % 101) / 1e6,
        };
        let candle = |c: f64| Candle { t: 0, o: c, h: c, l: c, c, v: 1.0 };
        let candles: Vec<_> = (0..700).map(|i| candle(close(i))).collect();
        let mut batch = vec![0.0; candles.len()];
        let mut kama = Kama::new(10, 2, 30, Parity::Ta).unwrap();
        kama.extend(&Owned::new(&candles).candles(), [&mut batch]);
        let mut kama = Kama::new(10, 2, 30, Parity::Ta).unwrap();
        for (row, (candle, b)) in candles.iter().zip(batch).enumerate() {
            let [a] = kama.update(candle);
            let near = (a - b).abs() <= 1e-9 * a || (a.is_nan() && b.is_nan());
            assert!(near, "{row}: {a} and {b}");
        }
    }
}
