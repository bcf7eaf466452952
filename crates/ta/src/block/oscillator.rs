//! Distance between a fast and a slow exponential average, with a signal line over it: what MACD,
//! PPO and PVO have in common.

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

/// What a step needs when there is nothing special about it. It is small and apart from the
/// rest, so that it stays in registers where steps follow one another.
#[derive(Clone, Copy, Debug)]
struct FastPath {
    /// A hundred times as large where the line is a percentage, which saves multiplying it; and
    /// both so much larger that the slow one takes numbers as they are.
    fast: SteadyEwm,
    slow: SteadyEwm,
    /// `NaN` while the short way cannot be taken.
    signal: SteadyEwm,
}

/// A steady average.
#[derive(Clone, Copy, Debug)]
struct SteadyEwm {
    alpha: Aligned16,
    beta: Aligned16,
    /// What the mean leaves to the next one. The mean itself would have to be kept beside what
    /// is made of it, and copied at every step; but where a multiplication and an addition are one
    /// instruction, it is the mean.
    rest: Aligned16,
}

/// Whether the program is compiled for machines that multiply and add at once. Then a step waits
/// for one instruction instead of two.
const FUSED: bool = cfg!(target_feature = "fma");

/// A number without neighbours: the compiler would put two into one register, in which each waits
/// for the other.
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

    /// The mean after a number that is scaled already.
    #[inline(always)]
    fn next_mean_scaled(&self, x: f64) -> f64 {
        if FUSED { self.beta.0.mul_add(self.rest.0, x) } else { self.rest.0 + x }
    }

    /// Takes what `next_mean` gave.
    #[inline(always)]
    fn set(&mut self, mean: f64) {
        self.rest.0 = if FUSED { mean } else { self.beta.0 * mean };
    }
}

/// The rules of starts and gaps. While the short way is taken, the means here are old.
#[derive(Clone, Debug)]
struct GapRules<const PERCENT: bool> {
    fast: Ewm,
    slow: Ewm,
    signal: Ewm,
    /// Observations the fast average still passes over. TA-Lib's MACD starts both averages at
    /// once, so that the fast one is seeded with the last numbers of the slow one's seed.
    skip: usize,
    warmup: usize,
    /// Whether the line waits for its signal, as TA-Lib's MACD does.
    waits: bool,
}

/// How many numbers are done anew where one of them is missing. Outputs that are not kept have no
/// room for more.
const RUN: usize = 128 * PART;

/// The bits, but for the sign, of a number far from where sums overflow.
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
        // A number that is missing, or a percentage of nothing, makes the signal infinite or NaN,
        // whose bits are above those of any number. Only the signal is looked at, because what is
        // not needed to choose the way would be kept in memory.
        if signal.to_bits() << 1 > LARGEST {
            cold_path();
            // By value, because a reference would keep the means of a loop in memory at every
            // step.
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

    /// The same over many numbers.
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
            // The start and the gaps have rules of their own and go step by step.
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
    /// What the averages are multiplied by for the short way.
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

    /// Takes the means from the short way, if it was taken.
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

    /// The short way from here.
    #[inline(always)]
    fn to_fast_path(&self) -> FastPath {
        let all = [&self.fast, &self.slow, &self.signal];
        let [fast, slow] = self.scales();
        let mut fast_path = FastPath {
            fast: SteadyEwm::new(&self.fast, fast),
            slow: SteadyEwm::new(&self.slow, slow),
            signal: SteadyEwm::new(&self.signal, 1.0),
        };
        // A mean that leaves nothing, or too much, could not be found again.
        let steady = all.iter().all(|it| it.is_steady() && it.beta() > 0.0);
        if !(steady && finite(fast_path.fast.rest.0 + fast_path.slow.rest.0)) {
            fast_path.signal.rest.0 = f64::NAN;
        }
        fast_path
    }

    /// Takes as many as the machine can take in wide registers, and says how many those were.
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

    /// Says whether all averages were steady and all numbers finite; if not, nothing has changed
    /// but the outputs.
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
        // A number that is not finite makes every mean after it so.
        if !means.iter().all(|mean| finite(*mean)) {
            return false;
        }
        self.set(means);
        true
    }
}
