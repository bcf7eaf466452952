//! A line from a fast and a slow exponential average, with a signal line over it: the shared
//! computation of MACD, PPO and PVO.

use std::hint::cold_path;

use super::lanes::{PART, line_signal_hist, line_signal_hist_avx};
use super::{Block, CHUNK, Ewm, check_fast_slow, check_period};
use crate::indicator::{OutputSink, finite, finite_or_nan};
use crate::{Error, Parity};

#[derive(Clone, Debug)]
pub struct Oscillator<const PERCENT: bool> {
    fast_path: FastPath,
    gap_rules: GapRules<PERCENT>,
}

/// The state of a plain step. It is small and separate from `GapRules`, so that it stays in
/// registers during a loop.
#[derive(Clone, Copy, Debug)]
struct FastPath {
    /// For a percentage, both averages are scaled by 1 / alpha of the slow one, which then adds
    /// inputs unscaled, and the fast one by another 100, which saves that multiplication per step.
    fast: SteadyEwm,
    slow: SteadyEwm,
    /// Its `rest` is NaN while the fast path does not apply.
    signal: SteadyEwm,
}

/// An exponential average past its start and without a gap.
#[derive(Clone, Copy, Debug)]
struct SteadyEwm {
    alpha: Aligned16,
    beta: Aligned16,
    /// beta times the mean, so that no copy of the mean is needed at each step. With FMA it is the
    /// mean itself.
    rest: Aligned16,
}

/// Whether the target has FMA: a step then waits for one instruction instead of two.
const FUSED: bool = cfg!(target_feature = "fma");

/// A float aligned to 16 bytes. The compiler would pack two adjacent floats into one SIMD register,
/// which makes each wait for the other.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct Aligned16(f64);

impl SteadyEwm {
    #[inline(always)]
    fn new(average: &Ewm, scale: f64) -> SteadyEwm {
        let (alpha, beta) = (average.alpha() * scale, average.beta());
        let left = if FUSED { 1.0 } else { beta };
        let rest = left * average.mean() * scale;
        SteadyEwm { alpha: Aligned16(alpha), beta: Aligned16(beta), rest: Aligned16(rest) }
    }

    #[inline(always)]
    fn mean(&self) -> f64 {
        if FUSED { self.rest.0 } else { self.rest.0 / self.beta.0 }
    }

    /// The mean after a finite number.
    #[inline(always)]
    fn next_mean(&self, x: f64) -> f64 {
        self.next_mean_scaled(self.alpha.0 * x)
    }

    /// The mean after a number that is already multiplied by alpha.
    #[inline(always)]
    fn next_mean_scaled(&self, x: f64) -> f64 {
        if FUSED { self.beta.0.mul_add(self.rest.0, x) } else { self.rest.0 + x }
    }

    /// Sets the mean that `next_mean` computed.
    #[inline(always)]
    fn set(&mut self, mean: f64) {
        self.rest.0 = if FUSED { mean } else { self.beta.0 * mean };
    }
}

/// The averages with their rules for starts and gaps. While the fast path runs, the means here are
/// out of date.
#[derive(Clone, Debug)]
struct GapRules<const PERCENT: bool> {
    fast: Ewm,
    slow: Ewm,
    signal: Ewm,
    /// Observations the fast average still skips. TA-Lib seeds both averages of MACD at the same
    /// candle, so the fast one is seeded with the last numbers of the slow seed.
    skip: usize,
    warmup: usize,
    /// Whether the line stays NaN until the signal has a value, as in MACD of TA-Lib.
    waits: bool,
}

/// Numbers recomputed when one of them is missing: 2,048, the capacity of an unwanted output.
const RUN: usize = 128 * PART;

/// The bits of 1e100 without the sign: larger values risk overflow in sums.
const LARGEST: u64 = 1e100_f64.to_bits() << 1;

impl<const PERCENT: bool> Oscillator<PERCENT> {
    pub(crate) fn new(
        fast: usize,
        slow: usize,
        signal: usize,
        parity: Parity,
    ) -> Result<Oscillator<PERCENT>, Error> {
        check_fast_slow(fast, slow)?;
        check_period("signal", signal)?;
        let talib = parity == Parity::TaLib && !PERCENT;
        let gap_rules = GapRules {
            fast: Ewm::span(fast, parity),
            slow: Ewm::span(slow, parity),
            signal: Ewm::span(signal, parity),
            skip: if talib { slow - fast } else { 0 },
            warmup: slow + signal - 2,
            waits: talib,
        };
        Ok(Oscillator { fast_path: gap_rules.to_fast_path(), gap_rules })
    }

    pub(crate) fn warmup(&self) -> usize {
        self.gap_rules.warmup
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, x: f64) -> [f64; 3] {
        let it = &self.fast_path;
        let fast = it.fast.next_mean(x);
        let slow = if PERCENT { it.slow.next_mean_scaled(x) } else { it.slow.next_mean(x) };
        let line = if PERCENT { fast / slow - 100.0 } else { fast - slow };
        let signal = it.signal.next_mean(line);
        // A missing number, or a division by 0, makes the signal infinite or NaN, and the bits of
        // both compare above those of any finite number. Only the signal is tested: each value used
        // to choose the path would be spilled to memory.
        if signal.to_bits() << 1 > LARGEST {
            cold_path();
            // By value: a reference would force the means of the loop into memory at every step.
            let (values, state) = self.clone().push_with_gap_rules(x);
            *self = state;
            return values;
        }
        self.fast_path.fast.set(fast);
        self.fast_path.slow.set(slow);
        self.fast_path.signal.set(signal);
        [line, signal, line - signal]
    }

