//! Distance between a fast and a slow exponential average, with a signal line over it: what MACD,
//! PPO and PVO have in common.

use std::hint::cold_path;

use super::{Block, CHUNK, Ewm, check_period, fast_slow};
use crate::indicator::{Room, available};
use crate::{Error, Parity};

#[derive(Clone, Debug)]
#[repr(C)]
pub struct Oscillator<const PERCENT: bool> {
    fast: Ewm,
    slow: Ewm,
    signal: Ewm,
    /// Observations the fast average still passes over. TA-Lib's MACD starts both averages at
    /// once, so that the fast one is seeded with the last numbers of the slow one's seed.
    skip: usize,
    /// Numbers, or their squares, must be below this to go the short way; none is while an
    /// average is not steady.
    largest: f64,
    warmup: usize,
    /// Whether the line waits for its signal, as TA-Lib's MACD does.
    waits: bool,
}

/// The square of a number far from where sums overflow, and what can be divided by.
const LARGEST: f64 = 1e200;
const SMALLEST: f64 = 1e-50;

impl<const PERCENT: bool> Oscillator<PERCENT> {
    pub(crate) fn new(
        fast: usize,
        slow: usize,
        signal: usize,
        parity: Parity,
    ) -> Result<Oscillator<PERCENT>, Error> {
        fast_slow(fast, slow)?;
        check_period("signal", signal)?;
        let talib = parity == Parity::TaLib && !PERCENT;
        Ok(Oscillator {
            fast: Ewm::span(fast, parity),
            slow: Ewm::span(slow, parity),
            signal: Ewm::span(signal, parity),
            skip: if talib { slow - fast } else { 0 },
            largest: 0.0,
            warmup: slow + signal - 2,
            waits: talib,
        })
    }

    pub(crate) fn warmup(&self) -> usize {
        self.warmup
    }

    #[inline(always)]
    fn line(fast: f64, slow: f64) -> f64 {
        if PERCENT { (fast - slow) / slow * 100.0 } else { fast - slow }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, x: f64) -> [f64; 3] {
        let (fast, slow) = (self.fast.ahead(x), self.slow.ahead(x));
        let line = Self::line(fast, slow);
        let signal = self.signal.ahead(line);
        // What is missing is not below anything, and a percentage of nothing is without limit.
        let short = match PERCENT {
            true => (slow < self.largest) & (slow > SMALLEST),
            false => x * x < self.largest,
        };
        if !short {
            cold_path();
            // By value, because a reference would keep the means of a loop in memory at every
            // step.
            let (values, state) = self.clone().push_unsteady(x);
            *self = state;
            return values;
        }
        self.fast.set(fast);
        self.slow.set(slow);
        self.signal.set(signal);
        [line, signal, line - signal]
    }

    #[cold]
    #[inline(never)]
    fn push_unsteady(mut self, x: f64) -> ([f64; 3], Self) {
        let skipped = self.skip > 0;
        let fast = self.fast.push(if skipped { f64::NAN } else { x });
        let slow = self.slow.push(x);
        let line = Self::line(fast, slow);
        let signal = self.signal.push(line);
        self.skip -= usize::from(skipped && x.is_finite());
        let shown = if self.waits && signal.is_nan() { f64::NAN } else { line };
        self.shorten();
        ([shown, signal, line - signal].map(available), self)
    }

    /// Sees whether the short way can be taken.
    #[inline(always)]
    fn shorten(&mut self) {
        let steady = |average: &Ewm| average.is_steady() && average.mean().powi(2) < LARGEST;
        let all = steady(&self.fast) && steady(&self.slow) && steady(&self.signal);
        self.largest = if all { LARGEST } else { 0.0 };
    }

    /// The same over many numbers.
    #[inline(always)]
    pub(crate) fn pour(&mut self, xs: &[f64], out: &mut impl Room<3>) {
        for xs in xs.chunks(CHUNK) {
            let [lines, signals, hists] = out.next(xs.len());
            if self.extend_steady(xs, lines, signals, hists) {
                self.shorten();
                continue;
            }
            // The start and the gaps have rules of their own and go step by step.
            for (index, x) in xs.iter().enumerate() {
                [lines[index], signals[index], hists[index]] = self.push(*x);
            }
        }
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
        let (mut fast, mut slow) = (self.fast.clone(), self.slow.clone());
        if !(fast.scan_steady(xs, hists) && slow.scan_steady(xs, lines)) {
            return false;
        }
        for (line, fast) in lines.iter_mut().zip(&*hists) {
            *line = Self::line(*fast, *line);
        }
        if !self.signal.scan_steady(lines, signals) {
            return false;
        }
        for ((hist, line), signal) in hists.iter_mut().zip(&*lines).zip(&*signals) {
            *hist = line - signal;
        }
        self.fast = fast;
        self.slow = slow;
        true
    }
}