    #[cold]
    #[inline(never)]
    fn push_with_gap_rules(mut self, x: f64) -> ([f64; 3], Self) {
        self.gap_rules.copy_means_from(&self.fast_path);
        let values = self.gap_rules.push(x);
        self.fast_path = self.gap_rules.to_fast_path();
        (values, self)
    }

    /// Like `push`, for many numbers.
    #[inline(always)]
    pub(crate) fn run_batch(&mut self, xs: &[f64], out: &mut impl OutputSink<3>) {
        self.gap_rules.copy_means_from(&self.fast_path);
        for run in xs.chunks(RUN) {
            let taken = self.gap_rules.run(run, out);
            if taken > 0 {
                self.fast_path = self.gap_rules.to_fast_path();
            }
            self.run_chunks(&run[taken..], out);
        }
    }

    #[inline(always)]
    fn run_chunks(&mut self, xs: &[f64], out: &mut impl OutputSink<3>) {
        for xs in xs.chunks(CHUNK) {
            let [lines, signals, hists] = out.next(xs.len());
            if self.gap_rules.extend_steady(xs, lines, signals, hists) {
                self.fast_path = self.gap_rules.to_fast_path();
                continue;
            }
            // Starts and gaps go number by number.
            for (index, x) in xs.iter().enumerate() {
                [lines[index], signals[index], hists[index]] = self.push(*x);
            }
            self.gap_rules.copy_means_from(&self.fast_path);
        }
    }
}

#[inline(always)]
fn line<const PERCENT: bool>(fast: f64, slow: f64) -> f64 {
    if PERCENT { (fast - slow) / slow * 100.0 } else { fast - slow }
}

impl<const PERCENT: bool> GapRules<PERCENT> {
    /// The factors by which the fast path scales the fast and the slow average.
    #[inline(always)]
    fn scales(&self) -> [f64; 2] {
        let slow = self.slow.alpha();
        if PERCENT { [100.0 / slow, 1.0 / slow] } else { [1.0; 2] }
    }

    fn push(&mut self, x: f64) -> [f64; 3] {
        let skipped = self.skip > 0;
        let fast = self.fast.push(if skipped { f64::NAN } else { x });
        let slow = self.slow.push(x);
        let line = line::<PERCENT>(fast, slow);
        let signal = self.signal.push(line);
        self.skip -= usize::from(skipped && x.is_finite());
        let shown = if self.waits && signal.is_nan() { f64::NAN } else { line };
        [shown, signal, line - signal].map(finite_or_nan)
    }

    /// Copies the means from the fast path, if it ran.
    #[inline(always)]
    fn copy_means_from(&mut self, fast_path: &FastPath) {
        if fast_path.signal.rest.0.is_nan() {
            return;
        }
        let [fast, slow] = self.scales();
        self.fast.set(fast_path.fast.mean() / fast);
        self.slow.set(fast_path.slow.mean() / slow);
        self.signal.set(fast_path.signal.mean());
    }

    /// The fast path that continues from these means.
    #[inline(always)]
    fn to_fast_path(&self) -> FastPath {
        let all = [&self.fast, &self.slow, &self.signal];
        let [fast, slow] = self.scales();
        let mut fast_path = FastPath {
            fast: SteadyEwm::new(&self.fast, fast),
            slow: SteadyEwm::new(&self.slow, slow),
            signal: SteadyEwm::new(&self.signal, 1.0),
        };
        // With beta 0, or with an infinite mean, the mean could not be recovered from `rest`.
        let steady = all.iter().all(|it| it.is_steady() && it.beta() > 0.0);
        if !(steady && finite(fast_path.fast.rest.0 + fast_path.slow.rest.0)) {
            fast_path.signal.rest.0 = f64::NAN;
        }
        fast_path
    }

    /// Runs the AVX loop over whole parts of 16 numbers, and returns how many numbers it took: all
    /// of them or 0.
    #[inline(always)]
    fn run(&mut self, xs: &[f64], out: &mut impl OutputSink<3>) -> usize {
        let averages = [&self.fast, &self.slow, &self.signal];
        let steady = averages.iter().all(|it| it.is_steady() && it.beta() > 0.0);
        let xs = &xs[..xs.len() - xs.len() % PART];
        if xs.is_empty() || !steady {
            return 0;
        }
        let lanes = averages.map(Ewm::lanes);
        let Some([lines, signals, hists]) = out.columns() else { return 0 };
        let before = [lines.len(), signals.len(), hists.len()];
        let Some(means) = line_signal_hist_avx::<PERCENT>(lanes, xs, [lines, signals, hists])
        else {
            lines.truncate(before[0]);
            signals.truncate(before[1]);
            hists.truncate(before[2]);
            return 0;
        };
        self.set(means);
        xs.len()
    }

    #[inline(always)]
    fn set(&mut self, [fast, slow, signal]: [f64; 3]) {
        self.fast.set(fast);
        self.slow.set(slow);
        self.signal.set(signal);
    }

    /// Returns false, with only the outputs changed, unless all averages are steady and all numbers
    /// finite.
    #[inline(always)]
    fn extend_steady(
        &mut self,
        xs: &[f64],
        lines: &mut [f64],
        signals: &mut [f64],
        hists: &mut [f64],
    ) -> bool {
        let averages = [&self.fast, &self.slow, &self.signal];
        if !averages.iter().all(|average| average.is_steady()) {
            return false;
        }
        let lanes = averages.map(Ewm::lanes);
        let means = line_signal_hist(lanes, line::<PERCENT>, xs, [lines, signals, hists]);
        // A number that is not finite makes every later mean not finite, so one test of the last is
        // enough.
        if !means.iter().all(|mean| finite(*mean)) {
            return false;
        }
        self.set(means);
        true
    }
}
